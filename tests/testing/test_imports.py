"""Imports point one way, and private names stay in their module; both rules are seen to notice what breaks them."""

from pathlib import Path

import pytest

import metrack
from metrack.testing.__main__ import main
from metrack.testing.imports import FACE, LAYERS, find_crossings, find_private_access
from metrack.testing.source import Module

ROOT = Path(metrack.__file__).parent
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_no_import_crosses_the_layers():
    assert find_crossings(ROOT) == []


def test_no_module_uses_private_names_of_another():
    assert find_private_access(ROOT) == []


def test_no_benchmark_uses_private_names_of_the_package():
    scripts = [Module(file, BENCHMARKS) for file in BENCHMARKS.glob("*.py")]
    assert find_private_access(ROOT, scripts) == []


def test_the_command_prints_the_layers(capsys):
    code = main(["imports"])
    printed = capsys.readouterr().out
    assert all(name in printed for names in LAYERS for name in names)
    assert code == (0 if "no rule about imports is broken" in printed else 1)


@pytest.fixture
def package(tmp_path):
    """A package of two rooms: motion, which is low, and tracking, which is high."""
    root = tmp_path / "metrack"
    for folder in ("motion", "tracking"):
        (root / folder).mkdir(parents=True)
        (root / folder / "__init__.py").touch()
    (root / "__init__.py").touch()
    (root / "tracking" / "tracker.py").write_text(
        "_LIMIT = 3\ndef _help(): ...\nclass Tracker:\n    def __init__(self):\n        self._box = self._help()\n"
    )
    return root


def plant(package, text):
    (package / "motion" / "planted.py").write_text(text)


@pytest.mark.parametrize(
    "text",
    ["import metrack.tracking", "from metrack import tracking", "from metrack.tracking.tracker import Tracker",
     "from ..tracking import tracker", "def late():\n    import metrack.tracking.tracker"],
)  # fmt: skip
def test_an_import_of_a_higher_layer_is_found(package, text):
    plant(package, text)
    (found,) = find_crossings(package)
    assert found.startswith("motion/planted.py:")
    assert found.endswith("belongs to motion and may not import tracking")


def test_the_public_names_are_a_layer_of_their_own(package):
    for text in ("import metrack", "from metrack import Tracker"):
        plant(package, text)
        assert find_crossings(package)[0].endswith(f"may not import {FACE}")
    plant(package, "from . import other\nimport numpy.metrack\n")
    assert find_crossings(package) == []


def test_a_part_without_a_layer_is_found(package):
    (package / "attic.py").touch()
    assert find_crossings(package) == ["attic has no layer in metrack/testing/imports.py"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from metrack.tracking.tracker import _help", "_help"),
        ("from ..tracking.tracker import _LIMIT", "_LIMIT"),
        ("def look(tracker):\n    return tracker._box", "_box"),
        ("def look(trackers):\n    trackers[0]._box = 1", "_box"),
        ("from metrack.tracking import tracker\nprint(tracker._LIMIT)", "_LIMIT"),
        ("from metrack.tracking import tracker\n_help = 1\nprint(tracker._help)", "_help"),
        ("def look(tracker):\n    return getattr(tracker, '_box')", "_box"),
    ],
)
def test_a_private_name_of_another_module_is_found(package, text, name):
    plant(package, text)
    (found,) = find_private_access(package)
    assert found.startswith("motion/planted.py:")
    assert name in found


@pytest.mark.parametrize(
    "text",
    [
        "class A:\n    def __init__(self, other):\n        self._own = other._own",
        "class A(B):\n    def look(self):\n        return self._box",
        "class A(B):\n    @classmethod\n    def make(cls):\n        return cls._help()",
        "def look(row):\n    return row._replace(x=1), row.__class__",
        "import sys\nsys._getframe()",
    ],
)
def test_own_and_foreign_private_names_are_no_business_of_the_rule(package, text):
    plant(package, text)
    assert find_private_access(package) == []
