"""Two versions are timed in turns, in processes of their own."""

from pathlib import Path

import against


def test_two_versions_are_timed_in_turns(tmp_path):
    against.paint(file := tmp_path / "clip.npz")
    root = Path(against.PROJECT)
    one, other = against.Version(root, file), against.Version(root, file)
    options = type("Options", (), {"turns": 3, "frames": 3})
    ratio = against.compare(one, other, "fast", {"search.candidates": "0"}, options)
    one.close()
    other.close()
    assert ratio > 0  # how near to one depends on who else uses the machine


def test_settings_of_the_earlier_version_may_be_for_some_presets():
    texts = ["paper:motion.cell=0.0", "motion.particles=50"]
    assert against.changes_of("paper-mixed", texts) == {"motion.cell": "0.0", "motion.particles": "50"}
    assert against.changes_of("default", texts) == {"motion.particles": "50"}
