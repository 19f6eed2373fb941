"""Scores written as one would explain them, frame by frame and pair by pair."""

import math


def share(hits):
    hits = list(hits)
    return sum(hits) / len(hits) if hits else math.nan


def known(values):
    return [value for value in values if not math.isnan(value)]


def success_curve(overlap):
    return [share(value > step / 20 for value in known(overlap)) for step in range(21)]


def precision_curve(distance):
    return [share(value <= pixels for value in known(distance)) for pixels in range(51)]


def normalised_precision_curve(boxes, truth):
    distances = [normalised_distance(box, true) for box, true in zip(boxes, truth, strict=True)]
    return [share(value <= step / 100 for value in known(distances)) for step in range(51)]


def normalised_distance(box, true):
    x, y, w, h = true
    if not (w > 0 and h > 0):
        return math.nan
    return math.dist(((box[0] + box[2] / 2) / w, (box[1] + box[3] / 2) / h), ((x + w / 2) / w, (y + h / 2) / h))


def robustness(overlap, threshold, patience):
    values = known(overlap)
    for start in range(len(values) - patience + 1):
        if all(value <= threshold for value in values[start : start + patience]):
            return start / len(values)
    return 1.0 if values else math.nan


def auroc(score, overlap):
    frames = [(s, o > 0.5) for s, o in zip(score, overlap, strict=True) if not math.isnan(o)]
    pairs = [(s, t) for s, right in frames if right for t, other in frames if not other]
    return sum((s > t) + 0.5 * (s == t) for s, t in pairs) / len(pairs) if pairs else math.nan


def calibration_error(score, overlap, bins):
    frames = [(s, o > 0.5) for s, o in zip(score, overlap, strict=True) if not math.isnan(o)]
    error = 0.0
    for k in range(bins):
        inside = [(s, right) for s, right in frames if min(int(s * bins), bins - 1) == k]
        error += abs(sum(s for s, _ in inside) - sum(right for _, right in inside))
    return error / len(frames) if frames else math.nan


def matches(reported, true, tolerance):
    """Try every way of giving each true event one report or none."""
    if not true:
        return 0
    first, rest = true[0], true[1:]
    best = matches(reported, rest, tolerance)
    for i, frame in enumerate(reported):
        if abs(frame - first) <= tolerance:
            best = max(best, 1 + matches(reported[:i] + reported[i + 1 :], rest, tolerance))
    return best
