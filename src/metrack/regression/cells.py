"""Maps of what is where around the target: directions of gradients, light and colours, cell by cell.

The window is looked at once. What each block of two by two pixels contributes to every channel is summed into an
integral image, so that the cells of a map, of any size and at any place in the window, are four look-ups each: one look
serves all scales at which the target is sought, and the learning after that.

A map has 31 channels of gradients after Felzenszwalb et al. (2010): 18 directions, 9 orientations, and 4 that tell how
much structure the neighbourhood has; then light and, in coloured frames, eleven colour names and what the target's own
colours say.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from metrack.arrays import Frame

DIRECTIONS = 18
ORIENTATIONS = DIRECTIONS // 2
GRADIENTS = DIRECTIONS + ORIENTATIONS + 4  # channels of a map made from gradients
BLOCK = 2  # pixels along the side of what is summed at once
MOST = 0.2  # to which a normalised gradient is cut, so that no edge outshines the rest
NOISE = 0.1  # energy of a cell that counts as no structure


@njit(cache=True, nogil=True, fastmath=True)
def sum_blocks(
    grey: NDArray[np.float32],
    frame: Frame,
    left: float,
    top: float,
    zoom: float,
    by_colour: NDArray[np.float32],
    integral: NDArray[np.float32],
) -> None:
    """Fill ``integral`` ``(h / 2 + 1, w / 2 + 1, channels)`` from a window ``(h, w)`` cut out of ``frame``.

    Channels are 18 directions, light, and one per column of ``by_colour``, which is ``(32 ** 3, k)``. A gradient
    is shared between its two nearest directions; a block has the colour of the frame's pixel at its centre.
    """
    height, width = grey.shape
    channels = DIRECTIONS + 1 + by_colour.shape[1]
    rows, columns = height // BLOCK, width // BLOCK
    g_cols = np.empty(width, np.float32)
    magnitude = np.empty(width, np.float32)
    position = np.empty(width, np.float32)
    blocks = np.empty((columns, channels), np.float32)
    running = np.empty(channels, np.float32)
    quarter, half, turn = np.float32(math.pi / 2), np.float32(math.pi), np.float32(2 * math.pi)
    integral[0] = 0.0
    for i in range(rows):
        blocks[:] = 0.0
        for y in range(i * BLOCK, (i + 1) * BLOCK):
            above, row, below = grey[max(y - 1, 0)], grey[y], grey[min(y + 1, height - 1)]
            for x in range(1, width - 1):
                g_cols[x] = row[x + 1] - row[x - 1]
            g_cols[0], g_cols[width - 1] = row[1] - row[0], row[width - 1] - row[width - 2]
            for x in range(width):
                g_col, g_row = g_cols[x], below[x] - above[x]
                wide, tall = abs(g_col), abs(g_row)
                ratio = min(wide, tall) / (max(wide, tall) + np.float32(1e-20))
                square = ratio * ratio
                angle = ratio * (
                    np.float32(0.9998660)
                    + square
                    * (
                        np.float32(-0.3302995)
                        + square
                        * (np.float32(0.1801410) + square * (np.float32(-0.0851330) + square * np.float32(0.0208351)))
                    )
                )
                angle = quarter - angle if tall > wide else angle
                angle = half - angle if g_col < 0 else angle
                angle = turn - angle if g_row < 0 else angle
                magnitude[x] = math.sqrt(wide * wide + tall * tall)
                position[x] = angle * (np.float32(DIRECTIONS) / turn)
            for x in range(columns * BLOCK):
                low = int(position[x])
                share = position[x] - low
                low = low - DIRECTIONS if low >= DIRECTIONS else low
                high = low + 1 if low + 1 < DIRECTIONS else 0
                blocks[x // BLOCK, low] += magnitude[x] * (1 - share)
                blocks[x // BLOCK, high] += magnitude[x] * share
                blocks[x // BLOCK, DIRECTIONS] += row[x]
        if by_colour.shape[1]:
            y = min(max(math.floor(top + (i + 0.5) * BLOCK / zoom), 0), frame.shape[0] - 1)
            for j in range(columns):
                x = min(max(math.floor(left + (j + 0.5) * BLOCK / zoom), 0), frame.shape[1] - 1)
                colour = ((frame[y, x, 0] >> 3) * 32 + (frame[y, x, 1] >> 3)) * 32 + (frame[y, x, 2] >> 3)
                for k in range(by_colour.shape[1]):
                    blocks[j, DIRECTIONS + 1 + k] = BLOCK * BLOCK * by_colour[colour, k]
        running[:] = 0.0
        integral[i + 1, 0] = 0.0
        for j in range(columns):
            for c in range(channels):
                running[c] += blocks[j, c]
                integral[i + 1, j + 1, c] = integral[i, j + 1, c] + running[c]


@njit(cache=True, nogil=True, fastmath=True)
def sum_cells(integral: NDArray[np.float32], left: float, top: float, size: float, count: int) -> NDArray[np.float32]:
    """Sums ``(count + 2, count + 2, channels)`` over cells of ``size`` pixels: those of a map and one ring around it.

    The first cell of the map begins at ``(left, top)``, in pixels of the window; what lies outside it is empty.
    """
    rows, columns, channels = integral.shape[0] - 1, integral.shape[1] - 1, integral.shape[2]
    sums = np.empty((count + 2, count + 2, channels), np.float32)
    before = np.empty((count + 3, channels), np.float32)
    across = np.empty(channels, np.float32)
    for i in range(count + 3):
        y = min(max((top + (i - 1) * size) / BLOCK, 0.0), float(rows))
        upper = min(int(y), rows - 1)
        v = np.float32(y - upper)
        for j in range(count + 3):
            x = min(max((left + (j - 1) * size) / BLOCK, 0.0), float(columns))
            start = min(int(x), columns - 1)
            u = np.float32(x - start)
            a00, a01, a10, a11 = (1 - u) * (1 - v), u * (1 - v), (1 - u) * v, u * v
            p00, p01 = integral[upper, start], integral[upper, start + 1]
            p10, p11 = integral[upper + 1, start], integral[upper + 1, start + 1]
            for c in range(channels):
                value = a00 * p00[c] + a01 * p01[c] + a10 * p10[c] + a11 * p11[c]
                strip = value - before[j, c]  # between this edge and the one above
                if i and j:
                    sums[i - 1, j - 1, c] = strip - across[c]
                across[c] = strip
                before[j, c] = value
    return sums


@njit(cache=True, nogil=True, fastmath=True)
def normalise(sums: NDArray[np.float32], area: float, taper: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """Turn sums over cells of ``area`` pixels into a map ``(channels, n, n)``, tapered towards its border.

    Gradients of a cell are divided by the energy of each of the four squares of two by two cells it belongs to. A row
    of cells is turned to lie channel by channel first: then every loop runs along neighbours in memory.
    """
    count, channels = len(taper), sums.shape[2]
    energy = _energy(sums)
    most, noise, half = np.float32(MOST), np.float32(NOISE), np.float32(0.5)
    texture, light, share = np.float32(1 / math.sqrt(DIRECTIONS)), np.float32(1 / (255 * area)), np.float32(1 / area)
    row = np.empty((channels, count), np.float32)
    factors, textures = np.empty((4, count), np.float32), np.empty((4, count), np.float32)
    r0, r1, r2, r3 = factors
    t0, t1, t2, t3 = textures
    for i in range(count):
        for j in range(count):
            for c in range(channels):
                row[c, j] = sums[i + 1, j + 1, c]
        upper, middle, lower = energy[i], energy[i + 1], energy[i + 2]
        for j in range(count):
            own = middle[j + 1] + noise
            r0[j] = 1 / math.sqrt(own + upper[j + 1] + middle[j] + upper[j])
            r1[j] = 1 / math.sqrt(own + upper[j + 1] + middle[j + 2] + upper[j + 2])
            r2[j] = 1 / math.sqrt(own + lower[j + 1] + middle[j] + lower[j])
            r3[j] = 1 / math.sqrt(own + lower[j + 1] + middle[j + 2] + lower[j + 2])
        weight = taper[i]
        textures[:] = 0.0
        for b in range(DIRECTIONS):
            line, made = row[b], out[b, i]
            for j in range(count):
                v0, v1 = min(line[j] * r0[j], most), min(line[j] * r1[j], most)
                v2, v3 = min(line[j] * r2[j], most), min(line[j] * r3[j], most)
                made[j] = half * weight[j] * (v0 + v1 + v2 + v3)
                t0[j] += v0
                t1[j] += v1
                t2[j] += v2
                t3[j] += v3
        for b in range(ORIENTATIONS):
            line, back, made = row[b], row[b + ORIENTATIONS], out[DIRECTIONS + b, i]
            for j in range(count):
                both = line[j] + back[j]
                v0, v1 = min(both * r0[j], most), min(both * r1[j], most)
                v2, v3 = min(both * r2[j], most), min(both * r3[j], most)
                made[j] = half * weight[j] * (v0 + v1 + v2 + v3)
        for k in range(4):
            line, made = textures[k], out[GRADIENTS - 4 + k, i]
            for j in range(count):
                made[j] = texture * weight[j] * line[j]
        line, made = row[DIRECTIONS], out[GRADIENTS, i]
        for j in range(count):
            made[j] = (line[j] * light - half) * weight[j]
        for c in range(DIRECTIONS + 1, channels):
            line, made = row[c], out[c + GRADIENTS - DIRECTIONS, i]
            for j in range(count):
                made[j] = line[j] * share * weight[j]


@njit(cache=True, nogil=True, fastmath=True)
def _energy(sums: NDArray[np.float32]) -> NDArray[np.float32]:
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
