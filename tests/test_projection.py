import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from metrack.metric.projection import LARGEST_LOSS, learn_round_projected, limit_pull, raise_eigenvalues
from metrack.threads import one_blas_thread
from reference import metric as reference

ROUNDING = 2e-5  # of the largest eigenvalue, in single precision. Measured: 2e-7


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    with one_blas_thread():
        yield


class Change:
    """A positive metric, and what a round would add to it and subtract from it."""

    def __init__(self, draw, D, m, strength, floor=0.05):
        rng = np.random.default_rng(draw)
        self.floor = floor
        axes = np.linalg.qr(rng.normal(size=(D, D)))[0]
        metric = (axes * (floor + rng.uniform(0.2, 2.0, size=D))) @ axes.T
        self.metric = ((metric + metric.T) / 2).astype(np.float32)
        self.push = (0.3 * rng.normal(size=(m, D))).astype(np.float32)
        self.pull = (strength * rng.normal(size=(m, D)) / np.sqrt(D)).astype(np.float32)

    @property
    def arguments(self):
        return self.metric, self.push, self.pull, self.floor

    @property
    def pushed(self):
        """The metric after adding, above the floor; in double precision."""
        push = self.push.astype(float)
        return self.metric.astype(float) + push.T @ push - self.floor * np.eye(len(self.metric))

    def losses(self, pull):
        """Eigenvalues of pull P^-1 pull', which decide."""
        return np.linalg.eigvalsh(pull @ np.linalg.inv(self.pushed) @ pull.T)

    def result(self, pull):
        pull = pull.astype(float)
        return self.pushed + self.floor * np.eye(len(self.metric)) - pull.T @ pull


@st.composite
def changes(draw, most=12, strengths=(0.05, 0.3, 1.0, 3.0, 30.0)):
    size, m = draw(st.integers(1, 10)), draw(st.integers(1, most))
    return Change(draw(st.integers(0, 2**32)), size, m, draw(st.sampled_from(strengths)))


class TestLimitPull:
    @given(change=changes())
    def test_eigenvalues_stay_above_the_floor(self, change):
        limited = limit_pull(*change.arguments) @ change.pull
        values = np.linalg.eigvalsh(change.result(limited))
        slack = ROUNDING * np.linalg.norm(change.pushed, 2)
        assert values[0] > change.floor
        # the exact statement: nothing loses more than the largest loss of what it had above the floor
        least = change.floor + (1 - LARGEST_LOSS) * np.linalg.eigvalsh(change.pushed)[0]
        assert values[0] >= least - slack

    @given(change=changes(strengths=(0.02, 0.1, 0.3)))
    def test_harmless_pulls_are_left_alone(self, change):
        assume(change.losses(change.pull.astype(float))[-1] < LARGEST_LOSS - 1e-3)
        mix = limit_pull(*change.arguments)
        assert_allclose(mix.T @ mix, np.eye(len(change.pull)), rtol=0, atol=1e-5)
        assert_allclose(change.result(mix @ change.pull), change.result(change.pull), rtol=0, atol=1e-5)

    @given(change=changes(most=8))
    def test_losses_beyond_the_limit_come_down_to_it_and_no_further(self, change):
        before = change.losses(change.pull.astype(float))
        after = change.losses(limit_pull(*change.arguments).astype(float) @ change.pull)
        assert_allclose(after, np.minimum(before, LARGEST_LOSS), rtol=0, atol=1e-3)

    @given(change=changes(strengths=(0.3, 0.6, 1.0, 2.0)))
    def test_the_condition_is_if_and_only_if(self, change):
        pull = change.pull.astype(float)
        largest = change.losses(pull)[-1]
        assume(abs(largest - 1) > 1e-6)
        positive = np.linalg.eigvalsh(change.pushed - pull.T @ pull)[0] > 0
        assert positive == (largest < 1)

    @given(change=changes(), edge=st.sampled_from([0.9, 0.99, 1.01, 1.1]))
    def test_it_acts_exactly_at_the_edge(self, change, edge):
        scale = np.sqrt(edge * LARGEST_LOSS / change.losses(change.pull.astype(float))[-1])
        change.pull = (change.pull * scale).astype(np.float32)
        mix = limit_pull(*change.arguments)
        shrunk = np.linalg.eigvalsh((mix.T @ mix).astype(float))[0] < 1 - 1e-4
        assert shrunk == (edge > 1)

    @given(draw=st.integers(0, 2**32), step=st.floats(0.01, 20.0))
    def test_for_one_step_it_is_the_criterion_of_the_rank_one_inverse(self, draw, step):
        """Positive if and only if step * a+' (M + step a- a-')^-1 a+ < 1; here with floor 0."""
        change = Change(draw, 6, 1, 1.0, floor=0.0)
        a_near, a_far = change.pull[0].astype(float), change.push[0].astype(float)
        M = change.metric.astype(float)
        criterion = step * a_near @ np.linalg.inv(M + step * np.outer(a_far, a_far)) @ a_near
        assume(abs(criterion - 1) > 1e-6)
        stepped = M + step * (np.outer(a_far, a_far) - np.outer(a_near, a_near))
        assert (np.linalg.eigvalsh(stepped)[0] > 0) == (criterion < 1)
        root = np.float32(np.sqrt(step))
        mix = limit_pull(change.metric, root * change.push, root * change.pull, 0.0)
        assert_allclose(mix.T @ mix, [[min(1.0, LARGEST_LOSS / criterion)]], rtol=1e-3)

    def test_at_full_size(self, seed):
        change = Change(seed, 405, 150, 3.0, floor=0.02)
        assert np.linalg.eigvalsh(change.result(change.pull))[0] < 0
        values = np.linalg.eigvalsh(change.result(limit_pull(*change.arguments) @ change.pull))
        assert values[0] > change.floor

    def test_a_metric_already_below_the_floor_may_only_grow(self):
        metric = np.diag([1.0, 0.01]).astype(np.float32)
        pull, nothing = np.ones((1, 2), np.float32), np.zeros((1, 2), np.float32)
        mix = limit_pull(metric, nothing, pull, 0.05)
        assert_array_equal(mix @ pull, np.zeros((len(mix), 2)))

    def test_inputs_are_untouched(self, seed):
        change = Change(seed, 8, 5, 3.0)
        before = [a.copy() for a in change.arguments[:3]]
        limit_pull(*change.arguments)
        for array, copy in zip(change.arguments[:3], before, strict=True):
            assert_array_equal(array, copy)


def random_symmetric(draw, D):
    rows = np.random.default_rng(draw).normal(size=(D, D))
    return ((rows + rows.T) / 2).astype(np.float32)


class TestRaiseEigenvalues:
    @given(draw=st.integers(0, 2**32), D=st.integers(1, 12), floor=st.sampled_from([0.0, 0.02, 0.5]))
    def test_agrees_with_clipping_the_spectrum(self, draw, D, floor):
        matrix = random_symmetric(draw, D)
        expected = reference.projected(matrix.astype(float), floor)
        assert_allclose(raise_eigenvalues(matrix, floor), expected, rtol=0, atol=2e-5)

    @given(draw=st.integers(0, 2**32), D=st.integers(1, 12), floor=st.sampled_from([0.0, 0.02, 0.5]))
    def test_eigenvalues_reach_the_floor_and_a_second_time_changes_nothing(self, draw, D, floor):
        raised = raise_eigenvalues(random_symmetric(draw, D), floor)
        assert np.linalg.eigvalsh(raised.astype(float))[0] >= floor - 1e-5
        assert_allclose(raised, raised.T, rtol=0, atol=1e-6)
        assert_allclose(raise_eigenvalues(raised, floor), raised, rtol=0, atol=2e-5)

    @given(draw=st.integers(0, 2**32), D=st.integers(2, 6), far=st.sampled_from([1e-2, 0.1, 1.0]))
    def test_no_allowed_matrix_is_nearer(self, draw, D, far):
        matrix, floor = random_symmetric(draw, D).astype(float), 0.1
        raised = raise_eigenvalues(matrix.astype(np.float32), floor).astype(float)
        nearest = np.linalg.norm(raised - matrix)
        rng = np.random.default_rng(draw)
        for _ in range(30):
            rows = far * rng.normal(size=(D, D))
            other = reference.projected(raised + (rows + rows.T) / 2, floor)
            assert np.linalg.norm(other - matrix) >= nearest - 1e-5

    def test_what_is_high_enough_stays_as_it_is(self, seed):
        rows = np.random.default_rng(seed).normal(size=(9, 9)).astype(np.float32)
        matrix = rows @ rows.T + np.eye(9, dtype=np.float32)
        assert_allclose(raise_eigenvalues(matrix, 0.5), matrix, rtol=0, atol=1e-6)

    def test_of_an_unsymmetric_matrix_the_symmetric_part_counts(self):
        skewed = np.array([[2.0, 1.0], [-1.0, 3.0]], np.float32)
        assert_allclose(raise_eigenvalues(skewed, 0.5), np.diag([2.0, 3.0]), atol=1e-6)


class TestProjectedSteps:
    FLOOR = 0.05

    def problem(self, draw, D=10, n=8):
        rng = np.random.default_rng(draw)
        samples = rng.normal(size=(2 * n, D))
        samples = (samples / np.linalg.norm(samples, axis=1, keepdims=True)).astype(np.float32)
        triplets = np.stack([rng.integers(0, n, 40), rng.integers(0, n, 40), rng.integers(n, 2 * n, 40)], axis=1)
        return samples, triplets[triplets[:, 0] != triplets[:, 1]]

    @settings(max_examples=25)
    @given(
        draw=st.integers(0, 2**32),
        margin=st.sampled_from([0.5, 2.0]),
        step_limit=st.sampled_from([0.1, 1.0, 1e6]),
    )
    def test_agrees_with_the_literal_algorithm(self, draw, margin, step_limit):
        samples, triplets = self.problem(draw)
        start = np.eye(samples.shape[1], dtype=np.float32)
        metric, steps, hinges = reference.learn(samples, start, triplets, margin, step_limit, floor=self.FLOOR)
        assume(np.abs(hinges).min() > 1e-3)
        actual, taken = learn_round_projected(start, samples, triplets, margin, step_limit, self.FLOOR)
        assert taken == np.count_nonzero(steps)
        assert_allclose(actual, metric, rtol=0, atol=1e-4 * np.abs(metric).max())
        assert np.linalg.eigvalsh(actual.astype(float))[0] >= self.FLOOR - ROUNDING * np.abs(metric).max()

    def test_without_need_it_is_the_plain_algorithm(self, seed):
        samples, triplets = self.problem(seed)
        start = np.eye(samples.shape[1], dtype=np.float32)
        metric, steps, _ = reference.learn(samples, start, triplets, 1.0, 1e-3)
        assert np.linalg.eigvalsh(metric)[0] > self.FLOOR
        actual, taken = learn_round_projected(start, samples, triplets, 1.0, 1e-3, self.FLOOR)
        assert taken == np.count_nonzero(steps) > 0
        assert_allclose(actual, metric, rtol=0, atol=1e-5)

    def test_nothing_to_learn(self, seed):
        samples, _ = self.problem(seed)
        start = np.eye(samples.shape[1], dtype=np.float32)
        same = np.array([[0, 1, 1]])  # no direction
        for triplets in (np.empty((0, 3), np.int64), same):
            metric, taken = learn_round_projected(start, samples, triplets, 1.0, 1.0, self.FLOOR)
            assert taken == 0
            assert_array_equal(metric, start)
