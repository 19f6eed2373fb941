"""The histogram of oriented gradients of one box, cell by cell and pixel by pixel."""

import math

import numpy as np

BINS, CELLS = 9, 3


def votes(grey, row, column):
    """The nine numbers one pixel adds: its gradient's length, shared by the two nearest orientations."""
    last_row, last_column = grey.shape[0] - 1, grey.shape[1] - 1
    across = float(grey[row, min(column + 1, last_column)]) - float(grey[row, max(column - 1, 0)])
    down = float(grey[min(row + 1, last_row), column]) - float(grey[max(row - 1, 0), column])
    angle = math.atan2(down, across) % math.pi  # half a turn is no turn
    result = np.zeros(BINS)
    for b in range(BINS):
        away = abs(angle - (b + 0.5) * math.pi / BINS)
        away = min(away, math.pi - away)  # around the circle
        result[b] = math.hypot(across, down) * max(0.0, 1.0 - away / (math.pi / BINS))
    return result


def overlap(pixel, low, high):
    """How much of [low, high] lies in [pixel, pixel + 1]."""
    return max(0.0, min(high, pixel + 1) - max(low, pixel))


def cell(grey, left, top, right, bottom):
    """Votes of all pixels of the window, each as far as it lies in the rectangle."""
    total = np.zeros(BINS)
    for row in range(max(math.floor(top), 0), min(math.ceil(bottom), grey.shape[0])):
        for column in range(max(math.floor(left), 0), min(math.ceil(right), grey.shape[1])):
            area = overlap(row, top, bottom) * overlap(column, left, right)
            if area > 0:
                total += area * votes(grey, row, column)
    return total


def normalised(block, noise):
    """Brought to unit length, after adding what noise alone would give: the same to every orientation."""
    block = block + noise / BINS
    length = math.sqrt(block @ block)
    return block / length if length > 0 else block


def describe(grey, box, blocks, energy, noise_level):
    """One descriptor of a box in window coordinates; blocks are (left, top, right, bottom) in units of it."""
    x, y, w, h = box
    parts = []
    for left, top, right, bottom in blocks:
        cell_w, cell_h = (right - left) * w / CELLS, (bottom - top) * h / CELLS
        corner_x, corner_y = x + left * w, y + top * h
        histogram = [
            cell(
                grey,
                corner_x + j * cell_w,
                corner_y + i * cell_h,
                corner_x + (j + 1) * cell_w,
                corner_y + (i + 1) * cell_h,
            )
            for i in range(CELLS)
            for j in range(CELLS)
        ]
        block = np.concatenate(histogram)
        parts.append(normalised(block, noise_level * cell_w * cell_h))
    return np.concatenate(parts) * math.sqrt(energy / len(blocks))
