"""Particles that stand close together are looked at as one.

The space of states is divided into cells; of the particles in a cell the first stands in for all. The more particles
there are, the more of them share a cell, so a frame costs less than in proportion to them.
"""

from __future__ import annotations

import numpy as np

from metrack.arrays import Floats, Ints
from metrack.motion.random_walk import States

SMALLEST = 1e-6  # window pixels: a smaller cell is one particle's own
COARSE = (10.0, 10.0, 2.0)  # times as long in x, y and log-scale, for particles around which others are to be drawn


def fine_cell(side: float, zoom: float, base_size: float) -> Floats:
    """Sides ``(3,)`` of a cell in x, y and log-scale: a scale is a side away if it makes the target one side larger.

    ``side`` is in window pixels, of which ``zoom`` make an image pixel and ``base_size`` the target.

    >>> fine_cell(0.5, 2.0, 32.0).tolist()
    [0.25, 0.25, 0.015625]
    """
    return max(side, SMALLEST) / np.array([zoom, zoom, base_size])


def share(states: States, cell: Floats) -> tuple[Ints, Ints]:
    """Choose one state of every cell that any state is in.

    Parameters
    ----------
    states : (N, 3)
    cell : (3,)             its sides in x, y and log-scale, positive

    Returns
    -------
    chosen : (cells,)       the first state of each cell
    stand_in : (N,)         which of the chosen is in the cell of each state

    >>> states = np.array([[3.1, 2.0, 0.0], [0.9, 2.2, 0.0], [1.2, 1.9, 0.1]])
    >>> chosen, stand_in = share(states, np.array([1.0, 1.0, 0.5]))
    >>> chosen.tolist(), stand_in.tolist()
    ([1, 0], [1, 0, 0])
    """
    cells = np.rint(states / cell)
    order = np.lexsort(cells.T)  # stable: the first of a cell comes first
    cells = cells[order]
    is_new = np.ones(len(cells), np.bool_)
    is_new[1:] = (cells[1:] != cells[:-1]).any(axis=1)
    stand_in = np.empty(len(cells), np.int64)
    stand_in[order] = np.cumsum(is_new) - 1
    return order[is_new], stand_in
