"""Slow, obvious twins of the parts of the correlation filter."""

import numpy as np


def directions_of_pixels(grey, directions=18):
    """What each pixel contributes to each direction: (h, w, directions), pixel by pixel."""
    grey = np.asarray(grey, float)
    height, width = grey.shape
    padded = np.pad(grey, 1, mode="edge")
    g_col, g_row = padded[1:-1, 2:] - padded[1:-1, :-2], padded[2:, 1:-1] - padded[:-2, 1:-1]
    magnitude, angle = np.hypot(g_col, g_row), np.arctan2(g_row, g_col) % (2 * np.pi)
    given = np.zeros((height, width, directions))
    for y in range(height):
        for x in range(width):
            place = angle[y, x] / (2 * np.pi) * directions
            low = int(np.floor(place))
            given[y, x, low % directions] += magnitude[y, x] * (1 - (place - low))
            given[y, x, (low + 1) % directions] += magnitude[y, x] * (place - low)
    return given


def cell_sum(given, left, top, size, block):
    """Sum over one cell, of which a block may belong in part: (channels,)."""
    height, width = given.shape[:2]
    total = np.zeros(given.shape[2])
    for i in range(0, height, block):
        for j in range(0, width, block):
            tall = max(min(i + block, top + size) - max(i, top), 0)
            wide = max(min(j + block, left + size) - max(j, left), 0)
            share = tall * wide / block**2
            total += share * given[i : i + block, j : j + block].sum(axis=(0, 1))
    return total


def gradient_planes(sums, i, j, most, noise):
    """The 31 planes of one cell of a map, whose sums have a ring around them."""
    p, q = i + 1, j + 1
    unsigned = sums[..., :9] + sums[..., 9:18]
    energy = np.square(unsigned).sum(axis=2)
    directions, orientations, texture = np.zeros(18), np.zeros(9), []
    for dy in (-1, 1):
        for dx in (-1, 1):
            norm = np.sqrt(energy[p, q] + energy[p + dy, q] + energy[p, q + dx] + energy[p + dy, q + dx] + noise)
            cut = np.minimum(sums[p, q, :18] / norm, most)
            directions += 0.5 * cut
            orientations += 0.5 * np.minimum(unsigned[p, q] / norm, most)
            texture.append(cut.sum() / np.sqrt(18))
    return np.concatenate([directions, orientations, texture])


def shift_matrix(maps):
    """Every shift of a map (channels, n, n), one per row: (n * n, channels * n * n)."""
    count = maps.shape[1]
    return np.array([np.roll(maps, (-dy, -dx), axis=(1, 2)).ravel() for dy in range(count) for dx in range(count)])


def ridge(maps, label, before, regularisation):
    """The filter (channels, n, n) nearest to the label over every shift, and to the one before."""
    shifts = shift_matrix(maps)
    left = shifts.T @ shifts + regularisation * np.eye(shifts.shape[1])
    return np.linalg.solve(left, shifts.T @ label.ravel() + regularisation * before.ravel()).reshape(maps.shape)


def response_at(response, y, x):
    """The trigonometric polynomial through a response (n, n), at a place between its cells."""
    count = len(response)
    spectrum = np.fft.fft2(response)
    frequency = np.fft.fftfreq(count, 1 / count)
    if count % 2 == 0:  # the highest frequency stands for both of its signs
        wave_y, wave_x = (np.exp(2j * np.pi * frequency * place / count) for place in (y, x))
        wave_y[count // 2], wave_x[count // 2] = np.cos(np.pi * y), np.cos(np.pi * x)
    else:
        wave_y, wave_x = (np.exp(2j * np.pi * frequency * place / count) for place in (y, x))
    return float((wave_y @ spectrum @ wave_x).real / count**2)


def colour_shares(frame, box, samples, inner, beside, around, levels):
    """How often each colour is seen in a box and around it: (2, levels ** 3), sample by sample."""
    x, y, w, h = box
    reach = around * np.sqrt(w * h)
    seen = [np.zeros(levels**3), np.zeros(levels**3)]
    for i in range(samples):
        for j in range(samples):
            px = x - reach + (j + 0.5) * (w + 2 * reach) / samples
            py = y - reach + (i + 0.5) * (h + 2 * reach) / samples
            column, row = (int(np.clip(np.floor(p), 0, n - 1)) for p, n in ((px, frame.shape[1]), (py, frame.shape[0])))
            red, green, blue = (int(value) * levels // 256 for value in frame[row, column])
            colour = (red * levels + green) * levels + blue
            far = max(abs(px - x - w / 2) / (w / 2), abs(py - y - h / 2) / (h / 2))
            if far < inner:
                seen[0][colour] += 1
            elif far >= beside:
                seen[1][colour] += 1
    return np.array([counts / max(counts.sum(), 1) for counts in seen])
