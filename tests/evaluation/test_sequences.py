"""Sequences, and the pictures they are made of."""

import pickle

import numpy as np
import pytest
from PIL import Image

from metrack.evaluation.pictures import ClipPictures, ImagePictures, VideoPictures
from metrack.evaluation.sequences import (
    BUILTIN_EVENTS,
    Sequence,
    builtin_sequences,
    choose_sequences,
    read_sequences,
)
from metrack.frames import VideoWriter
from metrack.synth import builtin_clip

FRAMES, SIZE = 6, (160, 120)


@pytest.fixture
def images(tmp_path):
    files = [tmp_path / f"{i}.png" for i in range(FRAMES)]
    for i, file in enumerate(files):
        Image.fromarray(np.full((120, 160, 3), 40 * i, np.uint8)).save(file)
    return ImagePictures(tuple(files))


@pytest.fixture
def video(tmp_path):
    with VideoWriter(tmp_path / "clip.mp4", SIZE, 25.0) as writer:
        for i in range(FRAMES):
            writer.write(np.full((120, 160, 3), 40 * i, np.uint8))
    return VideoPictures(tmp_path / "clip.mp4", stop=FRAMES)


@pytest.fixture
def clip():
    return ClipPictures(FRAMES, SIZE, 3, frozenset({"twin"}), stop=FRAMES)


@pytest.mark.parametrize("kind", ["images", "video", "clip"])
def test_all_kinds_of_pictures_can_be_cut_sent_and_read_again(kind, request):
    pictures = request.getfixturevalue(kind)
    frames = list(pictures)
    assert len(frames) == len(pictures) == FRAMES
    assert all(frame.dtype == np.uint8 and frame.shape == (120, 160, 3) for frame in frames)
    for start, stop in ((0, None), (2, None), (1, 4), (3, 3), (2, 99), (9, None)):
        part = pictures.part(start, stop)
        wanted = frames[start:stop]
        assert len(part) == len(wanted)
        np.testing.assert_array_equal(list(part), wanted)
    np.testing.assert_array_equal(list(pictures.part(1, 5).part(1, 3)), frames[2:4])
    sent = pickle.loads(pickle.dumps(pictures.part(2)))
    assert sent == pictures.part(2)
    np.testing.assert_array_equal(list(sent), frames[2:])


@pytest.mark.parametrize("kind", ["images", "video"])
def test_frames_come_in_their_order(kind, request):
    shades = [float(frame.mean()) for frame in request.getfixturevalue(kind)]
    np.testing.assert_allclose(shades, 40 * np.arange(FRAMES), atol=3)


def test_a_painted_clip_has_only_the_events_named(clip):
    wanted = builtin_clip(FRAMES, SIZE, 3, occlusion=False, departure=False, twin=True, lighting=False)
    np.testing.assert_array_equal(list(clip), list(wanted))
    other = builtin_clip(FRAMES, SIZE, 3, occlusion=False, departure=False, twin=False, lighting=False)
    assert not np.array_equal(list(clip), list(other))


def test_grey_files_give_grey_frames_and_deep_ones_keep_their_shades(tmp_path):
    Image.fromarray(np.full((8, 8), 7, np.uint8)).save(tmp_path / "grey.png")
    Image.fromarray(np.full((8, 8), 200 * 256, np.uint16)).save(tmp_path / "deep.png")
    grey, deep = ImagePictures((tmp_path / "grey.png", tmp_path / "deep.png"))
    assert (grey.shape, deep.shape) == ((8, 8), (8, 8, 3))
    assert (grey[0, 0], deep[0, 0, 0]) == (7, 200)
    assert grey.flags.writeable
    assert deep.flags.writeable


def test_a_picture_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "bad.jpg").write_text("no image")
    for name in ("bad.jpg", "gone.jpg"):
        with pytest.raises(ValueError, match=rf"readable images, but '.*{name}' cannot be read"):
            list(ImagePictures((tmp_path / name,)))


def test_a_part_of_a_sequence_keeps_frames_boxes_and_tags_together(images):
    truth = np.arange(4.0 * FRAMES).reshape(FRAMES, 4)
    truth[3] = np.nan
    tags = {"occlusion": np.arange(FRAMES) == 2}
    part = Sequence("toy", images, truth, ("OCC",), tags).part(2, 5)
    assert (part.name, part.attributes, len(part)) == ("toy", ("OCC",), 3)
    assert part.pictures == images.part(2, 5)
    np.testing.assert_array_equal(part.truth, truth[2:5])
    np.testing.assert_array_equal(part.tags["occlusion"], [True, False, False])
    np.testing.assert_array_equal(part.present(), [0, 2])


def test_builtin_sequences_know_what_happens_in_them():
    found = builtin_sequences(frames=60, size=SIZE)
    assert [sequence.name for sequence in found] == list(BUILTIN_EVENTS)
    for sequence in found:
        assert len(sequence) == len(sequence.pictures) == 60
        assert sequence.attributes == BUILTIN_EVENTS[sequence.name]
        assert 0 in sequence.present()
        gone = len(sequence) - len(sequence.present())
        assert (gone > 0) == ({"departure", "occlusion"} & set(sequence.attributes) != set())
    calm, cloud = found[0], found[1]
    assert not calm.tags
    assert cloud.tags["occlusion"].any()
    assert not cloud.tags["occlusion"].all()


def test_builtin_boxes_are_those_of_the_frames():
    sequence = builtin_sequences(frames=60, size=SIZE)[0]
    clip = builtin_clip(60, SIZE, 0, occlusion=False, departure=False, twin=False, lighting=False)
    np.testing.assert_array_equal(sequence.truth, [truth.box.to_xywh() for truth in clip.truth])
    np.testing.assert_array_equal(next(iter(sequence.pictures.part(30))), clip[30])


def test_sequences_are_chosen_by_name():
    everything = read_sequences("builtin")
    chosen = read_sequences("builtin", ["balloon-twin", "balloon-calm"])
    assert [sequence.name for sequence in chosen] == ["balloon-twin", "balloon-calm"]
    assert choose_sequences(everything, []) == everything
    with pytest.raises(ValueError) as caught:
        choose_sequences(everything, ["baloon-calm"])
    said = "sequences must be among those found, got 'baloon-calm'; did you mean 'balloon-calm'?"
    assert str(caught.value) == said
