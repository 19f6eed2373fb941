from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from metrack.representation import online_inverse as online
from metrack.representation.online_inverse import SingularUpdate
from reference import inverse as reference

WELL_CONDITIONED = 1e3

# Relative error allowed after 200 replacements at full size, by how alike the samples are: the length of what
# is new in a sample, against what all of them share. Measured: 2e-14 at condition 2e2, 7e-8 at condition 2e6.
DRIFT = {"unlike": (np.inf, 1e-12), "alike": (0.1, 1e-6)}


class Problem:
    """Samples, a metric that may be indefinite, and everything a change of them needs."""

    def __init__(self, size, draw, *, definite):
        rng, D = np.random.default_rng(draw), 2 * size + 4
        axes = np.linalg.qr(rng.normal(size=(D, D)))[0]
        signs = 1 if definite else rng.choice([-1, 1], size=D)
        self.metric = (axes * (rng.uniform(0.5, 2, size=D) * signs)) @ axes.T
        self.metric = (self.metric + self.metric.T) / 2
        self.samples, self.new = rng.normal(size=(D, size)), rng.normal(size=D)
        self.toward, self.away = rng.normal(size=D), rng.normal(size=D)
        self.index, self.step = int(rng.integers(size)), float(rng.uniform(0.0, 0.05))
        self.inverse = reference.inverse(self.samples, self.metric)
        self.inverse = (self.inverse + self.inverse.T) / 2

    @property
    def cross(self):
        return self.samples.T @ self.metric @ self.new

    @property
    def corner(self):
        return float(self.new @ self.metric @ self.new)

    def through(self, vector):
        return self.samples.T @ vector


def _checked(inverse):
    assume(inverse.size == 0 or np.linalg.cond(inverse) < WELL_CONDITIONED)
    return inverse


@st.composite
def problems(draw, smallest=1):
    size, number = draw(st.integers(smallest, 12)), draw(st.integers(0, 2**32))
    problem = Problem(size, number, definite=draw(st.booleans()))
    _checked(problem.inverse)
    return problem


def assert_close(actual, expected, rtol=1e-8):
    assert actual.shape == expected.shape
    assert_allclose(actual, expected, rtol=0, atol=rtol * np.linalg.norm(expected))


@given(problem=problems())
def test_append_agrees_with_a_fresh_inverse(problem):
    expected = _checked(reference.appended(problem.samples, problem.metric, problem.new))
    assert_close(online.append(problem.inverse, problem.cross, problem.corner), expected)


def test_append_to_nothing():
    assert_allclose(online.append(np.empty((0, 0)), np.empty(0), 4.0), [[0.25]])


@given(problem=problems())
def test_remove_agrees_with_a_fresh_inverse(problem):
    expected = _checked(reference.removed(problem.samples, problem.metric, problem.index))
    assert_close(online.remove(problem.inverse, problem.index), expected)


@given(problem=problems())
def test_replace_agrees_with_a_fresh_inverse(problem):
    _checked(reference.removed(problem.samples, problem.metric, problem.index))  # the way goes through it
    expected = _checked(reference.replaced(problem.samples, problem.metric, problem.index, problem.new))
    actual = online.replace(problem.inverse, problem.index, problem.cross, problem.corner)
    assert_close(actual, expected)


@given(problem=problems())
def test_replace_is_remove_then_append_with_the_columns_put_back(problem):
    _checked(reference.removed(problem.samples, problem.metric, problem.index))
    _checked(reference.replaced(problem.samples, problem.metric, problem.index, problem.new))
    n, i = problem.samples.shape[1], problem.index
    reduced = online.remove(problem.inverse, i)
    moved = online.append(reduced, np.delete(problem.cross, i), problem.corner)
    back = np.insert(np.arange(n - 1), i, n - 1)  # the newcomer stands last and belongs at i
    actual = online.replace(problem.inverse, i, problem.cross, problem.corner)
    assert_close(actual, moved[np.ix_(back, back)])


@given(problem=problems())
def test_replace_does_not_read_the_entry_of_the_column_that_leaves(problem):
    i, other = problem.index, problem.cross
    other[i] = 1e9
    first = online.replace(problem.inverse, i, problem.cross, problem.corner)
    assert_array_equal(online.replace(problem.inverse, i, other, problem.corner), first)


@given(problem=problems())
def test_removing_what_was_appended_changes_nothing(problem):
    _checked(reference.appended(problem.samples, problem.metric, problem.new))
    grown = online.append(problem.inverse, problem.cross, problem.corner)
    assert_close(online.remove(grown, grown.shape[0] - 1), problem.inverse)


@given(problem=problems())
def test_rank_one_agrees_with_a_fresh_inverse(problem):
    left, right = problem.through(problem.toward), problem.through(problem.away)
    changed = reference.gram(problem.samples, problem.metric) + np.outer(left, right)
    expected = _checked(np.linalg.inv(changed))
    assert_close(online.rank_one(problem.inverse, left, right), expected)


@given(problem=problems())
def test_metric_step_agrees_with_a_fresh_inverse(problem):
    args = problem.samples, problem.metric
    _checked(reference.stepped(*args, np.zeros_like(problem.away), problem.away, problem.step))
    expected = _checked(reference.stepped(*args, problem.toward, problem.away, problem.step))
    toward, away = problem.through(problem.toward), problem.through(problem.away)
    assert_close(online.metric_step(problem.inverse, toward, away, problem.step), expected)


@given(problem=problems())
def test_metric_step_is_two_rank_one_changes(problem):
    toward, away, step = problem.through(problem.toward), problem.through(problem.away), problem.step
    _checked(online.metric_step(problem.inverse, toward, away, step))
    parted = _checked(online.rank_one(problem.inverse, step * away, away))
    expected = online.rank_one(parted, -step * toward, toward)
    assert_close(online.metric_step(problem.inverse, toward, away, step), expected)


@given(problem=problems(smallest=2))
def test_results_are_exactly_symmetric_and_inputs_untouched(problem):
    H, c, a, b = (
        problem.inverse,
        problem.cross,
        problem.through(problem.toward),
        problem.through(problem.away),
    )
    given_arrays = [x.copy() for x in (H, c, a, b)]
    updates = [
        partial(online.append, H, c, problem.corner),
        partial(online.remove, H, problem.index),
        partial(online.replace, H, problem.index, c, problem.corner),
        partial(online.metric_step, H, a, b, problem.step),
    ]
    for update in updates:
        try:
            result = update()
        except SingularUpdate:
            continue
        assert_array_equal(result, result.T)
    online.rank_one(H, 0 * a, b)
    for before, after in zip(given_arrays, (H, c, a, b), strict=True):
        assert_array_equal(before, after)


@pytest.mark.parametrize(("novelty", "bound"), DRIFT.values(), ids=DRIFT.keys())
def test_two_hundred_replacements_drift_less_than_the_stated_bound(novelty, bound, seed):
    rng, D, n = np.random.default_rng(seed), 405, 300
    shared = rng.normal(size=(D, 1)) / novelty
    P = shared + rng.normal(size=(D, n))
    H = np.linalg.inv(P.T @ P)
    H = (H + H.T) / 2
    for _ in range(200):
        index, new = int(rng.integers(n)), shared[:, 0] + rng.normal(size=D)
        H = online.replace(H, index, P.T @ new, new @ new)
        P[:, index] = new
    fresh = np.linalg.inv(P.T @ P)
    assert_allclose(np.linalg.norm(H - fresh) / np.linalg.norm(fresh), 0, atol=bound)
    assert_array_equal(H, H.T)


def test_single_precision_stays_single_precision():
    problem = Problem(6, 0, definite=True)
    H, c = problem.inverse.astype(np.float32), problem.cross.astype(np.float32)
    results = [
        online.append(H, c, problem.corner),
        online.remove(H, 2),
        online.replace(H, 2, c, problem.corner),
        online.rank_one(H, c, 0.01 * c),
        online.metric_step(H, c, c, 0.01),
    ]
    assert {result.dtype for result in results} == {np.dtype(np.float32)}
    assert_close(results[0], reference.appended(problem.samples, problem.metric, problem.new), rtol=1e-4)


class TestSingular:
    """Every division by a pivot that rounding has emptied is refused, and the sentence says which."""

    rng = np.random.default_rng(0)
    P = rng.normal(size=(9, 4))
    J = P.T @ P
    H = np.linalg.inv(J)

    @pytest.mark.parametrize("column", range(4))
    def test_appending_a_copy(self, column):
        with pytest.raises(SingularUpdate, match="appending this sample leaves the Gram matrix singular"):
            online.append(self.H, self.J[:, column], self.J[column, column])

    def test_appending_a_mixture(self):
        mixture = np.array([0.5, -2.0, 0.0, 1.0])
        with pytest.raises(SingularUpdate, match="appending"):
            online.append(self.H, self.J @ mixture, mixture @ self.J @ mixture)

    def test_half_of_the_digits_must_be_left(self):
        apart = self.rng.normal(size=9)
        for distance, refused in ((1e-2, False), (1e-5, True)):
            near = self.P[:, 0] + distance * apart  # the pivot is of the order of distance squared
            if refused:
                with pytest.raises(SingularUpdate, match="appending"):
                    online.append(self.H, self.P.T @ near, near @ near)
            else:
                expected = reference.appended(self.P, np.eye(9), near)
                assert_close(online.append(self.H, self.P.T @ near, near @ near), expected)

    def test_appending_nothing_at_all(self):
        with pytest.raises(SingularUpdate, match="appending"):
            online.append(self.H, np.zeros(4), 0.0)

    def test_replacing_by_a_copy_of_another(self):
        with pytest.raises(SingularUpdate, match="replacing this sample leaves the Gram matrix singular"):
            online.replace(self.H, 1, self.J[:, 2], self.J[2, 2])

    def test_replacing_by_a_copy_of_itself_is_fine(self):
        assert_close(online.replace(self.H, 1, self.J[:, 1], self.J[1, 1]), self.H)

    def test_removing_what_an_indefinite_matrix_needs(self):
        swap = np.array([[0.0, 1.0], [1.0, 0.0]])  # its own inverse; either half alone is [[0]]
        with pytest.raises(SingularUpdate, match="removing this sample leaves the Gram matrix singular"):
            online.remove(swap, 0)

    def test_a_rank_one_change_that_cancels_a_direction(self):
        u = self.P[0]
        with pytest.raises(SingularUpdate, match="rank-one change leaves the Gram matrix singular"):
            online.rank_one(self.H, u, -u / (u @ self.H @ u))

    def test_a_metric_step_too_long(self):
        toward = self.P[0]
        with pytest.raises(SingularUpdate, match="step of the metric leaves the Gram matrix singular"):
            online.metric_step(self.H, toward, np.zeros(4), 1 / (toward @ self.H @ toward))

    def test_not_a_number(self):
        with pytest.raises(SingularUpdate, match="pivot nan"):
            online.append(self.H, np.full(4, np.nan), 1.0)

    def test_it_is_an_arithmetic_error(self):
        assert issubclass(SingularUpdate, ArithmeticError)
