"""Two versions are timed in turns, in processes of their own."""

from pathlib import Path

import numpy as np

import against


def test_a_version_against_itself_takes_as_long(tmp_path):
    against.paint(file := tmp_path / "clip.npz")
    root = Path(against.PROJECT)
    one, other = against.Version(root, file), against.Version(root, file)
    options = type("Options", (), {"turns": 3, "frames": 3})
    ratio = against.compare(one, other, "fast", {"search.candidates": "0"}, options)
    one.close()
    other.close()
    assert 0.2 < ratio < 5  # on a busy machine; what is tested is that both answer
    assert np.isfinite(ratio)


def test_settings_of_the_earlier_version_may_be_for_some_presets():
    texts = ["paper:motion.cell=0.0", "motion.particles=50"]
    assert against.changes_of("paper-mixed", texts) == {"motion.cell": "0.0", "motion.particles": "50"}
    assert against.changes_of("default", texts) == {"motion.particles": "50"}
