"""Particles that stand close together are looked at as one.

Space is divided into cells; of the particles in a cell the first stands for all. The more particles there are, the
more of them share a cell, so a frame costs less than in proportion to them.
"""

from __future__ import annotations

import numpy as np

from metrack.arrays import Floats, Ints
from metrack.motion.random_walk import States

FINE = np.ones(3)
COARSE = np.array([10.0, 10.0, 2.0])  # times as long in x, y and log-scale: enough to choose what to refine


def share(states: States, cell: Floats) -> tuple[Ints, Ints]:
    """Choose one state of every cell that any state is in.

    Parameters
    ----------
    states : (N, 3)
    cell : (3,)             its sides in x, y and log-scale, positive

    Returns
    -------
    chosen : (K,)           the first state of each cell
    own : (N,)              which of the chosen is in the cell of each state

    >>> chosen, own = share(np.array([[3.1, 2.0, 0.0], [0.9, 2.2, 0.0], [1.2, 1.9, 0.1]]), np.array([1.0, 1.0, 0.5]))
    >>> chosen.tolist(), own.tolist()
    ([1, 0], [1, 0, 0])
    """
    cells = np.rint(states / cell)
    order = np.lexsort(cells.T)  # stable: the first of a cell comes first
    cells = cells[order]
    is_new = np.ones(len(cells), np.bool_)
    is_new[1:] = (cells[1:] != cells[:-1]).any(axis=1)
    own = np.empty(len(cells), np.int64)
    own[order] = np.cumsum(is_new) - 1
    return order[is_new], own
