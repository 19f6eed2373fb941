"""A window resampled pixel by pixel, the filter evaluated from its definition at every source pixel."""

import math

import numpy as np

WEIGHTS = (0.299, 0.587, 0.114)  # of red, green and blue in grey


def grey_at(frame, row, column):
    """Grey level of one pixel; outside of the frame that of the nearest one inside."""
    pixel = frame[min(max(row, 0), frame.shape[0] - 1), min(max(column, 0), frame.shape[1] - 1)]
    return sum(w * float(c) for w, c in zip(WEIGHTS, pixel, strict=True)) if frame.ndim == 3 else float(pixel)


def taps(number, origin, zoom):
    """{source pixel: weight} of one window pixel along one axis; the middle of pixel i is at i + 0.5."""
    middle, reach = origin + (number + 0.5) / zoom, max(1.0, 1.0 / zoom)
    near = range(math.floor(middle - reach) - 1, math.ceil(middle + reach) + 2)
    weights = {i: max(0.0, 1.0 - abs(i + 0.5 - middle) / reach) for i in near}
    return {i: w / sum(weights.values()) for i, w in weights.items() if w > 0}


def resample(frame, left, top, zoom, shape):
    grey = np.zeros(shape)
    for row in range(shape[0]):
        for column in range(shape[1]):
            for y, v in taps(row, top, zoom).items():
                for x, u in taps(column, left, zoom).items():
                    grey[row, column] += u * v * grey_at(frame, y, x)
    return grey


def bilinear(grey, x, y):
    """Grey level at a point of the window, between the four pixels whose middles surround it."""
    total = 0.0
    for row in range(math.floor(y - 0.5), math.floor(y - 0.5) + 2):
        for column in range(math.floor(x - 0.5), math.floor(x - 0.5) + 2):
            share = (1 - abs(row + 0.5 - y)) * (1 - abs(column + 0.5 - x))
            total += share * grey_at(grey, row, column)
    return total


def patch(grey, box, side, energy):
    """One raw-pixel descriptor: read, put the mean at one grey level, scale."""
    x, y, w, h = box
    values = np.array(
        [bilinear(grey, x + w * (j + 0.5) / side, y + h * (i + 0.5) / side) for i in range(side) for j in range(side)]
    )
    values = values - values.mean() + 1
    return values * math.sqrt(energy / (values @ values))
