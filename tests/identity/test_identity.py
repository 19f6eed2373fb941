"""Identification: distances against slow twins, descriptor, metric, unknown targets and abnormal frames."""

import math

import numpy as np
import pytest
from PIL import Image as Pillow

from development import data_folder
from metrack.box import Box
from metrack.features import colour
from metrack.identity import (
    Gallery,
    Identifier,
    cumulative,
    describe,
    distances,
    metric,
    nearest,
)
from metrack.identity.gallery import RIDGE
from metrack.identity.residual import TemplateSets
from metrack.synth import builtin_clip
from reference import identity as slow
from support.people import COATS, make_gallery, person, whole

NO_DATA = pytest.mark.skipif(data_folder() is None, reason="METRACK_DATA has no sequences")


@pytest.fixture(scope="module")
def gallery():
    return make_gallery(np.random.default_rng(1))


def some_metric(rng, dimension):
    root = rng.normal(size=(dimension, dimension))
    return (root @ root.T / dimension + 0.1 * np.eye(dimension)).astype(np.float32)


class TestDistances:
    def test_are_those_of_the_slow_twin(self, seed):
        rng = np.random.default_rng(seed)
        templates, seen = [rng.normal(size=(n, 15)) for n in (1, 4, 20)], rng.normal(size=(6, 15))
        measure = some_metric(rng, 15)
        expected = slow.distances(templates, seen, RIDGE, measure)
        np.testing.assert_allclose(distances(templates, seen, RIDGE, measure), expected, rtol=1e-3, atol=1e-3)
        sets = TemplateSets(templates, RIDGE, measure)
        np.testing.assert_allclose(sets.distances(seen), expected, rtol=1e-3, atol=1e-3)

    def test_without_a_metric_are_those_of_the_identity(self, seed):
        rng = np.random.default_rng(seed)
        templates, seen = [rng.normal(size=(3, 9)) for _ in range(2)], rng.normal(size=(4, 9))
        expected = slow.distances(templates, seen, RIDGE, np.eye(9))
        np.testing.assert_allclose(TemplateSets(templates, RIDGE).distances(seen), expected, rtol=1e-4, atol=1e-5)

    def test_sums_are_those_of_the_slow_twin(self, seed):
        rng = np.random.default_rng(seed)
        apart, scores = rng.random((7, 3)), rng.random(7)
        np.testing.assert_allclose(cumulative(apart, scores), slow.cumulative(apart, scores), rtol=1e-12)

    def test_the_usual_one_leaves_a_template_out_where_there_are_others(self, seed):
        rng = np.random.default_rng(seed)
        families = {"pair": rng.normal(size=(2, 4, 9)), "alone": rng.normal(size=(1, 4, 9))}
        templates = {name: each[:, 0] for name, each in families.items()}
        pair, alone = families.values()
        explaining = [pair[1, :1], pair[0, :1], alone[0, :1]]
        seen = [pair[0, 1:], pair[1, 1:], alone[0, 1:]]
        apart = [slow.distances([a], b, RIDGE, np.eye(9)) for a, b in zip(explaining, seen, strict=True)]
        made = Gallery.measured(templates, families, None)
        assert made.usual == pytest.approx(np.median(np.concatenate(apart)), rel=1e-3)

    def test_the_identifier_sums_as_the_definition_does(self, gallery, seed):
        rng = np.random.default_rng(seed)
        seen = np.array([describe.describe(describe.normal_size(person(rng, "red"))) for _ in range(5)])
        scores = rng.random(5)
        identifier = Identifier(gallery)
        found = [identifier.take_in(row, score) for row, score in zip(seen, scores, strict=True)]
        expected = distances(gallery.templates, seen, RIDGE, gallery.metric)
        np.testing.assert_allclose([each.distances for each in found], expected, rtol=1e-2, atol=1e-5)
        np.testing.assert_allclose(found[-1].cumulative, slow.cumulative(expected, scores)[-1], rtol=1e-2, atol=1e-5)
        assert gallery.names[nearest(found[-1].cumulative[None])[0]] == found[-1].nearest


class TestDescriptor:
    def test_colours_are_those_of_the_slow_twin(self, seed):
        picture = np.random.default_rng(seed).integers(0, 256, (31, 11, 3)).astype(np.uint8)
        shape = colour.STRIPS, colour.BINS, colour.REACH, colour.MIDDLE, colour.TINT_REMOVED
        np.testing.assert_allclose(
            colour.strips_of_colour(picture), slow.strips_of_colour(picture, *shape), rtol=1e-3, atol=1e-3
        )

    @pytest.mark.parametrize("level", [0, 128, 255])
    def test_a_picture_without_structure_has_one_too(self, level):
        row = describe.describe(describe.normal_size(np.full((40, 20, 3), level, np.uint8)))
        assert np.isfinite(row).all()
        assert row @ row == pytest.approx(1, abs=1e-4)

    def test_a_box_on_a_frame_is_the_crop(self, seed):
        frame = np.random.default_rng(seed).integers(0, 256, (80, 90, 3)).astype(np.uint8)
        on_frame = describe.patch_of(frame, Box(10.2, 5.1, 29.9, 60))
        assert np.array_equal(on_frame, describe.normal_size(frame[5:65, 10:40]))

    def test_grey_frames_are_those_of_equal_channels(self, seed):
        grey = np.random.default_rng(seed).integers(0, 256, (60, 30)).astype(np.uint8)
        coloured = np.repeat(grey[:, :, None], 3, axis=2)
        assert np.array_equal(describe.normal_size(grey), describe.normal_size(coloured))

    def test_little_depends_on_the_size_in_pixels(self, seed):
        small = person(np.random.default_rng(seed), "red")
        large = np.repeat(np.repeat(small, 3, axis=0), 3, axis=1)
        rows = [describe.describe(describe.normal_size(each)) for each in (small, large)]
        other = describe.describe(describe.normal_size(person(np.random.default_rng(seed), "green")))
        assert np.square(rows[0] - rows[1]).sum() < 0.2 * np.square(rows[0] - other).sum()

    def test_more_light_moves_it_less_than_another_coat(self, seed):
        rng = np.random.default_rng(seed)
        red, dim, green = person(rng, "red"), person(rng, "red", light=0.6), person(rng, "green")
        rows = [describe.describe(describe.normal_size(each)) for each in (red, dim, green)]
        assert np.square(rows[0] - rows[1]).sum() < 0.5 * np.square(rows[0] - rows[2]).sum()

    def test_other_light_keeps_the_order_of_values(self, seed):
        ramp = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2)
        relit = describe.relight(np.random.default_rng(seed), ramp)
        assert (np.diff(relit.astype(int), axis=1) >= 0).all()
        assert not np.array_equal(relit, ramp)


class TestMetric:
    def test_triplets_are_a_sample_its_relative_and_a_near_miss(self, seed):
        rng = np.random.default_rng(seed)
        counts, copies = np.full(9, 6), 3
        rows = np.repeat(np.arange(9.0), 6)[:, None] + 0.01 * rng.random((54, 1))
        apart = np.square(rows - rows.T)
        triplets, far = metric.near_miss_triplets(rng, apart, counts, copies)
        target, family = triplets // 6, triplets // copies
        assert (family[:, 0] == family[:, 1]).all()
        assert (triplets[:, 0] != triplets[:, 1]).all()
        gap = np.abs(target[:, 0] - target[:, 2])
        assert gap.min() == 1
        assert gap.max() <= metric.NEAR_MISSES  # never one of the three or more that are farther
        assert far == pytest.approx(apart[triplets[:, 0], triplets[:, 2]].mean())

    def test_what_light_changes_counts_less_afterwards(self, seed):
        rng = np.random.default_rng(seed)
        own = 0.5 * np.eye(3, 20)
        families = [own[k] + 0.4 * rng.normal(size=(4, 5, 1)) * np.eye(1, 20, 10) for k in range(3)]
        learned = metric.learn_from_families(rng, families)
        assert learned[10, 10] < 0.5
        assert learned[0, 0] > 1
        assert np.linalg.eigvalsh(learned).min() > 0.9 * metric.FLOOR

    def test_it_does_not_depend_on_the_unit_of_descriptors(self, seed):
        families = np.random.default_rng(seed).normal(size=(4, 3, 5, 12))
        plain, scaled = (metric.learn_from_families(np.random.default_rng(1), list(s * families)) for s in (1.0, 0.05))
        np.testing.assert_allclose(plain, scaled, atol=0.01)

    def test_one_target_or_equal_ones_teach_nothing(self):
        same = np.ones((2, 1, 5, 8), np.float32)
        assert metric.learn_from_families(np.random.default_rng(0), list(same[:1])) is None
        assert metric.learn_from_families(np.random.default_rng(0), list(same)) is None


class TestAnswers:
    def test_each_person_in_other_light_is_named(self, gallery, seed):
        rng = np.random.default_rng(seed)
        for name in COATS:
            identifier = Identifier(gallery)
            pictures = [person(rng, name, light=0.85) for _ in range(3)]
            assert [identifier.identify(each, whole(each), 0.9).name for each in pictures] == [name] * 3

    def test_a_stranger_is_unknown(self, seed):
        rng = np.random.default_rng(seed)
        picture = person(rng, "green")
        found = Identifier(make_gallery(rng, ("red", "blue"))).identify(picture, whole(picture), 0.9)
        assert found.name is None
        assert found.nearest in ("red", "blue")
        never = Identifier(make_gallery(rng, ("red", "blue")), unknown=math.inf)
        assert never.identify(picture, whole(picture), 0.9).name is not None

    def test_one_target_is_itself_or_unknown(self, seed):
        rng = np.random.default_rng(seed)
        only = make_gallery(rng, ("red",), templates=3)
        assert only.metric is None
        for coat, expected in (("red", "red"), ("blue", None)):
            picture = person(rng, coat)
            assert Identifier(only).identify(picture, whole(picture), 1.0).name == expected

    def test_one_template_each_is_enough(self, seed):
        rng = np.random.default_rng(seed)
        single, picture = make_gallery(rng, templates=1), person(rng, "sand")
        assert Identifier(single).identify(picture, whole(picture), 1.0).name == "sand"

    def test_frames_without_a_score_decide_nothing(self, gallery, seed):
        rng = np.random.default_rng(seed)
        red, blue = person(rng, "red"), person(rng, "blue")
        identifier = Identifier(gallery)
        first = identifier.identify(red, whole(red), 0.0)
        assert first.name is None
        assert first.nearest == "red"
        assert not first.cumulative.any()
        assert identifier.identify(blue, whole(blue), 0.5).name == "blue"
        assert identifier.identify(red, whole(red), 0.0).name == "blue"

    def test_after_reset_another_target_is_followed(self, gallery, seed):
        rng = np.random.default_rng(seed)
        red, blue = person(rng, "red"), person(rng, "blue")
        identifier = Identifier(gallery)
        for _ in range(5):
            identifier.identify(red, whole(red), 1.0)
        assert identifier.identify(blue, whole(blue), 1.0).nearest == "red"
        identifier.reset()
        assert identifier.identify(blue, whole(blue), 1.0).name == "blue"

    def test_it_goes_on_where_it_stopped(self, gallery, seed):
        rng = np.random.default_rng(seed)
        rows = [describe.describe(describe.normal_size(person(rng, "red"))) for _ in range(4)]
        whole_run, first = Identifier(gallery), Identifier(gallery)
        expected = [whole_run.take_in(row, 0.7) for row in rows][-1]
        for row in rows[:2]:
            first.take_in(row, 0.7)
        second = Identifier.from_dict(gallery, first.to_dict())
        found = [second.take_in(row, 0.7) for row in rows[2:]][-1]
        assert np.array_equal(found.cumulative, expected.cumulative)

    def test_a_covered_target_is_abnormal_and_an_uncovered_one_is_not(self):
        clip = builtin_clip(frames=120, departure=False, twin=False, lighting=False)
        visible = np.array([truth.visible for truth in clip.truth])
        covered = np.flatnonzero(visible < 0.3)
        free = np.flatnonzero((visible == 1) & (np.arange(120) < covered[0]))
        names = [("balloon", clip[i], clip.truth[i].box) for i in free[:10:3]] + [("sky", clip[0], (5, 5, 40, 50))]
        identifier = Identifier(Gallery.from_boxes(names))
        found = {i: identifier.identify(clip[i], clip.truth[i].box, 0.9) for i in [*free, *covered]}
        assert not any(found[i].abnormal for i in free)
        assert np.mean([found[i].abnormal for i in covered]) > 0.8
        assert min(found[i].error for i in covered) > max(found[i].error for i in free)


@pytest.mark.data
@NO_DATA
def test_people_of_one_camera_are_named_in_another():
    people = sorted((data_folder() / "people" / "market-100").iterdir())[1:13:2]
    crops = [(each.name, path) for each in people for path in sorted(each.glob("*.jpg"))]
    first = {name: path.name.split("_")[1][:2] for name, path in reversed(crops)}
    pictures = [(name, path.name.split("_")[1][:2], np.array(Pillow.open(path))) for name, path in crops]
    known = [(name, picture, whole(picture)) for name, camera, picture in pictures if camera == first[name]]
    made = Gallery.from_boxes(known)
    identifiers = {name: Identifier(made, unknown=math.inf) for name in first}
    found = [
        identifiers[name].identify(picture, whole(picture), 1.0).name == name
        for name, camera, picture in pictures
        if camera != first[name]
    ]
    assert np.mean(found) > 0.6
