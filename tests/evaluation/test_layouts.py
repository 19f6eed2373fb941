"""What all layouts have in common: recognised, read back, refused in one sentence."""

import os
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from development import data_folder, development_sequences
from metrack.evaluation.layouts import LAYOUTS, read_folder
from metrack.evaluation.sequences import read_sequences
from support.layouts import (
    BOXES,
    NAN,
    SEEN,
    TRUTH,
    WRITERS,
    complaint,
    lines,
    only,
    picture,
    put,
    put_images,
    write_otb,
    write_video,
    write_vot,
    write_vot_polygons,
)

NO_DATA = pytest.mark.skipif(data_folder() is None, reason="no real sequences: set METRACK_DATA")


def test_every_layout_has_a_writer_here():
    assert list(LAYOUTS) == list(WRITERS)


@pytest.mark.parametrize("layout", WRITERS)
def test_a_layout_is_recognised_and_read(layout, tmp_path):
    WRITERS[layout](tmp_path / "all", BOXES)
    found = only(tmp_path / "all")
    named = only(tmp_path / "all", layout)
    assert found.name == named.name == ("Toy-7" if layout == "mot" else "Toy")
    assert found.pictures == named.pictures
    np.testing.assert_array_equal(found.truth, TRUTH)
    frames = list(found.pictures)
    assert len(frames) == len(found.pictures) == len(found) == 4
    assert all(frame.dtype == np.uint8 for frame in frames)
    shades = [float(frame.mean()) for frame in frames]
    np.testing.assert_allclose(shades, [0, 10, 20, 30] if layout == "video" else [1, 2, 3, 4], atol=3)


@pytest.mark.parametrize("layout", WRITERS)
def test_a_folder_of_one_sequence_will_do(layout, tmp_path):
    WRITERS[layout](tmp_path / "all", BOXES)
    single = {
        "lasot": "toy/Toy",
        "got10k": "val/Toy",
        "uav123": "anno/UAV123",
        "video": "Toy.mp4",
    }.get(layout, "Toy")
    assert only(tmp_path / "all" / single).name == only(tmp_path / "all").name
    np.testing.assert_array_equal(only(tmp_path / "all" / single, layout).truth, TRUTH)


@pytest.mark.parametrize("layout", WRITERS)
def test_a_box_too_few_or_too_many_is_refused(layout, tmp_path):
    WRITERS[layout](tmp_path, BOXES)
    images = sorted(tmp_path.rglob("*.png"))
    if layout == "video":
        put(tmp_path / "Toy.txt", lines([(1, 1, 5, 5)] * 3))
    elif layout == "mot":
        images[-1].unlink()
        assert re.search(r"gt\.txt line 3 must have a frame from 1 to the 3 images, got '4,7,", complaint(tmp_path))
        return
    else:
        (images[-1].parent / "9999999999.png").write_bytes(picture())
    said = r"\.txt must hold one truth box per image, got " + ("3 for 4" if layout == "video" else "4 for 5")
    assert re.search(said, complaint(tmp_path))


@pytest.mark.parametrize("layout", [name for name in WRITERS if name != "video"])
def test_missing_images_are_named(layout, tmp_path):
    WRITERS[layout](tmp_path, BOXES)
    for image in tmp_path.rglob("*.png"):
        image.unlink()
    assert "must hold the images of a sequence, got none" in complaint(tmp_path, layout)


quarters = st.integers(0, 400).map(lambda value: value / 4)
sizes = st.integers(4, 400).map(lambda value: value / 4)
boxes = st.tuples(quarters, quarters, sizes, sizes)
tracks = st.tuples(boxes, st.lists(st.none() | boxes, max_size=4), boxes).map(lambda t: [t[0], *t[1], t[2]])


@pytest.mark.parametrize(
    "write", [write for write in WRITERS.values() if write is not write_video] + [write_vot_polygons]
)
@given(track=tracks)
@settings(max_examples=15)
def test_what_is_written_is_what_is_read(write, track, tmp_path_factory):
    folder = tmp_path_factory.mktemp("all")
    write(folder, track)
    np.testing.assert_array_equal(only(folder).truth, [NAN if box is None else box for box in track])


def test_conventions_of_the_first_pixel(tmp_path):
    put_images(tmp_path / "a" / "img", 1)
    put(tmp_path / "a" / "groundtruth_rect.txt", "1,2,10,5\n")
    np.testing.assert_array_equal(only(tmp_path / "a").truth, [[0, 1, 10, 5]])
    put_images(tmp_path / "b", 1)
    put(tmp_path / "b" / "groundtruth.txt", "1,2,10,5\n")
    np.testing.assert_array_equal(only(tmp_path / "b", "vot").truth, [[1, 2, 10, 5]])
    np.testing.assert_array_equal(only(tmp_path / "b", "got10k").truth, [[0, 1, 10, 5]])
    put(tmp_path / "b" / "gt.txt", "1,2,10,6\n")
    put(tmp_path / "b" / "init.txt", "1,2,10,6\n")
    np.testing.assert_array_equal(only(tmp_path / "b", "tld").truth, [[0, 1, 10, 5]])
    put_images(tmp_path / "c" / "img1", 1)
    put(tmp_path / "c" / "gt" / "gt.txt", "1,3,1,2,10,5,1,-1,-1,-1\n")
    np.testing.assert_array_equal(only(tmp_path / "c").truth, [[0, 1, 10, 5]])


def test_numbers_may_be_separated_by_anything(tmp_path):
    put_images(tmp_path / "Toy" / "img", 4)
    put(tmp_path / "Toy" / "groundtruth_rect.txt", "\ufeff1,2,10,5\r\n2\t3\t10\t5\n4 4  10 5 \n 5 , 4,10, 5,\n\n\n")
    wanted = [[0, 1, 10, 5], [1, 2, 10, 5], [3, 3, 10, 5], [4, 3, 10, 5]]
    np.testing.assert_array_equal(only(tmp_path).truth, wanted)


@pytest.mark.parametrize("line", ["1,2,x,5", "1,2,3", "1,2,3,4,5", "", "inf,2,3,4", "1;2;3;4", "1,,2,3"])
def test_an_unreadable_line_is_named(line, tmp_path):
    put_images(tmp_path / "Toy" / "img", 3)
    put(tmp_path / "Toy" / "groundtruth_rect.txt", f"1,2,10,5\n{line}\n1,2,10,5\n")
    file = tmp_path / "Toy" / "groundtruth_rect.txt"
    assert complaint(tmp_path) == f"{file} line 2 must be four numbers x,y,w,h, got {line!r}"


def test_a_missing_truth_file_is_named(tmp_path):
    write_otb(tmp_path, BOXES)
    put_images(tmp_path / "Bare" / "img", 2)
    assert complaint(tmp_path) == f"{tmp_path / 'Bare'} must hold groundtruth_rect.txt, got no such file"


def test_a_sequence_starts_where_its_target_does(tmp_path):
    write_otb(tmp_path, [None, None, SEEN, None, SEEN])
    sequence = only(tmp_path)
    np.testing.assert_array_equal(sequence.truth, [SEEN, NAN, SEEN])
    assert [file.stem for file in sequence.pictures.files] == ["0003", "0004", "0005"]
    put(tmp_path / "Toy" / "groundtruth_rect.txt", "0,0,0,0\n" * 5)
    assert "groundtruth_rect.txt must hold the target's box in at least one frame, got none" in complaint(tmp_path)


def test_boxes_without_area_and_half_numbers_are_unknown(tmp_path):
    put_images(tmp_path / "Toy" / "img", 4)
    put(tmp_path / "Toy" / "groundtruth_rect.txt", "4,5,10,5\n613,731,247,-11\nnan,2,3,4\n1,1,0,5\n")
    np.testing.assert_array_equal(only(tmp_path).truth, [SEEN, NAN, NAN, NAN])


def test_unknown_folders_and_layouts(tmp_path):
    (tmp_path / "notes.md").touch()
    said = complaint(tmp_path)
    assert said.startswith(
        f"{tmp_path} must hold sequences in a layout that is understood (otb: img/ and groundtruth_rect"
    )
    assert all(f"{layout}: " in said for layout in LAYOUTS)
    assert complaint(tmp_path, "otbb") == "layout must be one that is known, got 'otbb'; did you mean 'otb'?"
    assert "must hold sequences of the layout mot (img1/ and gt/gt.txt), got none" in complaint(tmp_path, "mot")
    assert "must be in a folder that exists, got" in complaint(tmp_path / "nowhere")


def test_natural_order_and_names_told_apart(tmp_path):
    for split, names in (("train", ("a2", "a10", "b")), ("val", ("b", "c"))):
        for name in names:
            write_vot(tmp_path / split, [SEEN])
            (tmp_path / split / "Toy").rename(tmp_path / split / name)
    names = [sequence.name for sequence in read_folder(tmp_path, None)]
    assert names == ["a2", "a10", "c", "train-b", "val-b"]
    write_video(tmp_path / "films" / "one", [SEEN])
    write_video(tmp_path / "films" / "two", [SEEN])
    assert [sequence.name for sequence in read_folder(tmp_path / "films", None)] == ["one-Toy", "two-Toy"]


def test_names_that_cannot_be_told_apart(tmp_path):
    write_otb(tmp_path, [SEEN])
    (tmp_path / "Toy").rename(tmp_path / "Run-1")
    put_images(tmp_path / "Run" / "img", 1)
    put(tmp_path / "Run" / "groundtruth_rect.1.txt", "1,1,5,5\n")
    said = f"sequences must have different names, got '{tmp_path.name}-Run-1' more than once"
    assert complaint(tmp_path) == said


def test_a_folder_may_be_where_one_stands(tmp_path, monkeypatch):
    write_otb(tmp_path, BOXES)
    monkeypatch.chdir(tmp_path / "Toy")
    (sequence,) = read_sequences(".")
    assert sequence.name == "Toy"
    monkeypatch.chdir(tmp_path)
    assert os.path.isabs(sequence.pictures.files[0])
    assert len(list(sequence.pictures)) == 4


@pytest.mark.data
@NO_DATA
def test_the_development_sequences_can_be_read():
    sequences = {sequence.name: sequence for sequence in development_sequences()}
    assert len(sequences) == 17
    lengths = {"CarDark": 393, "David": 471, "Freeman4": 283, "Girl": 500, "Jogging-1": 307, "Trellis": 569}
    assert {name: len(sequences[name]) for name in lengths} == lengths
    assert sum(len(sequence) for sequence in sequences.values()) == 5632
    np.testing.assert_array_equal(sequences["CarDark"].truth[0], [72, 125, 29, 23])
    assert sequences["CarDark"].attributes == ("IV", "BC")
    assert next(iter(sequences["Deer"].pictures)).dtype == np.uint8


@pytest.mark.data
@NO_DATA
def test_people_are_sequences_of_their_own():
    folder = data_folder() / "people"
    campus = read_sequences(folder / "TUD-Campus")
    assert [(s.name, len(s)) for s in campus][:3] == [("TUD-Campus-1", 24), ("TUD-Campus-2", 48), ("TUD-Campus-3", 63)]
    np.testing.assert_array_equal(campus[0].truth[0], [398, 181, 121, 229])
    both = read_sequences(folder)
    assert len(both) == 18
    assert [sequence.name for sequence in both][-1] == "TUD-Stadtmitte-10"
