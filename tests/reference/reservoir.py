"""Reservoir sampling word for word, and the exact probabilities of what it keeps."""

import numpy as np


def printed_keys(uniforms, growth, frames):
    """The keys as the paper prints them; in double precision good for short streams only."""
    return np.asarray(uniforms) ** (1.0 / growth ** np.asarray(frames, float))


def sequential(keys, size):
    """Algorithm 4, one sample after another: {slot: sample} once all have passed."""
    slots = {}
    for sample, key in enumerate(keys):
        if len(slots) < size:
            slots[len(slots)] = sample
            continue
        weakest = min(slots, key=lambda slot: keys[slots[slot]])
        if key > keys[slots[weakest]]:
            slots[weakest] = sample
    return slots


def inclusion_probabilities(weights, size):
    """Chance of each sample to be among `size` drawn one by one, each draw in proportion to the weights left.

    Walks through all sets that can have been drawn so far: exact, for a handful of samples.
    """
    n, total = len(weights), sum(weights)
    reached = {frozenset(): 1.0}
    for _ in range(size):
        following = {}
        for drawn, chance in reached.items():
            left = total - sum(weights[i] for i in drawn)
            for i in set(range(n)) - drawn:
                bigger = drawn | {i}
                following[bigger] = following.get(bigger, 0.0) + chance * weights[i] / left
        reached = following
    return np.array([sum(chance for drawn, chance in reached.items() if i in drawn) for i in range(n)])


def buffer_mean(values, weights, size):
    """Exact expectation of the average over a buffer filled without replacement."""
    return float(inclusion_probabilities(weights, size) @ np.asarray(values, float)) / size
