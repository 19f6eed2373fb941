"""Distances to known targets, over frames, and the metric they are measured in."""

import numpy as np
import pytest

from metrack import identity
from metrack.config import preset
from metrack.metric.projection import FLOOR


def test_distances_are_those_of_least_squares(seed):
    rng = np.random.default_rng(seed)
    templates, seen = [rng.normal(size=(n, 12)) for n in (3, 5)], rng.normal(size=(4, 12))
    root = rng.normal(size=(12, 12))
    metric = root.T @ root
    found = identity.distances(templates, seen, 0.0, metric)
    for k, known in enumerate(templates):
        codes = np.linalg.lstsq(root @ known.T, root @ seen.T, rcond=None)[0]
        expected = np.square(root @ (seen.T - known.T @ codes)).sum(axis=0)
        np.testing.assert_allclose(found[:, k], expected, rtol=1e-3, atol=1e-3)


def test_together_frames_outvote_one_that_misleads():
    frames = np.array([[1.0, 3.0], [5.0, 4.0], [1.0, 3.0]])
    assert identity.nearest(frames).tolist() == [0, 1, 0]
    assert identity.nearest(identity.cumulative(frames, np.ones(3))).tolist() == [0, 0, 0]
    scores = np.array([0.1, 1.0, 0.1])  # but not where only the misleading one was followed well
    assert identity.nearest(identity.cumulative(frames, scores)).tolist() == [0, 1, 1]


def test_the_metric_brings_samples_of_one_target_together(seed):
    rng = np.random.default_rng(seed)
    ways = np.eye(2, 20)
    nuisance = np.linspace(-0.5, 0.5, 10)[:, None] * np.eye(1, 20, 5)  # as loud for any seed
    templates = [0.5 * way + rng.permutation(nuisance) for way in ways]
    settings = preset("paper").metric
    metric = identity.learn_metric(rng, templates, settings)
    np.testing.assert_allclose(metric, metric.T, atol=1e-6)
    assert np.linalg.eigvalsh(metric).min() > 0.9 * FLOOR
    assert metric[5, 5] < 0.5
    assert metric[0, 0] > 1


def test_a_target_without_templates_is_refused():
    for templates in ([], [np.empty((0, 3))]):
        with pytest.raises(ValueError, match="at least one descriptor of every target"):
            identity.distances(templates, np.ones((1, 3)), 0.02)
