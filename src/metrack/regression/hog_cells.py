"""Gradient planes of the feature map, after Felzenszwalb et al. (2010): "FHOG".

A cell has 18 directions, 9 orientations and 4 planes of texture: how much structure its neighbourhood has.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metrack.features.gradients import DIRECTIONS, ORIENTATIONS, SUMS
from metrack.regression.cells import BLOCK, Planes

TEXTURES = 4
GRADIENTS = DIRECTIONS + ORIENTATIONS + TEXTURES
MOST = 0.2  # to which a normalised gradient is clipped, so that no edge dominates the rest
NOISE = 0.1  # energy of a cell that counts as no structure


@njit(cache=True, nogil=True, fastmath=True)
def sum_directions(magnitude: Planes, position: Planes, blocks: Planes) -> None:
    """Fill ``blocks`` ``(rows, columns, 18)`` from binned gradients ``(h, w)``, each shared between two directions."""
    for i in range(blocks.shape[0]):
        line = blocks[i]
        for j in range(line.shape[0]):
            for b in range(DIRECTIONS):
                line[j, b] = 0.0
        for y in range(i * BLOCK, (i + 1) * BLOCK):
            for x in range(line.shape[0] * BLOCK):
                low = int(position[y, x])
                share = position[y, x] - low
                low = low - DIRECTIONS if low >= DIRECTIONS else low
                high = low + 1 if low + 1 < DIRECTIONS else 0
                line[x // BLOCK, low] += magnitude[y, x] * (1 - share)
                line[x // BLOCK, high] += magnitude[y, x] * share


@njit(cache=True, nogil=True, fastmath=SUMS)
def normalise_gradients(sums: Planes, taper: NDArray[np.float32], out: Planes) -> None:
    """Turn sums ``(n + 2, n + 2, 18)`` over cells into planes ``(31, n, n)``, tapered towards the border.

    Gradients of a cell are divided by the energy of each of the four squares of two by two cells it belongs to. A row
    of cells is transposed first, so that every loop runs along neighbours in memory.
    """
    count, energy = len(taper), _energy(sums)
    row = np.empty((DIRECTIONS, count), np.float32)
    factors, textures = np.empty((TEXTURES, count), np.float32), np.empty((TEXTURES, count), np.float32)
    texture = np.float32(1 / math.sqrt(DIRECTIONS))
    for i in range(count):
        for j in range(count):
            for b in range(DIRECTIONS):
                row[b, j] = sums[i + 1, j + 1, b]
        _normalisers(energy[i], energy[i + 1], energy[i + 2], factors)
        _clip_directions(row, factors, taper[i], textures, out, i)
        _clip_orientations(row, factors, taper[i], out, i)
        weight = taper[i]
        for k in range(TEXTURES):
            line, made = textures[k], out[GRADIENTS - TEXTURES + k, i]
            for j in range(count):
                made[j] = texture * weight[j] * line[j]


# Inlined: otherwise the process that compiles them rounds differently from those that load them from the cache.
@njit(nogil=True, inline="always")
def _energy(sums: Planes) -> NDArray[np.float32]:
    """Squared length of the orientations of every cell."""
    rows, columns, _ = sums.shape
    energy = np.empty((rows, columns), np.float32)
    for i in range(rows):
        for j in range(columns):
            total = np.float32(0.0)
            for b in range(ORIENTATIONS):
                both = sums[i, j, b] + sums[i, j, b + ORIENTATIONS]
                total += both * both
            energy[i, j] = total
    return energy


@njit(nogil=True, inline="always")
def _normalisers(
    upper: NDArray[np.float32], middle: NDArray[np.float32], lower: NDArray[np.float32], factors: Planes
) -> None:
    """Fill ``factors`` ``(4, n)``: one over the length of each square of cells, from three rows of energies."""
    r0, r1, r2, r3 = factors
    noise = np.float32(NOISE)
    for j in range(len(r0)):
        own = middle[j + 1] + noise
        r0[j] = 1 / math.sqrt(own + upper[j + 1] + middle[j] + upper[j])
        r1[j] = 1 / math.sqrt(own + upper[j + 1] + middle[j + 2] + upper[j + 2])
        r2[j] = 1 / math.sqrt(own + lower[j + 1] + middle[j] + lower[j])
        r3[j] = 1 / math.sqrt(own + lower[j + 1] + middle[j + 2] + lower[j + 2])


@njit(nogil=True, inline="always")
def _clip_directions(
    row: Planes, factors: Planes, weight: NDArray[np.float32], textures: Planes, out: Planes, i: int
) -> None:
    """Fill the planes of directions of row i of cells, and sum what each normalisation leaves into ``textures``."""
    r0, r1, r2, r3 = factors
    t0, t1, t2, t3 = textures
    most, half = np.float32(MOST), np.float32(0.5)
    textures[:] = 0.0
    for b in range(DIRECTIONS):
        line, made = row[b], out[b, i]
        for j in range(len(line)):
            v0, v1 = min(line[j] * r0[j], most), min(line[j] * r1[j], most)
            v2, v3 = min(line[j] * r2[j], most), min(line[j] * r3[j], most)
            made[j] = half * weight[j] * (v0 + v1 + v2 + v3)
            t0[j] += v0
            t1[j] += v1
            t2[j] += v2
            t3[j] += v3


@njit(nogil=True, inline="always")
def _clip_orientations(row: Planes, factors: Planes, weight: NDArray[np.float32], out: Planes, i: int) -> None:
    """Fill the planes of orientations of row i of cells."""
    r0, r1, r2, r3 = factors
    most, half = np.float32(MOST), np.float32(0.5)
    for b in range(ORIENTATIONS):
        line, back, made = row[b], row[b + ORIENTATIONS], out[DIRECTIONS + b, i]
        for j in range(len(line)):
            both = line[j] + back[j]
            v0, v1 = min(both * r0[j], most), min(both * r1[j], most)
            v2, v3 = min(both * r2[j], most), min(both * r3[j], most)
            made[j] = half * weight[j] * (v0 + v1 + v2 + v3)
