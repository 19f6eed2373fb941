"""The gallery commands: what they make, show and refuse."""

import numpy as np
import pytest
from PIL import Image as Pillow

from metrack.cli import gallery, run  # noqa: F401  (importing it registers the commands)
from metrack.identity import Gallery

COLOURS = {"ann": (200, 40, 40), "bob": (40, 40, 200), "cid": (40, 180, 40)}


@pytest.fixture
def crops(tmp_path):
    rng = np.random.default_rng(3)
    for name, colour in COLOURS.items():
        (tmp_path / "crops" / name).mkdir(parents=True)
        for number in range(2):
            picture = np.clip(np.array(colour) + rng.normal(0, 20, (64, 32, 3)), 0, 255).astype(np.uint8)
            Pillow.fromarray(picture).save(tmp_path / "crops" / name / f"{number}.png")
    return tmp_path / "crops"


def refusal(capsys, *arguments):
    """The one sentence a command that is refused says."""
    assert run([str(each) for each in arguments]) == 1
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("metrack: ")
    assert err.count("\n") == 1
    return err


def test_build_makes_what_show_shows(crops, tmp_path, capsys):
    out = tmp_path / "known.npz"
    assert run(["gallery", "build", str(crops), "-o", str(out)]) == 0
    built = capsys.readouterr().out
    assert str(out) in built.replace("\n", "")
    assert Gallery.load(out).names == tuple(COLOURS)
    assert run(["gallery", "show", str(out)]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in COLOURS)
    assert "3 targets, 6 templates, a metric learned from them" in shown
    assert "one target" not in shown
    assert built.startswith(shown)


def test_alone_it_shows_its_commands(capsys):
    assert run(["gallery"]) == 0
    out, err = capsys.readouterr()
    assert "build" in out
    assert "show" in out
    assert not err


def test_the_same_seed_makes_the_same_gallery(crops, tmp_path):
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert run(["gallery", "build", str(crops), "-o", str(tmp_path / f"{name}.npz"), "--seed", seed]) == 0
    a, b, c = (Gallery.load(tmp_path / f"{name}.npz").metric for name in "abc")
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_one_target_works_and_is_said(crops, tmp_path, capsys):
    for name in ("bob", "cid"):
        for path in (crops / name).iterdir():
            path.unlink()
        (crops / name).rmdir()
    assert run(["gallery", "build", str(crops), "-o", str(tmp_path / "one.npz")]) == 0
    shown = capsys.readouterr().out
    assert "1 target, 2 templates, the plain metric" in shown
    assert "its name or unknown" in shown


def test_of_many_targets_some_are_listed(crops, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("metrack.cli.gallery.SHOWN", 2)
    assert run(["gallery", "build", str(crops), "-o", str(tmp_path / "g.npz")]) == 0
    shown = capsys.readouterr().out
    assert "and 1 more" in shown
    assert "cid" not in shown


def test_what_is_refused(crops, tmp_path, capsys):
    out = tmp_path / "g.npz"
    assert "there is no" in refusal(capsys, "gallery", "build", tmp_path / "away", "-o", out)
    (tmp_path / "empty").mkdir()
    assert "holds no folders" in refusal(capsys, "gallery", "build", tmp_path / "empty", "-o", out)
    assert "--out must lie in an existing folder" in refusal(
        capsys, "gallery", "build", crops, "-o", tmp_path / "no" / "g.npz"
    )
    assert "--out must be a file" in refusal(capsys, "gallery", "build", crops, "-o", tmp_path)
    assert "there is no file" in refusal(capsys, "gallery", "show", out)
    out.write_text("something else")
    assert "is not one" in refusal(capsys, "gallery", "show", out)
    (crops / "ann" / "0.png").write_text("no picture")
    assert "cannot be read" in refusal(capsys, "gallery", "build", crops, "-o", out)
    assert out.read_text() == "something else"
