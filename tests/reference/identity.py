"""Who is it, by general-purpose solvers and loops in double precision."""

import numpy as np

from reference.representation import ridge_unit, theta_whitened


def distances(templates, observations, ridge, metric):
    """Residual of each observation against each target's templates: (T, K)."""
    return np.array(
        [
            [theta_whitened(known, seen, metric, ridge * ridge_unit(known, metric)) for known in templates]
            for seen in observations
        ]
    )


def cumulative(frame_distances, scores):
    """H of every frame and target: the sum of score times distance over the frames up to it."""
    frames, targets = frame_distances.shape
    return np.array(
        [[sum(scores[i] * frame_distances[i, k] for i in range(t + 1)) for k in range(targets)] for t in range(frames)]
    )


def strips_of_colour(picture, strips, bins, reach, middle, removed):
    """Pixel by pixel: Lab colours, half of the tint removed, shared between bins and strips by tents."""
    height, width = picture.shape[:2]
    lab = np.array([[lab_of(pixel) for pixel in row] for row in picture])
    weight = np.array([np.exp(-0.5 * (((x + 0.5) / width - 0.5) / middle) ** 2) for x in range(width)])
    mean = sum(weight[x] * lab[y, x] for y in range(height) for x in range(width)) / (height * weight.sum())
    lab = lab - removed * (mean - np.array([50.0, 0.0, 0.0]))
    histogram = np.zeros((strips, *bins))
    for y in range(height):
        place = min(max((y + 0.5) / height * strips - 0.5, 0), strips - 1)
        for x in range(width):
            light, red, yellow = lab[y, x]
            at = (light / 100, (red + reach) / (2 * reach), (yellow + reach) / (2 * reach))
            i, j, k = (tents(min(max(a, 0), 1) * (n - 1), n) for a, n in zip(at, bins, strict=True))
            histogram += weight[x] * np.einsum("s,i,j,k->sijk", tents(place, strips), i, j, k)
    flat = histogram.reshape(strips, -1)
    return np.concatenate([np.sqrt(row / row.sum()) / np.sqrt(strips) for row in flat])


def tents(place, count):
    """Share of a place for each of the whole numbers below count."""
    return np.array([max(0.0, 1 - abs(place - n)) for n in range(count)])


def lab_of(pixel):
    """CIE Lab of an sRGB pixel under D65."""
    light = [v / 255 / 12.92 if v / 255 <= 0.04045 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in pixel]
    matrix = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
    xyz = [sum(m * v for m, v in zip(row, light, strict=True)) for row in matrix]
    x, y, z = (_root(v / white) for v, white in zip(xyz, (0.95047, 1.0, 1.08883), strict=True))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def _root(t):
    return t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29
