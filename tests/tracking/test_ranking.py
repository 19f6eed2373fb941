"""What an appearance learns from boxes that overlap the estimate more or less."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from metrack.config import RankingConfig
from metrack.metric.projection import FLOOR
from metrack.metric.structured import ITERATIONS
from metrack.tracking.appearance import Lesson
from reference import structured as structured_reference
from support.appearance import (
    DIMENSION,
    LEARNING,
    PER_FRAME,
    appearance,
    assert_healthy,
    run,
    two_clusters,
    unit_rows,
)

pytestmark = pytest.mark.usefixtures("one_thread")


class TestRanking:
    """Boxes around the estimate, the more different the less they overlap it, in a direction nobody weighted yet."""

    @pytest.fixture
    def rng(self, seed):
        return np.random.default_rng(seed)

    def lesson(self, rng, boxes=15):
        foreground, background = two_clusters(rng, PER_FRAME)
        overlaps = np.r_[1.0, rng.uniform(0.0, 1.0, boxes - 1)]
        ranked = foreground[0] + 0.3 * rng.normal(size=(boxes, DIMENSION)) / np.sqrt(DIMENSION)
        ranked[:, 2] += 0.5 * (1 - overlaps)
        ranked[0] = foreground[0]
        return Lesson(foreground, background, ranked.astype(np.float32), overlaps)

    def taught(self, rng, frames=8, **changes):
        model = run(appearance(metric__every=0, **changes), rng, 1)
        for frame in range(1, frames):
            model.learn(rng, frame, self.lesson(rng))
        return model

    @pytest.mark.parametrize("learning", LEARNING)
    def test_metric_and_gram_matrices_stay_in_step(self, rng, learning):
        model = self.taught(rng, metric__learning=learning)
        space = model.space
        assert_allclose(space.weighted, space.samples @ space.metric @ space.samples.T, rtol=0, atol=1e-5)
        assert (model.steps_taken == 0) == (learning == "off")
        if learning not in ("off", "unprojected"):
            assert np.linalg.eigvalsh(space.metric.astype(float))[0] > FLOOR - 1e-5
        assert_healthy(model, rng)

    @pytest.mark.parametrize("solver", ["quadratic", "linear"])
    def test_what_overlap_depends_on_is_what_counts(self, rng, solver):
        M = self.taught(rng, ranking__solver=solver).space.metric
        others = np.delete(np.diagonal(M), 2)
        assert M[2, 2] > 1.5 > others.max()

    def test_one_round_is_the_sum_of_its_steps(self, rng):
        model = run(appearance(metric__every=0, metric__learning="unprojected"), rng, 1)
        lesson = self.lesson(rng)
        model.learn(rng, 1, lesson)
        differences = (lesson.ranked - lesson.foreground[0]).astype(float)
        expected, _ = structured_reference.learn(
            differences, lesson.overlaps, np.eye(DIMENSION), RankingConfig().step_limit, ITERATIONS
        )
        assert_allclose(model.space.metric, expected, rtol=0, atol=2e-3)

    @pytest.mark.parametrize("limit", [0.0, 1.0])
    def test_boxes_that_are_all_alike_teach_nothing(self, rng, limit):
        model = run(appearance(metric__every=0, ranking__step_limit=limit), rng, 1)
        samples = unit_rows(rng, PER_FRAME)
        for boxes in (1, 10):
            alike = np.repeat(samples[:1], boxes, axis=0)
            model.learn(rng, 1, Lesson(samples, unit_rows(rng, PER_FRAME), alike, np.linspace(1, 0.2, boxes)))
            assert_array_equal(model.space.metric, np.eye(DIMENSION))
        assert_healthy(model, rng)

    def test_no_limit_no_change(self, rng):
        model = run(appearance(metric__every=0, ranking__step_limit=0.0), rng, 1)
        model.learn(rng, 1, self.lesson(rng))
        assert_array_equal(model.space.metric, np.eye(DIMENSION))
