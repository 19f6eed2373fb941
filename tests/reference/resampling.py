"""Resampling by walking along the weights."""


def owner(weights, point):
    """The particle on whose stretch a point of [0, 1) falls when the weights are laid end to end."""
    target, end = point * sum(weights), 0.0
    for i, weight in enumerate(weights):
        end += weight
        if target < end:
            return i
    return max(i for i, weight in enumerate(weights) if weight > 0)


def systematic(shift, weights, count):
    return [owner(weights, (shift + k) / count) for k in range(count)]
