"""What single layouts have of their own."""

import re

import numpy as np
import pytest

from metrack.evaluation.layouts import read_folder
from support.layouts import (
    BOXES,
    NAN,
    SEEN,
    complaint,
    lines,
    only,
    put,
    put_images,
    write_got10k,
    write_lasot,
    write_otb,
    write_video,
    write_vot,
)


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
        ("1,1,3,4,5,6", "the only one of its target in a frame"),
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
