"""Benchmark folders, written small and read back."""

import os
import re
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from development import data_folder, development_sequences
from metrack.evaluation.layouts import LAYOUTS, read_folder
from metrack.evaluation.sequences import read_sequences
from metrack.frames import VideoWriter

NAN = [np.nan] * 4
NO_DATA = pytest.mark.skipif(data_folder() is None, reason="no real sequences: set METRACK_DATA")


def picture(shade=0):
    file = BytesIO()
    Image.fromarray(np.full((16, 24, 3), shade, np.uint8)).save(file, "png")
    return file.getvalue()


def put(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def put_images(folder, count, digits=4):
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, count + 1):
        (folder / f"{number:0{digits}d}.png").write_bytes(picture(number % 256))


def lines(rows):
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def flags(values):
    return "".join(f"{int(value)}\n" for value in values)


def one_based(boxes, absent):
    return lines([absent if box is None else (box[0] + 1, box[1] + 1, *box[2:]) for box in boxes])


def write_otb(root, boxes):
    put_images(root / "Toy" / "img", len(boxes))
    put(root / "Toy" / "groundtruth_rect.txt", one_based(boxes, (0, 0, 0, 0)))


def write_lasot(root, boxes):
    place = root / "toy" / "Toy"
    put_images(place / "img", len(boxes), digits=8)
    put(place / "groundtruth.txt", one_based(boxes, (1, 1, 9, 9)))
    put(place / "out_of_view.txt", ",".join("01"[box is None] for box in boxes))
    put(place / "full_occlusion.txt", ",".join("0" * len(boxes)))


def write_got10k(root, boxes):
    place = root / "val" / "Toy"
    put_images(place, len(boxes), digits=8)
    put(root / "val" / "list.txt", "Toy\n")
    put(place / "groundtruth.txt", one_based(boxes, (5, 5, 9, 9)))
    put(place / "absence.label", flags(box is None for box in boxes))


def write_vot(root, boxes):
    put_images(root / "Toy" / "color", len(boxes), digits=8)
    put(root / "Toy" / "groundtruth.txt", lines([("nan",) * 4 if box is None else box for box in boxes]))


def write_vot_polygons(root, boxes):
    rows = [("nan",) * 8 if b is None else (b[0], b[1], b[0] + b[2], b[1], b[0] + b[2], b[1] + b[3], b[0], b[1] + b[3])
            for b in boxes]  # fmt: skip
    put_images(root / "Toy", len(boxes), digits=8)
    put(root / "Toy" / "groundtruth.txt", lines(rows))


def write_uav123(root, boxes):
    put_images(root / "data_seq" / "UAV123" / "Toy", len(boxes), digits=6)
    put(root / "anno" / "UAV123" / "Toy.txt", one_based(boxes, ("NaN",) * 4))


def write_tld(root, boxes):
    corners = [("NaN",) * 4 if b is None else (b[0] + 1, b[1] + 1, b[0] + b[2], b[1] + b[3]) for b in boxes]
    put_images(root / "Toy", len(boxes), digits=5)
    put(root / "Toy" / "gt.txt", lines(corners))
    put(root / "Toy" / "init.txt", lines(corners[:1]))


def write_mot(root, boxes):
    rows = [(i, 7, b[0] + 1, b[1] + 1, *b[2:], 1, 1, 0.9) for i, b in enumerate(boxes, 1) if b is not None]
    put_images(root / "Toy" / "img1", len(boxes), digits=6)
    put(root / "Toy" / "gt" / "gt.txt", lines(rows))


def write_video(root, boxes):
    root.mkdir(parents=True, exist_ok=True)
    with VideoWriter(root / "Toy.mp4", (32, 32), 25.0) as writer:
        for shade in range(len(boxes)):
            writer.write(np.full((32, 32, 3), 10 * shade, np.uint8))
    put(root / "Toy.txt", one_based(boxes, ("nan",) * 4))


WRITERS = {
    "otb": write_otb,
    "lasot": write_lasot,
    "got10k": write_got10k,
    "vot": write_vot,
    "uav123": write_uav123,
    "tld": write_tld,
    "mot": write_mot,
    "video": write_video,
}
SEEN = (3, 4, 10, 5)
BOXES = [SEEN, (4, 4, 10, 5), None, (5.5, 3.25, 11, 6)]
TRUTH = [SEEN, (4, 4, 10, 5), NAN, (5.5, 3.25, 11, 6)]


def only(folder, layout=None):
    (sequence,) = read_folder(folder, layout)
    return sequence


def complaint(folder, layout=None):
    with pytest.raises(ValueError) as caught:
        read_folder(folder, layout)
    assert "\n" not in str(caught.value)
    return str(caught.value)


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


def test_several_targets_of_the_same_images(tmp_path):
    put_images(tmp_path / "Jogging" / "img", 2)
    put(tmp_path / "Jogging" / "groundtruth_rect.1.txt", "1,1,5,5\n" * 2)
    put(tmp_path / "Jogging" / "groundtruth_rect.2.txt", "2,2,5,5\n" * 2)
    put_images(tmp_path / "Human4" / "img", 2)
    put(tmp_path / "Human4" / "groundtruth_rect.1.txt", "")
    put(tmp_path / "Human4" / "groundtruth_rect.2.txt", "3,3,5,5\n" * 2)
    put(tmp_path / "attributes.csv", "sequence,IV,OCC\nHuman4,1,0\nJogging-2,1,1\n")
    found = read_folder(tmp_path, None)
    assert [sequence.name for sequence in found] == ["Human4-2", "Jogging-1", "Jogging-2"]
    assert [sequence.truth[0, 0] for sequence in found] == [2, 0, 1]
    assert [sequence.attributes for sequence in found] == [("IV",), (), ("IV", "OCC")]


@pytest.mark.parametrize(
    ("name", "images", "count", "first", "length"),
    [
        ("David", 770, 471, "0300", 471),
        ("David", 471, 471, "0001", 471),
        ("Tiger1", 354, 354, "0006", 349),
        ("Tiger1", 354, 349, "0006", 349),
        ("Tiger1", 349, 349, "0001", 349),
        ("Football1", 81, 74, "0001", 74),
        ("Freeman3", 461, 460, "0001", 460),
        ("Freeman4", 297, 283, "0001", 283),
        ("Diving", 231, 215, "0001", 215),
    ],
)
def test_known_sequences_are_cut_to_what_is_annotated(name, images, count, first, length, tmp_path):
    (tmp_path / name / "img").mkdir(parents=True)
    for number in range(1, images + 1):
        (tmp_path / name / "img" / f"{number:04d}.jpg").touch()  # never opened here
    put(tmp_path / name / "groundtruth_rect.txt", lines([(i + 1, 1, 5, 5) for i in range(count)]))
    sequence = only(tmp_path)
    assert len(sequence) == len(sequence.pictures) == length
    assert sequence.pictures.files[0].stem == first
    assert sequence.truth[0, 0] == count - length
    (tmp_path / name).rename(tmp_path / "Other")
    if images != count:
        assert f"got {count} for {images}" in complaint(tmp_path)


def test_attributes_are_found_where_they_may_be(tmp_path):
    write_otb(tmp_path / "sequences", BOXES)
    assert only(tmp_path / "sequences").attributes == ()
    put(tmp_path / "published" / "otb_attributes.csv", "sequence,IV,OPR,SV\nToy,1,0,1\n")
    assert only(tmp_path / "sequences").attributes == ("IV", "SV")
    assert only(tmp_path / "sequences" / "Toy").attributes == ("IV", "SV")
    put(tmp_path / "sequences" / "attributes.csv", "sequence,IV,OPR,SV\nToy,0,1,0\n")
    assert only(tmp_path / "sequences").attributes == ("OPR",)
    put(tmp_path / "sequences" / "Toy" / "attrs.txt", "OCC, DEF,IPR\n")
    assert only(tmp_path / "sequences").attributes == ("OCC", "DEF", "IPR")
    (tmp_path / "sequences" / "Toy" / "attrs.txt").unlink()
    put(tmp_path / "sequences" / "attributes.csv", "name,IV\nToy,0\n")
    assert "attributes.csv line 1 must name a column 'sequence', got 'name,IV'" in complaint(tmp_path / "sequences")


def test_vot_tags_channels_and_list(tmp_path):
    write_vot(tmp_path, BOXES)
    put(tmp_path / "Toy" / "occlusion.tag", "0\n1\n")
    put(tmp_path / "Toy" / "motion_change.label", "0\n0\n0\n1\n")
    tags = only(tmp_path).tags
    np.testing.assert_array_equal(tags["occlusion"], [False, True, False, False])
    np.testing.assert_array_equal(tags["motion_change"], [False, False, False, True])
    put_images(tmp_path / "Toy" / "infrared", 4)
    put(tmp_path / "Toy" / "sequence", "channel.default=ir\nchannels.ir=infrared/%04d.png\nfps=30\n")
    assert only(tmp_path).pictures.files[0] == tmp_path / "Toy" / "infrared" / "0001.png"
    put(tmp_path / "Toy" / "occlusion.tag", "0\n2\n")
    assert re.search(r"occlusion\.tag line 2 must hold zeros and ones, got '2'", complaint(tmp_path))
    put(tmp_path / "Toy" / "occlusion.tag", "0\n" * 5)
    assert "occlusion.tag must hold at most one value per truth box, got 5 for 4" in complaint(tmp_path)


def test_a_list_says_which_sequences_belong(tmp_path):
    for name in ("ball", "cat", "Toy"):
        write_vot(tmp_path, BOXES)
        (tmp_path / "Toy").rename(tmp_path / name)
    put(tmp_path / "list.txt", "Toy\nball\n\n")
    assert [sequence.name for sequence in read_folder(tmp_path, None)] == ["Toy", "ball"]
    put(tmp_path / "list.txt", "ball\ndog\n")
    assert complaint(tmp_path).endswith("list.txt line 2 must name a folder beside it, got 'dog'")
    put(tmp_path / "list.txt", "things to buy\n")
    assert len(read_folder(tmp_path, None)) == 3


@pytest.mark.parametrize("line", ["1,2,3,4,5,6", "1,2,3,4,5,6,7,8,9", "0", "m10,10,3,3,0,9"])
def test_vot_regions_that_are_neither_box_nor_polygon(line, tmp_path):
    put_images(tmp_path / "Toy", 1)
    put(tmp_path / "Toy" / "groundtruth.txt", line)
    assert f"groundtruth.txt line 1 must be four numbers x,y,w,h or the corners x1,y1,x2,y2,... of a polygon, got {line!r}" in complaint(tmp_path)  # fmt: skip # noqa: E501


def test_a_turned_polygon_stands_for_the_box_around_it(tmp_path):
    put_images(tmp_path / "Toy", 1)
    put(tmp_path / "Toy" / "groundtruth.txt", "5,0,10,4,6,8,1,5,2,2\n")
    np.testing.assert_array_equal(only(tmp_path).truth, [[1, 0, 9, 8]])


def test_got10k_labels_and_the_hidden_test_split(tmp_path):
    write_got10k(tmp_path, BOXES)
    put(tmp_path / "val" / "Toy" / "cover.label", "8\n3\n0\n4\n")
    tags = only(tmp_path).tags
    np.testing.assert_array_equal(tags["absence"], [False, False, True, False])
    np.testing.assert_array_equal(tags["occlusion"], [False, True, True, False])
    put(tmp_path / "val" / "Toy" / "cover.label", "8\n9\n")
    assert re.search(r"cover\.label line 2 must be a grade from 0 to 8, got '9'", complaint(tmp_path))
    put_images(tmp_path / "test" / "GOT-10k_Test_000001", 3)
    put(tmp_path / "test" / "GOT-10k_Test_000001" / "groundtruth.txt", "4,5,10,5\n")
    np.testing.assert_array_equal(only(tmp_path / "test").truth, [SEEN, NAN, NAN])


def test_lasot_flags_hide_boxes(tmp_path):
    write_lasot(tmp_path, [SEEN] * 4)
    put(tmp_path / "toy" / "Toy" / "full_occlusion.txt", "0,1,0,0")
    put(tmp_path / "toy" / "Toy" / "out_of_view.txt", "0,0,0,1")
    sequence = only(tmp_path)
    np.testing.assert_array_equal(sequence.truth, [SEEN, NAN, SEEN, NAN])
    np.testing.assert_array_equal(sequence.tags["full_occlusion"], [False, True, False, False])
    np.testing.assert_array_equal(sequence.tags["out_of_view"], [False, False, False, True])
    put(tmp_path / "toy" / "Toy" / "out_of_view.txt", "0,0,0")
    assert "out_of_view.txt must hold one 0 or 1 per truth box, got 3 for 4" in complaint(tmp_path)


def write_uav_parts(root, images, counts):
    put_images(root / "data_seq" / "UAV123" / "car6", images, digits=6)
    for number, count in enumerate(counts, 1):
        put(root / "anno" / "UAV123" / f"car6_{number}.txt", lines([(number, 1, 5, 5)] * count))


def test_uav_parts_that_form_a_chain(tmp_path):
    write_uav_parts(tmp_path, 7, (3, 4, 2))
    found = read_folder(tmp_path, None)
    assert [sequence.name for sequence in found] == ["car6_1", "car6_2", "car6_3"]
    ends = [(s.pictures.files[0].stem, s.pictures.files[-1].stem) for s in found]
    assert ends == [("000001", "000003"), ("000003", "000006"), ("000006", "000007")]


def test_uav_parts_that_a_listing_tells(tmp_path):
    write_uav_parts(tmp_path, 9, (3, 4))
    said = complaint(tmp_path)
    assert "car6_1.txt must belong to a sequence that configSeqs.m lists with its first and last image" in said
    assert said.endswith("or be part of a chain through the 9 images there are, got neither")
    entry = "struct('name','{}','path','..\\data_seq\\car6\\','startFrame',{},'endFrame',{},'nz',6,'ext','jpg'),...\n"
    listing = entry.format("car6_1", 1, 3) + entry.format("car6_2", 1, 9) + entry.format("car6_2", 6, 9)
    put(tmp_path / "configSeqs.m", f"seqUAV123={{{listing}}};\n")
    first, second = read_folder(tmp_path, None)
    assert (first.pictures.files[0].stem, second.pictures.files[0].stem) == ("000001", "000006")
    assert len(second) == 4


def test_uav_sets_share_their_images(tmp_path):
    write_uav_parts(tmp_path, 4, (2, 3))
    put(tmp_path / "anno" / "UAV20L" / "car6.txt", lines([(9, 1, 5, 5)] * 4))
    assert [sequence.name for sequence in read_folder(tmp_path, None)] == ["car6_1", "car6_2"]
    assert only(tmp_path / "anno" / "UAV20L").truth[0, 0] == 8


def test_mot_gives_one_sequence_per_identity(tmp_path):
    put_images(tmp_path / "street" / "img1", 5)
    rows = [
        "2,10,1,1,5,5,1,1,0.4",
        "4,10,3,1,5,5,1,1,0.6",
        "1,2,1,1,5,5,1,1,1",
        "3,10,1,1,5,5,0,1,1",
        "1,4,1,1,5,5,0,8,1",
    ]
    put(tmp_path / "street" / "gt" / "gt.txt", "\n".join(rows))
    two, ten = read_folder(tmp_path, None)
    assert (two.name, ten.name) == ("street-2", "street-10")
    np.testing.assert_array_equal(ten.truth, [[0, 0, 5, 5], NAN, [2, 0, 5, 5]])
    np.testing.assert_array_equal(ten.tags["occlusion"], [True, False, False])
    assert [file.stem for file in ten.pictures.files] == ["0002", "0003", "0004"]
    put(tmp_path / "street" / "gt" / "gt.txt", "1,2,1,1,5,5,1,-1,-1,-1\n")
    assert not only(tmp_path).tags


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1,2,3,4,5", "numbers frame,identity,x,y,w,h,..."),
        ("1,2,nan,4,5,6", "numbers frame,identity,x,y,w,h,..."),
        ("1.5,2,3,4,5,6", "numbers frame,identity,x,y,w,h,..."),
        ("1,one,3,4,5,6", "numbers frame,identity,x,y,w,h,..."),
        ("1,1,3,4,5,6", "the only one of its frame and identity"),
    ],
)
def test_mot_lines_that_cannot_be(line, said, tmp_path):
    put_images(tmp_path / "street" / "img1", 2)
    put(tmp_path / "street" / "gt" / "gt.txt", f"1,1,1,1,5,5\n{line}\n")
    assert f"gt.txt line 2 must be {said}, got {line!r}" in complaint(tmp_path)


def test_a_video_without_boxes(tmp_path):
    write_video(tmp_path, BOXES)
    (tmp_path / "Toy.txt").unlink()
    assert complaint(tmp_path / "Toy.mp4") == f"{tmp_path} must hold Toy.txt, got no such file"
    assert "layout 'otb' must be given with a folder, got the file" in complaint(tmp_path / "Toy.mp4", "otb")


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
