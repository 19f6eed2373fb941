"""Boxes around an estimate whose distances are to be ranked."""

import numpy as np

from metrack.box import iou
from metrack.metric.structured import learn_ranking
from reference import structured as reference

CONVERGED = 1000  # iterations that are never needed


class Scene:
    """Boxes around an estimate: differences of descriptors, overlaps, and a metric."""

    def __init__(self, differences, overlaps, metric=None):
        self.differences, self.overlaps = np.asarray(differences, float), np.asarray(overlaps, float)
        self.metric = np.eye(self.differences.shape[1]) if metric is None else metric
        self.products = self.differences @ self.differences.T
        self.distances = np.einsum("bd,de,be->b", self.differences, self.metric, self.differences)

    def learn(self, *args, **settings):
        return learn_ranking(self.products, self.distances, self.overlaps, *args, **settings)

    def after(self, steps):
        """The metric that the steps lead to."""
        push, pull = steps.push(self.differences), steps.pull(self.differences)
        return self.metric + push.T @ push - pull.T @ pull

    def worst(self, metric):
        return reference.all_losses(self.differences, self.overlaps, metric)[0][0]


def scattered(rng, boxes=8, dimension=4):
    """Differences and overlaps that have nothing to do with each other, in a metric of some kind."""
    root = rng.normal(size=(dimension, dimension)) / np.sqrt(dimension)
    return Scene(rng.normal(size=(boxes, dimension)) / 2, rng.random(boxes), root @ root.T)


def around(rng, boxes=50, dimension=405, energy=0.3):
    """Like the tracker's own: descriptors of squared length 0.3 that lose their likeness within half a box."""
    shifts = np.vstack([np.zeros(2), rng.uniform(-1, 1, (boxes, 2))])  # in sizes of the box; the estimate first
    waves, phases = rng.normal(size=(2, dimension)) * 4, rng.uniform(0, 2 * np.pi, dimension)
    descriptors = np.maximum(np.cos(shifts @ waves + phases), 0)  # with many zeros, as histograms are
    descriptors *= np.sqrt(energy) / np.linalg.norm(descriptors, axis=1, keepdims=True)
    corners = np.hstack([shifts, np.ones_like(shifts)])
    return Scene(descriptors[0] - descriptors[1:], np.ravel(iou(corners[1:], corners[:1])))


def pairs_of(rng, boxes, count):
    """Pairs of two different boxes."""
    mu = rng.integers(0, boxes, count)
    return np.stack([mu, (mu + rng.integers(1, boxes, count)) % boxes], axis=1)
