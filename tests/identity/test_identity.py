"""Who is it: distances against slow twins, galleries from every source, unknown and abnormal answers, refusals."""

import math
import time

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
from metrack.identity.crops import MOST_TEMPLATES, spread
from metrack.identity.gallery import COPIES, RIDGE
from metrack.identity.residual import TemplateSets
from metrack.synth import builtin_clip
from reference import identity as slow

NO_DATA = pytest.mark.skipif(data_folder() is None, reason="METRACK_DATA has no sequences")
COATS = {"red": (200, 40, 30), "green": (30, 160, 50), "blue": (40, 60, 190), "sand": (210, 180, 130)}


def person(rng, coat, size=(48, 96), light=1.0):
    """A figure in a coat and dark trousers before a noisy grey wall."""
    width, height = size
    picture = np.full((height, width, 3), 120.0) + rng.normal(0, 12, (height, width, 3))
    left, right = width // 4, width - width // 4
    picture[: height // 2, left:right] = np.array(COATS[coat]) + rng.normal(0, 12, (height // 2, right - left, 3))
    picture[height // 2 :, left:right] = np.array((50, 50, 60)) + rng.normal(
        0, 12, (height - height // 2, right - left, 3)
    )
    return np.clip(picture * light, 0, 255).astype(np.uint8)


def whole(picture):
    return (0, 0, picture.shape[1], picture.shape[0])


def make_gallery(rng, names=tuple(COATS), templates=4):
    seen = [(name, person(rng, name)) for name in names for _ in range(templates)]
    return Gallery.from_boxes((name, picture, whole(picture)) for name, picture in seen)


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


class TestSources:
    def test_a_folder_of_crops_is_the_boxes_of_them(self, tmp_path, seed):
        rng = np.random.default_rng(seed)
        seen = [(name, person(rng, name)) for name in COATS for _ in range(2)]
        for number, (name, picture) in enumerate(seen):
            (tmp_path / name).mkdir(exist_ok=True)
            Pillow.fromarray(picture).save(tmp_path / name / f"{number}.png")
        (tmp_path / "notes.txt").touch()
        folder = Gallery.from_folder(tmp_path)
        boxes = Gallery.from_boxes(
            (name, picture, whole(picture)) for name, picture in sorted(seen, key=lambda v: v[0])
        )
        assert folder.names == boxes.names == tuple(sorted(COATS))
        assert np.array_equal(np.concatenate(folder.templates), np.concatenate(boxes.templates))
        assert np.array_equal(folder.metric, boxes.metric)

    def test_of_many_crops_evenly_spread_ones_are_taken(self):
        chosen = spread(list(range(1000)))
        assert len(chosen) == MOST_TEMPLATES
        assert (chosen[0], chosen[-1]) == (0, 999)
        assert max(np.diff(chosen)) - min(np.diff(chosen)) <= 1
        assert spread([1, 2]) == [1, 2]

    def test_the_same_views_and_seed_make_the_same_gallery(self, seed):
        made = [make_gallery(np.random.default_rng(seed), ("red", "blue")) for _ in range(2)]
        assert np.array_equal(made[0].metric, made[1].metric)
        assert made[0].usual == made[1].usual


class TestOnDisk:
    def test_what_was_saved_is_read_back(self, gallery, tmp_path):
        gallery.save(tmp_path / "known.npz")
        again = Gallery.load(tmp_path / "known.npz")
        assert again.names == gallery.names
        assert again.usual == gallery.usual
        row = gallery.templates[0][:1]
        assert np.array_equal(again.distances(row), gallery.distances(row))

    def test_a_gallery_without_a_metric_too(self, tmp_path, seed):
        make_gallery(np.random.default_rng(seed), ("red",)).save(tmp_path / "one.npz")
        assert Gallery.load(tmp_path / "one.npz").metric is None

    def test_nothing_in_it_is_pickled(self, gallery, tmp_path):
        gallery.save(tmp_path / "known.npz")
        with np.load(tmp_path / "known.npz", allow_pickle=False) as stored:
            assert {stored[name].dtype.kind for name in stored.files} <= {"u", "f"}

    def test_other_files_are_refused(self, tmp_path):
        with pytest.raises(
            ValueError, match="gallery must be a file made by metrack gallery build, but there is no file"
        ):
            Gallery.load(tmp_path / "none.npz")
        (tmp_path / "text.npz").write_text("no")
        np.savez(tmp_path / "other.npz", a=np.ones(3))
        for name in ("text.npz", "other.npz"):
            with pytest.raises(ValueError, match=f"but .*{name} is not one"):
                Gallery.load(tmp_path / name)


class TestRefusals:
    def test_no_folder_no_targets_no_images(self, tmp_path):
        with pytest.raises(ValueError, match=r"one folder of crops per target, but there is no '.*away'"):
            Gallery.from_folder(tmp_path / "away")
        with pytest.raises(ValueError, match=r"one folder of crops per target, but '.*' holds no folders"):
            Gallery.from_folder(tmp_path)
        (tmp_path / "ann").mkdir()
        (tmp_path / "ann" / "readme.txt").touch()
        with pytest.raises(ValueError, match=r"every target of a gallery must have an image, but '.*ann' has none"):
            Gallery.from_folder(tmp_path)

    def test_a_crop_of_one_pixel_and_one_that_is_no_image(self, tmp_path):
        (tmp_path / "ann").mkdir()
        Pillow.fromarray(np.zeros((1, 1, 3), np.uint8)).save(tmp_path / "ann" / "1.png")
        with pytest.raises(ValueError, match=r"crop '.*1.png' must be at least 4 pixels on each side, got 1 x 1"):
            Gallery.from_folder(tmp_path)
        (tmp_path / "ann" / "1.png").write_text("no picture")
        with pytest.raises(ValueError, match=r"gallery must have readable images, but '.*1.png' cannot be read as one"):
            Gallery.from_folder(tmp_path)

    def test_nothing_at_all(self):
        with pytest.raises(ValueError, match="a gallery must hold at least one target, got none"):
            Gallery.from_crops([])

    @pytest.mark.parametrize("score", [-0.1, 1.1, math.nan])
    def test_a_score_that_is_none(self, gallery, score):
        with pytest.raises(ValueError, match="score must be a number between 0 and 1"):
            Identifier(gallery).identify(np.zeros((50, 50, 3), np.uint8), (0, 0, 20, 20), score)

    def test_boxes_limits_and_states_that_do_not_fit(self, gallery):
        with pytest.raises(ValueError, match="box must be at least 4 pixels"):
            Identifier(gallery).identify(np.zeros((50, 50, 3), np.uint8), (0, 0, 1, 1), 0.5)
        with pytest.raises(ValueError, match="unknown must be a number above 0, got 0"):
            Identifier(gallery, unknown=0)
        with pytest.raises(ValueError, match="values must have 4 sums, one per target, got 1"):
            Identifier.from_dict(gallery, {"sums": [0.0], "weight": 0.0})


@pytest.fixture(scope="module")
def crowd():
    """A thousand targets of one template each, how they look in other light, and how long learning them took."""
    rng = np.random.default_rng(0)
    centres = np.abs(rng.normal(size=(1000, 1, describe.DIMENSION)))
    rows = centres + 0.2 * rng.normal(size=(1000, 1 + COPIES, describe.DIMENSION))
    rows = (rows / np.linalg.norm(rows, axis=2, keepdims=True)).astype(np.float32)
    families = {f"{number:04}": each[None] for number, each in enumerate(rows)}
    begun = time.perf_counter()
    made = Gallery.learn({name: each[:, 0] for name, each in families.items()}, families, rng)
    return made, rows, time.perf_counter() - begun


class TestThousand:
    def test_all_are_told_apart(self, crowd):
        made, rows, _ = crowd
        assert len(made) == 1000
        assert made.metric is not None
        assert np.array_equal(nearest(made.distances(rows[:, 1])), np.arange(1000))

    def test_in_reasonable_time(self, crowd):
        made, rows, building = crowd
        assert building < 60
        assert seconds(made, rows[:20, 1]) < 0.1

    def test_a_frame_costs_less_than_in_proportion_to_the_targets(self, crowd):
        made, rows, _ = crowd
        few = Gallery(made.names[:10], made.templates[:10], made.metric, made.usual)
        assert seconds(made, rows[:20, 1]) < 50 * seconds(few, rows[:20, 1])


def seconds(known, rows):
    """The quickest of several frames."""
    taken = []
    for row in rows:
        begun = time.perf_counter()
        known.distances(row[None])
        taken.append(time.perf_counter() - begun)
    return min(taken)


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
