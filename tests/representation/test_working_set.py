"""Steps of the search for a sparse code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from metrack.representation import working_set
from metrack.representation.line_search import lowest_point
from support.sparse import Problem


class TestSteps:
    @given(
        draw=st.integers(0, 2**32),
        D=st.integers(1, 30),
        limit=st.sampled_from([0.01, 0.3, 2.0, np.inf]),
        size=st.sampled_from([1e-3, 1.0, 1e3]),
        length=st.sampled_from([0.1, 1.0, 5.0, np.inf]),
    )
    def test_the_lowest_point_of_a_line(self, draw, D, limit, size, length):
        rng = np.random.default_rng(draw)
        residual, way = rng.normal(size=D), size * rng.normal(size=D)
        way *= np.sign(way @ np.clip(residual, -limit, limit))
        price = rng.uniform(-0.5, 0.9) * (way @ np.clip(residual, -limit, limit))  # it falls at first, not for ever

        def rise(stride):
            return price - way @ np.clip(residual - stride * way, -limit, limit)

        stride = lowest_point(residual, way, limit, price, length)
        assert 0 < stride <= length
        if stride < length:
            assert abs(rise(stride)) <= 1e-5 * abs(rise(0.0))
        else:
            assert rise(length) <= 1e-5 * abs(rise(0.0))

    @pytest.mark.parametrize("limit", [0.1, np.inf])
    def test_a_step_leads_to_where_all_slopes_vanish(self, seed, limit):
        problem = Problem(seed, n=20, D=60)
        T, Y = problem.doubles
        numbers = np.array([7, 2, 11, 5])
        some, residual = working_set._gather(T, Y[0], numbers, np.ones(4), np.full(20, 0.01))
        assert_allclose(residual, Y[0] - 0.01 * T[numbers].sum(axis=0), atol=1e-12)
        within = np.abs(residual) <= limit
        assert limit == np.inf or 0 < within.sum() < 60
        working_set._find_slopes(some, 4, residual, 0.02, limit)
        assert_allclose(some.slopes, T[numbers] @ np.clip(residual, -limit, limit) - 0.02, atol=1e-12)
        terms = working_set.Terms(T, T @ T.T, 1e-15, 0.02, limit)
        working_set._find_step(terms, some, 4, np.flatnonzero(~within))
        seen = T[numbers][:, within]
        assert_allclose(seen @ seen.T @ some.step, some.slopes, atol=1e-9)
