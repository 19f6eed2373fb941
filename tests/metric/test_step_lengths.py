"""Step lengths of a ranking round: the exact dual and the linear programme."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from metrack.metric.step_lengths import solve_linear, solve_quadratic
from reference import structured as reference

DRAW = st.integers(0, 2**32)
COST = st.sampled_from([0.01, 0.3, 1.0, 10.0, 1000.0])


def random_dual(rng, m, rank, spread):
    """A Gram matrix of some rank whose directions differ in length by a factor of up to 10^spread, and losses."""
    U = rng.normal(size=(m, rank)) * 10 ** (spread * rng.random((m, 1)))
    return U @ U.T, rng.normal(size=m) + 1


class TestQuadratic:
    def test_by_hand(self):
        # without a limit x = K^-1 f = (1, 2); a limit of 2 is shared so that the slopes 2 - 2 x1 and 4 - 2 x2 are equal
        K, f = np.diag([2.0, 2.0]), np.array([2.0, 4.0])
        assert_allclose(solve_quadratic(K, f, 10.0), [1, 2], rtol=1e-12)
        assert_allclose(solve_quadratic(K, f, 3.0), [1, 2], rtol=1e-12)
        assert_allclose(solve_quadratic(K, f, 2.0), [0.5, 1.5], rtol=1e-12)
        assert_allclose(solve_quadratic(K, f, 0.5), [0, 0.5], rtol=1e-12)
        assert_allclose(solve_quadratic(K, f * [1, 1e-8], 10.0), [1, 2e-8], rtol=1e-12)  # the least gain is worth it
        assert_array_equal(solve_quadratic(K, f, 0.0), [0, 0])

    @given(
        draw=DRAW,
        m=st.integers(1, 4),
        rank=st.integers(1, 5),
        spread=st.sampled_from([0, 1]),
        limit=st.floats(0.01, 100),
    )
    def test_equals_trying_every_set(self, draw, m, rank, spread, limit):
        K, f = random_dual(np.random.default_rng(draw), m, rank, spread)
        x, expected = solve_quadratic(K, f, limit), reference.maximise_dual(K, f, limit)
        best = reference.dual(K, f, expected)
        assert_allclose(reference.dual(K, f, x), best, rtol=1e-8, atol=1e-12 * limit)
        assert_allclose(K @ x, K @ expected, rtol=0, atol=1e-5 * max(1, np.abs(f).max()))  # unique where x is not

    @settings(max_examples=30)
    @given(draw=DRAW, m=st.integers(5, 30), limit=st.floats(0.1, 10))
    def test_is_at_least_as_good_as_a_general_optimiser(self, draw, m, limit):
        rng = np.random.default_rng(draw)
        K, f = random_dual(rng, m, int(rng.integers(1, 40)), 0)
        expected = np.maximum(reference.maximise_dual_by_scipy(K, f, limit), 0)
        expected *= min(1, limit / max(expected.sum(), 1e-300))
        best = reference.dual(K, f, expected)
        assert reference.dual(K, f, solve_quadratic(K, f, limit)) >= best - 1e-8 * abs(best)

    @given(
        draw=DRAW,
        m=st.integers(1, 30),
        rank=st.integers(1, 40),
        spread=st.sampled_from([0, 2]),
        limit=st.floats(1e-3, 1e3),
        repeat=st.booleans(),
        still=st.booleans(),
        single=st.booleans(),
    )
    def test_no_variable_wants_to_change(self, draw, m, rank, spread, limit, repeat, still, single):
        rng = np.random.default_rng(draw)
        K, f = random_dual(rng, m, rank, spread)
        if repeat:
            K[-1], f[-1] = K[0], f[0] - 1
            K[:, -1] = K[:, 0]
        if still:  # a pair of copies of one box
            K[m // 2], K[:, m // 2] = 0, 0
        if single:  # no longer positive semi-definite
            K = K.astype(np.float32).astype(float)
        x = solve_quadratic(K, f, limit)
        assert x.min() >= 0
        assert x.sum() <= limit * (1 + 1e-12)
        slopes, used = np.append(f - K @ x, 0.0), np.append(x, limit - x.sum())
        rounding = 1e-8 * np.abs(f).max() + 1e-14 * K.max() * limit
        assert slopes[used > 1e-9 * limit].min() >= slopes.max() - rounding

    @given(draw=DRAW, m=st.integers(1, 20), rank=st.integers(1, 30), limit=st.floats(0.1, 100))
    def test_going_on_from_a_smaller_problem_leads_to_the_same(self, draw, m, rank, limit):
        K, f = random_dual(np.random.default_rng(draw), m, rank, 0)
        x = np.zeros(0)
        for k in range(1, m + 1):
            x = solve_quadratic(K[:k, :k], f[:k], limit, x)
        cold = solve_quadratic(K, f, limit)
        assert_allclose(reference.dual(K, f, x), reference.dual(K, f, cold), rtol=1e-8, atol=1e-12 * limit)

    def test_repeated_directions_share(self):
        x = solve_quadratic(np.full((3, 3), 2.0), np.array([4.0, 4.0, 1.0]), 10.0)
        assert_allclose(x.sum(), 2, rtol=1e-9)
        assert x[2] == 0

    def test_a_shortfall_that_no_step_can_mend_takes_what_is_left_of_the_limit(self):
        # copies of a box demand a slack of 1 whatever is done; the other pair is mended down to that and no further
        x = solve_quadratic(np.diag([2.0, 0.0]), np.array([3.0, 1.0]), 10.0)
        assert_allclose(x, [1, 9], rtol=1e-9)


class TestLinear:
    @given(draw=DRAW, m=st.integers(1, 6), rank=st.integers(1, 8), limit=st.floats(0.05, 50))
    def test_no_other_lengths_are_better(self, draw, m, rank, limit):
        rng = np.random.default_rng(draw)
        K, f = random_dual(rng, m, rank, 0)
        x = solve_linear(K, f, limit)
        assert x.min() >= 0
        assert x.sum() <= limit * (1 + 1e-6)
        others = rng.dirichlet(np.ones(m + 1), 200)[:, :m] * limit
        others = np.vstack([others, x + (others - x) * 1e-3, solve_quadratic(K, f, limit)])  # far, near, and exact
        cost = np.abs(others @ K - f).sum(axis=1).min()
        assert np.abs(K @ x - f).sum() <= cost + 1e-7 * np.abs(f).sum()

    @given(draw=DRAW, m=st.integers(1, 10))
    def test_both_solvers_meet_where_no_inequality_binds(self, draw, m):
        rng = np.random.default_rng(draw)
        U = rng.normal(size=(m, m + 3))
        K, expected = U @ U.T, rng.uniform(0.1, 1, m)
        assume(np.linalg.cond(K) < 1e6)
        limit = expected.sum() * 1.01
        for solve in (solve_linear, solve_quadratic):
            assert_allclose(solve(K, K @ expected, limit), expected, rtol=1e-6)

    @given(draw=DRAW, m=st.integers(1, 6), lengthen=st.floats(-12, 12), weaken=st.floats(-12, 12))
    def test_units_do_not_matter(self, draw, m, lengthen, weaken):
        rng = np.random.default_rng(draw)
        K, f = random_dual(rng, m, m + 2, 0)
        a, b, limit = 10**lengthen, 10**weaken, 0.5 * np.abs(f).max() / K.max()
        for solve in (solve_linear, solve_quadratic):
            assert_allclose(solve(K * a, f * b, limit * b / a) * a / b, solve(K, f, limit), atol=1e-6 * limit)

    def test_they_part_where_the_limit_binds(self):
        # one unit to spend on two constraints of which the first gains more per unit: all of it goes there
        K, f = np.diag([2.0, 1.0]), np.array([4.0, 4.0])
        assert_allclose(solve_linear(K, f, 1.5), [1.5, 0], atol=1e-9)
        assert_allclose(solve_quadratic(K, f, 1.5), [0.5, 1], atol=1e-9)
