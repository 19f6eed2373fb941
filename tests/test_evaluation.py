import numpy as np
import pytest
from PIL import Image

from metrack.evaluation.scores import precision, success_auc, success_curve, success_rate
from metrack.evaluation.sequences import data_folder, development_sequences, read_otb


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "Toy" / "img").mkdir(parents=True)
    for i in range(3):
        Image.fromarray(np.full((20, 30, 3), 40 * i, np.uint8)).save(tmp_path / "Toy" / "img" / f"{i + 1:04d}.jpg")
    (tmp_path / "Toy" / "groundtruth_rect.txt").write_text("1,2,10,5\n2\t3\t10\t5\n4 4 10 5\n")
    return tmp_path / "Toy"


def test_otb_boxes_count_from_one_and_may_be_separated_by_anything(folder):
    sequence = read_otb(folder)
    np.testing.assert_array_equal(sequence.truth, [[0, 1, 10, 5], [1, 2, 10, 5], [3, 3, 10, 5]])
    frames = list(sequence.frames())
    assert len(frames) == len(sequence) == 3
    assert frames[0].shape == (20, 30, 3)
    part = sequence.part(1, 2)
    assert len(part) == 1
    np.testing.assert_array_equal(part.truth, [[1, 2, 10, 5]])
    np.testing.assert_array_equal(next(iter(part.frames())), frames[1])


def test_wrong_folders_name_the_file_and_line(folder):
    (folder / "groundtruth_rect.txt").write_text("1,2,10,5\n1,2,x,5\n")
    with pytest.raises(ValueError, match=r"groundtruth_rect.txt line 2 must be four numbers"):
        read_otb(folder)
    (folder / "groundtruth_rect.txt").write_text("1,2,10,5\n")
    with pytest.raises(ValueError, match="one truth box per image, got 1 for 3"):
        read_otb(folder)
    (folder / "groundtruth_rect.txt").unlink()
    with pytest.raises(ValueError, match=r"must hold groundtruth_rect\.txt"):
        read_otb(folder)


def test_success_is_strict_and_unknown_frames_do_not_count():
    overlap = np.array([0.0, 0.5, 1.0, np.nan])
    curve = success_curve(overlap)
    np.testing.assert_allclose(curve[[0, 9, 10, 20]], [2 / 3, 2 / 3, 1 / 3, 0])
    np.testing.assert_allclose(success_auc(overlap), curve.mean())
    np.testing.assert_allclose(success_rate(overlap), 1 / 3)
    assert np.isnan(success_auc(np.array([np.nan])))
    assert np.isnan(success_rate(np.array([np.nan])))


def test_precision_counts_the_border_in():
    np.testing.assert_allclose(precision(np.array([0.0, 20.0, 20.1, np.nan])), 2 / 3)


@pytest.mark.data
@pytest.mark.skipif(data_folder() is None, reason="no real sequences: set METRACK_DATA")
def test_the_development_sequences_can_be_read():
    sequences = development_sequences()
    assert len(sequences) == 17
    assert sum(len(s) for s in sequences) > 5000
    assert next(iter(sequences[0].frames())).dtype == np.uint8
