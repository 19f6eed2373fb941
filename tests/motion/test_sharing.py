import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from metrack.motion.sharing import SMALLEST, fine_cell, share
from reference import sharing as reference

sides = hnp.arrays(np.float64, 3, elements=st.floats(1e-3, 10))
some_states = hnp.arrays(np.float64, st.tuples(st.integers(0, 40), st.just(3)), elements=st.floats(-50, 50))


@given(states=some_states, cell=sides)
def test_cells_are_shared_as_the_slow_twin_says(states, cell):
    chosen, stand_in = share(states, cell)
    slowly_chosen, slow_stand_in = reference.share(states, cell)
    assert_array_equal(chosen, slowly_chosen)
    assert_array_equal(stand_in, slow_stand_in)


@given(states=some_states, cell=sides)
def test_every_state_joins_one_no_farther_than_a_cell_is_long(states, cell):
    chosen, stand_in = share(states, cell)
    assert (np.abs(states - states[chosen][stand_in]) <= cell * (1 + 1e-9)).all()
    assert_array_equal(stand_in[chosen], np.arange(len(chosen)))  # the chosen stay where they are


@given(states=some_states, cell=sides)
def test_the_chosen_share_no_cell(states, cell):
    chosen, _ = share(states, cell)
    again, stand_in = share(states[chosen], cell)
    assert_array_equal(again, stand_in)
    assert len(again) == len(chosen)


@pytest.mark.parametrize("side", [0.0, 5e-324, 1e-300, SMALLEST])
def test_the_smallest_cells_are_shared_by_none(side):
    states = np.random.default_rng(0).normal(100, 5, (50, 3))
    chosen, stand_in = share(states, fine_cell(side, 1.0, 32.0))
    assert_array_equal(chosen[stand_in], np.arange(50))
