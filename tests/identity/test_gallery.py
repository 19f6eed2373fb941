"""Galleries: from every source, saved and loaded, refused, and with a thousand targets."""

import math
import time
from contextlib import nullcontext

import numpy as np
import pytest
from PIL import Image as Pillow

from metrack.files import read_state, write_state
from metrack.identity import (
    Gallery,
    Identifier,
    describe,
    nearest,
)
from metrack.identity.crops import MOST_TEMPLATES, spread
from metrack.identity.gallery import COPIES
from support.people import COATS, make_gallery, person, whole


@pytest.fixture(scope="module")
def gallery():
    return make_gallery(np.random.default_rng(1))


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
            with pytest.raises(ValueError, match=f"but .*{name}' is not one"):
                Gallery.load(tmp_path / name)

    @pytest.mark.parametrize(
        "change",
        [
            {"kind": "other"},
            {"names": ["red", "red"]},
            {"names": ["red", 1]},
            {"counts": [-1, 10**9]},
            {"counts": [0, 2]},
            {"usual": 0.0},
            {"usual": "far"},
        ],
    )
    def test_values_that_no_gallery_has_are_refused(self, gallery, tmp_path, change):
        gallery.save(tmp_path / "known.npz")
        meta, arrays = read_state(tmp_path / "known.npz")
        own = {name: value for name, value in meta.items() if name not in ("format", "metrack")}
        write_state(tmp_path / "changed.npz", own | change, arrays)
        with pytest.raises(ValueError, match=r"gallery must be .* but .*changed\.npz' is not one"):
            Gallery.load(tmp_path / "changed.npz")

    @pytest.mark.parametrize(
        ("name", "change"),
        [
            ("metric", lambda a: -a),
            ("metric", lambda a: a * np.nan),
            ("templates", lambda a: a * 50),
            ("templates", lambda a: a * 0),
            ("templates", lambda a: a[:, :-1]),
            ("odd", np.array),
        ],
    )
    def test_numbers_that_no_gallery_has_are_refused(self, gallery, tmp_path, name, change):
        gallery.save(tmp_path / "known.npz")
        meta, arrays = read_state(tmp_path / "known.npz")
        own = {name: value for name, value in meta.items() if name not in ("format", "metrack")}
        write_state(tmp_path / "changed.npz", own, {**arrays, name: change(arrays.get(name, np.zeros(3)))})
        with pytest.raises(ValueError, match=r"gallery must be .* but .*changed\.npz' is not one"):
            Gallery.load(tmp_path / "changed.npz")


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
        with pytest.raises(ValueError, match=r"gallery must have readable images, but '.*1.png' cannot be read"):
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


@pytest.mark.parametrize(("name", "fits"), [("山田　太郎", 1), ("a\u200cb", 1), ("a\nb", 0), ("a" * 201, 0)])
def test_names_of_all_languages_are_names(gallery, name, fits):
    with nullcontext() if fits else pytest.raises(ValueError, match="name must be a text of 1 to 200 characters"):
        Gallery((name,), gallery.templates[:1], None, 0.5)
