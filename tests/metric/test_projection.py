import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from metrack.metric.projection import learn_round_projected, raise_eigenvalues
from metrack.threads import one_blas_thread
from reference import metric as reference

ROUNDING = 2e-5  # of the largest eigenvalue, in single precision. Measured: 2e-7


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    with one_blas_thread():
        yield


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
