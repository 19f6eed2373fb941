"""A small model of an appearance, and samples for it."""

import numpy as np

from metrack.config import (
    MemoryConfig,
    MetricConfig,
    MotionConfig,
    RankingConfig,
    RepresentationConfig,
    TrackerConfig,
)
from metrack.representation.metric_weighted import score
from metrack.tracking.appearance import Appearance, Lesson

LEARNING = ("off", "guarded", "unprojected", "projected-round", "projected-step")
DIMENSION, SIZE, PER_FRAME = 30, 20, 4

BASE = {
    "motion.particles": 200,
    "memory.size": SIZE,
    "memory.sampling": "time-weighted",
    "memory.growth": 1.6,
    "metric.learning": "guarded",
    "metric.triplets": 30,
    "metric.margin": 1.0,
    "metric.step_limit": 1.0,
    "metric.every": 1,
    "representation.ridge": 0.02,
}


def appearance(dimension=DIMENSION, **changes):
    """Settings are given with __ for the dot."""
    values = BASE | {name.replace("__", "."): value for name, value in changes.items()}
    sections = {
        "motion": MotionConfig,
        "memory": MemoryConfig,
        "metric": MetricConfig,
        "representation": RepresentationConfig,
        "ranking": RankingConfig,
    }
    parts = {
        name: section(**{k.partition(".")[2]: v for k, v in values.items() if k.startswith(f"{name}.")})
        for name, section in sections.items()
    }
    return Appearance(TrackerConfig(**parts), dimension)


def unit_rows(rng, n, D=DIMENSION):
    rows = rng.normal(size=(n, D))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def two_clusters(rng, n, D=DIMENSION):
    """Foreground and background, each with a direction of its own under noise in all."""
    rows = rng.normal(size=(2, n, D)) / np.sqrt(D)
    rows[0, :, 0] += 0.7
    rows[1, :, 1] += 0.7
    return tuple((r / np.linalg.norm(r, axis=1, keepdims=True)).astype(np.float32) for r in rows)


def run(model, rng, frames, draw=unit_rows, first=0):
    for frame in range(first, first + frames):
        model.learn(rng, frame, Lesson(draw(rng, PER_FRAME), draw(rng, PER_FRAME)))
    return model


def assert_healthy(model, rng):
    theta_f, theta_b = model.energies(unit_rows(rng, 50))
    assert theta_f.shape == theta_b.shape == (50,)
    for theta in (theta_f, theta_b):
        assert np.isfinite(theta).all()
        assert (theta >= 0).all()
    similarity = score(theta_f, theta_b, 1.0, 1.0, 0.1)
    assert ((similarity >= 0) & (similarity <= 1)).all()
    for matrix in (model.space.metric, model.space.gram, model.space.weighted):
        assert np.isfinite(matrix).all()
