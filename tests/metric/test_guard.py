import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from metrack.metric.guard import FEW, LARGEST_LOSS, Guard
from metrack.threads import one_blas_thread

ROUNDING = 2e-5  # of the largest eigenvalue, in single precision. Measured: 2e-7
DRIFT = 1e-3  # of the largest entry of the inverse, after 50 rounds on a metric in single precision


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    with one_blas_thread():
        yield


def limit_pull(metric, push, pull, floor):
    return Guard(floor).limit(metric, push, pull)


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


class TestLimit:
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


class TestFollowing:
    def rounds(self, seed, D, m, count, strength=0.2):
        """A metric as float32 arithmetic leaves it after some guarded rounds, and its guard."""
        rng = np.random.default_rng(seed)
        guard, metric = Guard(0.02), np.eye(D, dtype=np.float32)
        for _ in range(count):
            push, pull = (strength * rng.normal(size=(2, m, D)) / np.sqrt(D)).astype(np.float32)
            pull = guard.limit(metric, push, pull) @ pull
            metric = metric + push.T @ push - pull.T @ pull
        return guard, metric

    def test_the_inverse_follows_the_metric(self, seed):
        guard, metric = self.rounds(seed, D=60, m=4, count=50, strength=1.0)
        exact = np.linalg.inv(metric.astype(float) - 0.02 * np.eye(60))
        assert np.abs(exact).max() > 10  # some directions have come close to the floor, else this shows little
        assert_allclose(guard.inverse, exact, rtol=0, atol=DRIFT * np.abs(exact).max())

    @given(draw=st.integers(0, 2**32), strength=st.sampled_from([0.1, 1.0, 5.0]))
    def test_round_after_round_stays_above_the_floor(self, draw, strength):
        _, metric = self.rounds(draw, D=20, m=2, count=50, strength=strength)
        values = np.linalg.eigvalsh(metric.astype(float))
        assert values[0] > 0.02 - ROUNDING * values[-1]

    def test_a_large_round_forms_the_inverse_anew(self, seed):
        guard, metric = self.rounds(seed, D=20, m=2, count=3)
        assert guard.inverse is not None
        rows = np.full((int(FEW * 20) + 1, 20), 0.1, np.float32)
        guard.limit(metric, rows, rows)
        assert guard.inverse is None

    def test_refreshing_drops_what_rounding_left(self, seed):
        guard, metric = self.rounds(seed, D=20, m=2, count=40)
        nothing = np.zeros((1, 20), np.float32)
        guard.refresh()
        guard.limit(metric, nothing, nothing)
        exact = np.linalg.inv(metric.astype(float) - 0.02 * np.eye(20))
        assert_allclose(guard.inverse, exact, rtol=1e-9, atol=1e-12 * np.abs(exact).max())

    def test_an_inverse_spoilt_by_rounding_is_dropped_and_nothing_subtracted(self):
        guard, metric = Guard(0.02), np.eye(3, dtype=np.float32)
        rows = np.ones((1, 3), np.float32)
        guard.inverse = -np.eye(3)
        assert len(guard.limit(metric, rows, rows)) == 0
        assert guard.inverse is None
        assert len(guard.limit(metric, rows, rows)) == 1
