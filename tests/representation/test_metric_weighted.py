import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from metrack.representation.metric_weighted import PseudoInverse, Triangle, factorise, quadratic, residual_energy, score
from metrack.threads import one_blas_thread
from reference import representation as reference
from support.samples import random_metric, unit_rows

SINGLE = float(np.finfo(np.float32).eps)

# Error of theta in parts of the candidate's own energy y'My; metrics of condition 16, up to 14 samples in 20
# dimensions, or 300 in 405. Measured over 1,500 problems: 3e-7 with a ridge of at least 0.02, 1.4e-6 without.
WITH_RIDGE, WITHOUT = 1e-5, 1e-4


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    with one_blas_thread():
        yield


class Problem:
    def __init__(self, draw, n=8, D=20, N=5, low=0.25):
        rng = np.random.default_rng(draw)
        self.metric = random_metric(rng, D, low=low)
        self.templates, self.candidates = unit_rows(rng, n, D), unit_rows(rng, N, D)
        self.rng = rng

    @property
    def arrays(self):
        return self.templates, self.candidates, self.metric

    @property
    def whole(self):
        return np.einsum("nd,de,ne->n", self.candidates, self.metric.astype(float), self.candidates)

    def assert_theta(self, actual, expected, bound):
        assert_allclose((actual - expected) / self.whole, 0, atol=bound)


@st.composite
def problems(draw, most=14):
    return Problem(draw(st.integers(0, 2**32)), n=draw(st.integers(1, most)))


class TestTheta:
    @given(problem=problems(), ridge=st.sampled_from([1e-3, 0.02, 0.1, 1.0, 10.0]))
    def test_agrees_with_regularised_least_squares_on_whitened_data(self, problem, ridge):
        P, Y, M = problem.arrays
        absolute = ridge * reference.ridge_unit(P, M)
        expected = [reference.theta_whitened(P, y, M, absolute) for y in Y]
        problem.assert_theta(residual_energy(P, Y, M, absolute), expected, WITH_RIDGE)

    @given(problem=problems())
    def test_without_a_ridge_it_is_plain_least_squares(self, problem):
        P, Y, M = problem.arrays
        expected = [reference.theta_whitened(P, y, M, 0.0) for y in Y]
        problem.assert_theta(residual_energy(P, Y, M, 0.0), expected, WITHOUT)

    @pytest.mark.parametrize("ridge", [0.0, 1e-4, 0.02, 1.0])
    def test_at_full_size(self, ridge, seed):
        problem = Problem(seed, n=300, D=405, N=6)
        P, Y, M = problem.arrays
        absolute = ridge * reference.ridge_unit(P, M)
        expected = [reference.theta_direct(P, y, M, absolute) for y in Y]
        problem.assert_theta(residual_energy(P, Y, M, absolute), expected, WITHOUT)

    def test_the_two_twins_agree_with_each_other(self, seed):
        problem = Problem(seed)
        P, Y, M = problem.arrays
        for ridge in (0.0, 0.3):
            direct = [reference.theta_direct(P, y, M, ridge) for y in Y]
            assert_allclose(direct, [reference.theta_whitened(P, y, M, ridge) for y in Y], rtol=1e-9)

    def test_by_hand(self):
        templates = np.array([[2.0, 0.0]], np.float32)
        candidates = np.array([[3.0, 5.0], [0.0, 1.0]], np.float32)
        metric = np.diag([4.0, 7.0]).astype(np.float32)
        # P'MP = 16; y'My = 36 + 175 and 7; P'My = 24 and 0
        assert_allclose(residual_energy(templates, candidates, metric, 0.0), [175.0, 7.0], rtol=1e-6)
        assert_allclose(residual_energy(templates, candidates, metric, 16.0), [211 - 24**2 / 32, 7.0], rtol=1e-6)

    @given(problem=problems())
    def test_a_sample_explains_itself(self, problem):
        P, M = problem.templates, problem.metric
        own = np.einsum("nd,de,ne->n", P, M, P)
        assert_allclose(residual_energy(P, P, M, 0.0) / own, 0, atol=WITHOUT)

    @given(problem=problems())
    def test_a_mixture_of_samples_is_explained(self, problem):
        P, M = problem.templates, problem.metric
        mixtures = (problem.rng.uniform(-1, 1, size=(4, len(P))) @ P).astype(np.float32)
        own = np.einsum("nd,de,ne->n", mixtures, M, mixtures)
        assert_allclose(residual_energy(P, mixtures, M, 0.0), 0, atol=WITHOUT * max(1.0, own.max()))

    @given(problem=problems(), seen=st.floats(0.0, 1.0))
    def test_never_negative_and_never_more_than_the_candidate_has(self, problem, seen):
        theta = residual_energy(*problem.arrays, seen)
        assert (theta >= 0).all()
        assert (theta <= problem.whole * (1 + WITH_RIDGE)).all()

    @given(problem=problems())
    def test_one_more_sample_never_makes_it_larger(self, problem):
        P, Y, M = problem.arrays
        fewer = residual_energy(P[:-1], Y, M, 0.0) if len(P) > 1 else problem.whole
        assert (residual_energy(P, Y, M, 0.0) <= fewer + WITHOUT * problem.whole).all()

    @given(problem=problems())
    def test_nor_with_a_ridge(self, problem):
        P, Y, M = problem.arrays
        fewer = residual_energy(P[: max(len(P) - 1, 1)], Y, M, 0.2)
        assert (residual_energy(P, Y, M, 0.2) <= fewer + WITH_RIDGE * problem.whole).all()

    @given(problem=problems(), ridges=st.tuples(st.floats(0.01, 10), st.floats(0.01, 10)))
    def test_a_larger_ridge_explains_less(self, problem, ridges):
        low, high = (residual_energy(*problem.arrays, ridge) for ridge in sorted(ridges))
        assert (low <= high + WITH_RIDGE * problem.whole).all()

    @given(problem=problems(), power=st.integers(-10, 10))
    def test_the_scale_of_the_metric_is_the_scale_of_theta(self, problem, power):
        P, Y, M = problem.arrays
        scaled = residual_energy(P, Y, M * np.float32(2.0**power), 0.5 * 2.0**power)
        assert_allclose(scaled, residual_energy(P, Y, M, 0.5) * 2.0**power, rtol=1e-6)

    def test_order_of_samples_does_not_matter_and_inputs_are_untouched(self, seed):
        problem = Problem(seed)
        before = [a.copy() for a in problem.arrays]
        P, Y, M = problem.arrays
        first = residual_energy(P, Y, M, 0.1)
        problem.assert_theta(residual_energy(P[::-1].copy(), Y, M, 0.1), first, WITH_RIDGE)
        for array, copy in zip(problem.arrays, before, strict=True):
            assert_array_equal(array, copy)


class TestSingular:
    """Without a ridge, samples may repeat: the pseudo-inverse takes over."""

    @staticmethod
    def cut(templates, metric):
        """What counts as zero: what rounding could have made of it."""
        diagonal = [p @ metric @ p for p in templates.astype(float)]
        return SINGLE * len(templates) * max(diagonal)

    @given(draw=st.integers(0, 2**32), distinct=st.integers(1, 8), copies=st.integers(1, 12))
    def test_repeated_samples(self, draw, distinct, copies):
        problem = Problem(draw, n=distinct)
        P, Y, M = problem.arrays
        repeated = np.concatenate([P, P[problem.rng.integers(distinct, size=copies)]])
        cut = self.cut(repeated, M)
        expected = [reference.theta_direct(repeated, y, M, 0.0, cut) for y in Y]
        actual = residual_energy(repeated, Y, M, 0.0)
        problem.assert_theta(actual, expected, WITHOUT)
        problem.assert_theta(actual, [reference.theta_whitened(P, y, M, 0.0) for y in Y], WITHOUT)

    def test_more_samples_than_dimensions_explain_everything(self, seed):
        problem = Problem(seed, n=30, D=12)
        theta = residual_energy(*problem.arrays, 0.0)
        problem.assert_theta(theta, 0.0, WITHOUT)

    @given(draw=st.integers(0, 2**32), rank=st.integers(1, 6))
    def test_a_metric_that_sees_few_directions(self, draw, rank):
        problem = Problem(draw)
        rows = unit_rows(problem.rng, rank, 20)
        M = rows.T @ rows
        cut = self.cut(problem.templates, M)
        P, Y = problem.templates, problem.candidates
        expected = [reference.theta_direct(P, y, M, 0.0, cut) for y in Y]
        assert_allclose(residual_energy(P, Y, M, 0.0), expected, rtol=0, atol=1e-4)  # measured: 3e-6

    def test_all_samples_zero_explain_nothing(self, seed):
        problem = Problem(seed)
        for ridge in (0.0, 1.0):
            theta = residual_energy(0 * problem.templates, problem.candidates, problem.metric, ridge)
            assert_allclose(theta, problem.whole, rtol=1e-5)

    def test_a_ridge_makes_copies_harmless(self, seed):
        problem = Problem(seed)
        P, Y, M = np.repeat(problem.templates, 3, axis=0), problem.candidates, problem.metric
        absolute = 0.1 * reference.ridge_unit(P, M)
        expected = [reference.theta_direct(P, y, M, absolute) for y in Y]
        problem.assert_theta(residual_energy(P, Y, M, absolute), expected, WITH_RIDGE)


class TestFactorise:
    def test_which_way_is_taken(self, seed):
        problem = Problem(seed)
        gram = problem.templates @ problem.metric @ problem.templates.T
        assert isinstance(factorise(gram, 0.0), Triangle)
        assert isinstance(factorise(np.kron(np.ones((2, 2), np.float32), gram), 0.0), PseudoInverse)
        assert isinstance(factorise(-gram, 0.0), PseudoInverse)
        assert isinstance(factorise(np.zeros((3, 3), np.float32), 0.0), PseudoInverse)

    @given(draw=st.integers(0, 2**32), n=st.integers(1, 10), definite=st.booleans())
    def test_explained_is_a_quadratic_form_in_the_inverse(self, draw, n, definite):
        rng = np.random.default_rng(draw)
        axes = np.linalg.qr(rng.normal(size=(n, n)))[0]
        signs = 1 if definite else rng.choice([-1, 1], size=n)
        matrix = (axes * (rng.uniform(0.5, 2, size=n) * signs)) @ axes.T
        products = rng.normal(size=(4, n))
        expected = np.einsum("nk,kl,nl->n", products, np.linalg.inv(matrix), products)
        single = ((matrix + matrix.T) / 2).astype(np.float32)
        factor, rows = factorise(single, 0.0), products.astype(np.float32)
        allowed = 1e-5 * np.square(products).sum()
        assert_allclose(np.diagonal(factor.form(rows.T)), expected, rtol=0, atol=allowed)
        assert_allclose(factor.explained(rows), expected, rtol=0, atol=allowed)

    @pytest.mark.parametrize("n", [2, 10, 50])
    def test_directions_that_rounding_could_have_made_are_left_out(self, n):
        along = np.eye(n, dtype=np.float32)[-1:]
        for times, expected in ((0.5, 0.0), (-0.5, 0.0), (2.0, 1.0), (-2.0, -1.0)):
            smallest = times * n * SINGLE
            matrix = np.diag([1.0] * (n - 1) + [smallest]).astype(np.float32)
            explained = factorise(matrix, 0.0).explained(along.copy())
            assert_allclose(explained * abs(smallest), expected, rtol=1e-5)

    def test_the_matrix_given_is_untouched(self, seed):
        problem = Problem(seed)
        gram = problem.templates @ problem.metric @ problem.templates.T
        before = gram.copy()
        factorise(gram, 1.0)
        factorise(gram - np.eye(len(gram), dtype=np.float32) * 2, 0.0)
        assert_array_equal(gram, before)


METRICS = ("definite", "indefinite", "negative", "rank one", "minus rank one", "zero")


def any_metric(rng, kind, scale, D):
    rows = rng.normal(size=(D, D)).astype(np.float32)
    one = np.outer(rows[0], rows[0])
    metric = {
        "definite": rows @ rows.T,
        "indefinite": rows + rows.T,
        "negative": -rows @ rows.T,
        "rank one": one,
        "minus rank one": -one,
        "zero": np.zeros((D, D), np.float32),
    }[kind]
    return metric * np.float32(scale)


@pytest.mark.parametrize("lowest", [0.5, 0.0, -1.0])
def test_a_quadratic_form_definite_or_not(seed, lowest):
    rng = np.random.default_rng(seed)
    vectors, _ = np.linalg.qr(rng.standard_normal((30, 30)))
    form = ((vectors * np.linspace(lowest, 3, 30)) @ vectors.T).astype(np.float32)
    rows = rng.standard_normal((70, 30)).astype(np.float32)
    expected = [y @ form.astype(float) @ y for y in rows.astype(float)]
    np.testing.assert_allclose(quadratic(form, rows), expected, rtol=1e-5, atol=2e-3)


class TestScore:
    def test_equation_3_by_hand(self):
        # exp(-1) - 0.1 exp(-2) = 0.354346; exp(0) - 0.1 exp(0) = 0.9; nothing of either: 0
        actual = score(np.array([2.0, 0.0, np.inf]), np.array([1.0, 0.0, np.inf]), 2.0, 0.5, 0.1)
        assert_allclose(actual, [0.587671, 0.710950, 0.5], rtol=0, atol=1e-6)

    @given(
        theta_f=st.floats(0, 50),
        theta_b=st.floats(0, 50),
        gammas=st.tuples(st.floats(0.01, 100), st.floats(0.01, 100)),
        rho=st.floats(0, 10),
    )
    def test_agrees_with_the_twin(self, theta_f, theta_b, gammas, rho):
        expected = reference.score(theta_f, theta_b, *gammas, rho)
        actual = score(np.array([theta_f]), np.array([theta_b]), *gammas, rho)
        assert_allclose(actual, [expected], rtol=1e-12)

    @given(
        theta=st.lists(st.tuples(st.floats(0, math.inf, width=32), st.floats(0, math.inf, width=32)), min_size=1),
        gammas=st.tuples(st.floats(1e-9, 1e9), st.floats(1e-9, 1e9)),
        rho=st.floats(0, 10),
    )
    def test_finite_and_between_zero_and_one_for_any_theta(self, theta, gammas, rho):
        theta_f, theta_b = np.array(theta, np.float32).T
        similarity = score(theta_f, theta_b, *gammas, rho)
        assert np.isfinite(similarity).all()
        assert ((similarity >= 0) & (similarity <= 1)).all()

    @settings(max_examples=200)
    @given(
        draw=st.integers(0, 2**32),
        kind=st.sampled_from(METRICS),
        scale=st.sampled_from([1e-6, 1e-3, 1.0, 1e3, 1e6]),
        ridge=st.sampled_from([0.0, 1e-6, 0.1, 1.0, 1e6]),
        n=st.integers(1, 25),
        repeated=st.booleans(),
    )
    def test_finite_and_between_zero_and_one_for_any_metric(self, draw, kind, scale, ridge, n, repeated):
        rng, D = np.random.default_rng(draw), 12
        F, B, Y = unit_rows(rng, n, D), unit_rows(rng, n, D), unit_rows(rng, 10, D)
        if repeated:
            F = F[rng.integers(n, size=n)]
        M = any_metric(rng, kind, scale, D)
        theta_f, theta_b = (residual_energy(P, Y, M, ridge) for P in (F, B))
        assert np.isfinite([theta_f, theta_b]).all()
        assert (np.minimum(theta_f, theta_b) >= 0).all()
        similarity = score(theta_f, theta_b, 1.0, 1.0, 0.1)
        assert np.isfinite(similarity).all()
        assert ((similarity >= 0) & (similarity <= 1)).all()

    def test_better_explained_by_the_foreground_is_better_and_by_the_background_is_worse(self):
        theta, other = np.linspace(0, 5, 50), np.full(50, 1.0)
        assert (np.diff(score(theta, other, 1.0, 1.0, 0.1)) < 0).all()
        assert (np.diff(score(other, theta, 1.0, 1.0, 0.1)) > 0).all()
        assert_array_equal(score(other, theta, 1.0, 1.0, 0.0), score(other, other, 1.0, 1.0, 0.0))
