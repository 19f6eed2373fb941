"""What an appearance remembers, learns and answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from metrack.config import PAPER
from metrack.metric.projection import FLOOR
from metrack.metric.sample_space import BACKGROUND, FOREGROUND
from metrack.representation.metric_weighted import residual_energy
from metrack.representation.residuals import SAME
from metrack.tracking.appearance import REFRESH_EVERY, Appearance, Lesson
from reference import representation as reference
from support.appearance import (
    DIMENSION,
    LEARNING,
    PER_FRAME,
    SIZE,
    appearance,
    assert_healthy,
    run,
    two_clusters,
    unit_rows,
)

pytestmark = pytest.mark.usefixtures("one_thread")

SAMPLING = ("time-weighted", "uniform", "with-replacement", "everything")


@pytest.mark.parametrize("sampling", SAMPLING)
@pytest.mark.parametrize("learning", LEARNING)
def test_sixty_frames_of_every_kind_of_learning_and_sampling(learning, sampling, seed):
    rng = np.random.default_rng(seed)
    model = appearance(metric__learning=learning, memory__sampling=sampling)
    run(model, rng, 60)
    assert_healthy(model, rng)
    kept = 60 * PER_FRAME if sampling == "everything" else SIZE
    assert model.space.counts == [kept, kept]
    if sampling != "everything":
        assert len(model.space.samples) == 2 * SIZE
    if learning == "off":
        assert_array_equal(model.space.metric, np.eye(DIMENSION))
    else:
        assert model.steps_taken > 0
    if learning in ("guarded", "projected-round", "projected-step"):
        assert np.linalg.eigvalsh(model.space.metric.astype(float))[0] > FLOOR - 1e-4


class TestEnergies:
    @pytest.mark.parametrize("ridge", [0.02, 1.0])
    @pytest.mark.parametrize("learning", ["off", "guarded", "projected-round"])
    def test_agree_with_least_squares_on_what_is_remembered(self, learning, ridge, seed):
        rng = np.random.default_rng(seed)
        model = run(appearance(metric__learning=learning, representation__ridge=ridge), rng, 30)
        candidates, M = unit_rows(rng, 5), model.space.metric
        for label, actual in enumerate(model.energies(candidates)):
            P = model.space.samples[model.space.block(label)]
            absolute = ridge * reference.ridge_unit(P, M)
            expected = np.array([reference.theta_whitened(P, y, M, absolute) for y in candidates])
            assert_allclose(actual, expected, rtol=0, atol=2e-5 * np.abs(M).max())

    def test_agree_with_residual_energy(self, seed):
        rng = np.random.default_rng(seed)
        model = run(appearance(), rng, 30)
        candidates, space = unit_rows(rng, 9), model.space
        for label, actual in enumerate(model.energies(candidates)):
            P = space.samples[space.block(label)]
            ridge = 0.02 * reference.ridge_unit(P, space.metric)
            expected = residual_energy(P, candidates, space.metric, ridge)
            assert_allclose(actual, expected, rtol=0, atol=2e-5 * np.abs(space.metric).max())

    def test_many_candidates_have_the_energies_they_have_alone(self, seed):
        rng = np.random.default_rng(seed)

        def directions(count):
            rows = rng.standard_normal((count, 20)).astype(np.float32)
            return rows / np.linalg.norm(rows, axis=1, keepdims=True)

        for ridge in (0.02, 0.0):
            appearance = Appearance(PAPER.replace({"representation.ridge": ridge, "memory.size": 12}), 20)
            for frame in range(6):
                appearance.learn(rng, frame, Lesson(directions(4), directions(4)))
            candidates = directions(100)
            alone = [appearance.energies(candidates[i : i + 10]) for i in range(0, 100, 10)]
            np.testing.assert_allclose(
                appearance.energies(candidates), np.concatenate(alone, axis=1), atol=2e-5 if ridge else 1e-3
            )

    @pytest.mark.parametrize("learning", ["off", "guarded"])
    def test_followed_from_frame_to_frame_they_are_those_of_what_is_remembered(self, learning, seed):
        rng = np.random.default_rng(seed)
        model = appearance(metric__learning=learning, metric__step_limit=0.1)
        for frame in range(60):
            run(model, rng, 1, first=frame)
            candidates, space = unit_rows(rng, 5), model.space
            for label, actual in enumerate(model.energies(candidates)):
                P = space.samples[space.block(label)]
                ridges = 0.02 * reference.ridge_unit(P, space.metric) * np.array([1 - SAME, 1.0, 1 + SAME])
                low, middle, high = (residual_energy(P, candidates, space.metric, ridge) for ridge in ridges)
                rounding = 2e-5 * np.abs(space.metric).max()
                assert (actual >= low - rounding).all()
                assert (actual <= high + rounding).all()
                if learning == "off":  # then the ridge never changes
                    assert_allclose(actual, middle, rtol=0, atol=rounding)

    @pytest.mark.parametrize("damage", [np.nan, -1e3, 1e3])
    def test_a_form_that_rounding_has_spoilt_is_made_anew(self, damage, seed):
        rng = np.random.default_rng(seed)
        model = run(appearance(metric__learning="off"), rng, 10)
        arrays = {name: array.copy() for name, array in model.to_arrays().items()}
        arrays["residuals_forms"][0] += np.float32(damage)
        model.restore(arrays)
        run(model, rng, 1, first=10)
        candidates, P = unit_rows(rng, 5), model.space.samples[model.space.block(FOREGROUND)]
        M = model.space.metric
        expected = residual_energy(P, candidates, M, 0.02 * reference.ridge_unit(P, M))
        assert_allclose(model.energies(candidates)[0], expected, rtol=0, atol=2e-5)

    def test_before_the_buffers_are_full(self, seed):
        rng = np.random.default_rng(seed)
        assert_healthy(run(appearance(), rng, 1), rng)

    def test_one_sample_of_each_class(self, seed):
        rng = np.random.default_rng(seed)
        model = appearance(memory__size=1)
        for frame in range(3):
            model.learn(rng, frame, Lesson(unit_rows(rng, 1), unit_rows(rng, 1)))
        assert model.steps_taken == 0  # there is no relative to be near to
        assert_healthy(model, rng)

    def test_candidates_are_untouched_and_asking_twice_is_the_same(self, seed):
        rng = np.random.default_rng(seed)
        model = run(appearance(), rng, 10)
        candidates = unit_rows(rng, 6)
        before = candidates.copy()
        first, second = model.energies(candidates), model.energies(candidates)
        assert_array_equal(candidates, before)
        assert_array_equal(first, second)

    def test_without_texture_everything_is_explained(self):
        rng, nothing = np.random.default_rng(0), np.zeros((PER_FRAME, DIMENSION), np.float32)
        model = appearance()
        for frame in range(10):
            model.learn(rng, frame, Lesson(nothing, nothing))
        assert_array_equal(model.energies(nothing), 0)
        assert_healthy(model, rng)


class TestLearning:
    @staticmethod
    def gap(model, rng):
        """How much better each class is explained by its own than by the other, in parts of the whole."""
        on, beside = two_clusters(rng, 200)
        (on_f, on_b), (beside_f, beside_b) = model.energies(on), model.energies(beside)
        total = sum(theta.mean() for theta in (on_f, on_b, beside_f, beside_b))
        return ((on_b - on_f).mean() + (beside_f - beside_b).mean()) / total

    @pytest.mark.parametrize("learning", ["guarded", "projected-round", "projected-step"])
    def test_the_metric_separates_the_classes_better(self, learning, seed):
        gaps = {}
        for each in ("off", learning):
            rng = np.random.default_rng(seed)
            model = appearance(metric__learning=each, metric__step_limit=0.1)
            for frame in range(40):
                model.learn(rng, frame, Lesson(*two_clusters(rng, PER_FRAME)))
            gaps[each] = self.gap(model, np.random.default_rng(seed + 1000))
        assert gaps["off"] > 0  # measured: the metric makes it 1.2 to 1.8 times as large
        assert gaps[learning] > 1.1 * gaps["off"]

    def test_only_every_so_many_frames(self, seed):
        rng = np.random.default_rng(seed)
        model, changed = appearance(metric__every=5), []
        for frame in range(20):
            before = model.space.metric.copy()
            run(model, rng, 1, first=frame)
            changed.append(not np.array_equal(model.space.metric, before))
        assert [frame for frame in range(20) if frame % 5 and changed[frame]] == []
        assert changed[5]
        assert changed[10]

    def test_buffers_keep_the_newest_under_strong_growth(self, seed):
        rng = np.random.default_rng(seed)
        model = appearance(memory__growth=100.0, metric__learning="off")
        for frame in range(40):
            level = np.full((PER_FRAME, DIMENSION), frame, np.float32)
            model.learn(rng, frame, Lesson(level, -level))
        for label, sign in ((FOREGROUND, 1), (BACKGROUND, -1)):
            remembered = sign * model.space.samples[model.space.block(label)][:, 0]
            assert remembered.min() > 20

    def test_gram_matrices_belong_to_what_is_remembered(self, seed):
        rng = np.random.default_rng(seed)
        model = run(appearance(), rng, REFRESH_EVERY - 1)  # the longest stretch without a refresh
        S, M = model.space.samples.astype(float), model.space.metric.astype(float)
        assert_allclose(model.space.gram, S @ S.T, rtol=0, atol=1e-5)
        assert_allclose(model.space.weighted, S @ M @ S.T, rtol=0, atol=1e-4 * np.abs(M).max())


class TestExtremes:
    @pytest.mark.parametrize("sampling", SAMPLING)
    @pytest.mark.parametrize("ridge", [0.0, 1.0])
    @pytest.mark.parametrize("learning", LEARNING)
    def test_huge_steps_and_margin(self, learning, ridge, sampling, seed):
        rng = np.random.default_rng(seed)
        model = appearance(
            metric__learning=learning,
            metric__step_limit=1e6,
            metric__margin=1e3,
            metric__triplets=15,
            memory__sampling=sampling,
            representation__ridge=ridge,
        )
        assert_healthy(run(model, rng, 60), rng)

    @pytest.mark.parametrize("learning", LEARNING)
    def test_the_same_sample_again_and_again(self, learning, seed):
        rng = np.random.default_rng(seed)
        same = np.repeat(unit_rows(rng, 1), PER_FRAME, axis=0)
        model = appearance(metric__learning=learning, representation__ridge=0.0)
        for frame in range(20):
            model.learn(rng, frame, Lesson(same, same))
        assert_healthy(model, rng)
        assert_allclose(model.energies(same), 0, atol=1e-4)

    @pytest.mark.parametrize("learning", LEARNING)
    def test_nothing_allowed(self, learning, seed):
        rng = np.random.default_rng(seed)
        model = run(appearance(metric__learning=learning, metric__step_limit=0.0), rng, 20)
        assert model.steps_taken == 0
        assert_allclose(model.space.metric, np.eye(DIMENSION), rtol=0, atol=1e-6)


@pytest.mark.parametrize("sampling", SAMPLING)
def test_saved_and_restored_it_goes_on_bit_for_bit(sampling, seed):
    model, other = appearance(memory__sampling=sampling), appearance(memory__sampling=sampling)
    run(model, np.random.default_rng(seed), 12)
    other.restore({k: np.array(v) for k, v in model.to_arrays().items()})
    candidates = unit_rows(np.random.default_rng(seed), 8)
    assert_array_equal(other.energies(candidates), model.energies(candidates))
    for each in (model, other):
        run(each, np.random.default_rng(seed + 1), 5, first=12)
    for name, array in model.to_arrays().items():
        assert_array_equal(other.to_arrays()[name], array)
    assert_array_equal(other.energies(candidates), model.energies(candidates))
