"""Imports point one way: from what is built to what it is built of, and never back."""

import ast
from pathlib import Path

import pytest

import metrack

ROOT = Path(metrack.__file__).parent
FACE = "__init__"  # the public names: for those who use the tracker, not for its parts

LAYERS = [
    {"arrays", "box", "checks", "config", "estimate", "files", "threads"},
    {"frames", "motion", "features", "draw"},
    {"representation", "memory", "metric", "regression"},
    {"identity", "tracking"},
    {"runs"},
    {FACE},
    {"synth", "rivals", "adapters"},
    {"evaluation", "experiments", "testing"},
    {"cli", "studio", "__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
FILES = sorted(ROOT.rglob("*.py"))


def part_of(file):
    """The step of the way a file belongs to: its folder, or itself."""
    return file.relative_to(ROOT).with_suffix("").parts[0]


def imported_parts(file):
    """Names of the parts of the package that a file imports, wherever in the file it does."""
    package = ("metrack", *file.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            paths = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else ()
            base = [*start, *(node.module.split(".") if node.module else [])]
            paths = [[*base, alias.name] for alias in node.names]
        else:
            continue
        for path in paths:
            if path[0] == "metrack":
                yield path[1] if len(path) > 1 and _is_part(path[1]) else FACE


def _is_part(name):
    return (ROOT / name).is_dir() or (ROOT / f"{name}.py").exists()


def test_every_part_has_its_place():
    assert {part_of(file) for file in FILES} <= set(LEVEL), "give the new part a layer in tests/test_imports.py"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_imports_point_one_way(file):
    own = part_of(file)
    if own == FACE:
        return  # gathers names from all over, which is what it is for
    higher = {name for name in imported_parts(file) if LEVEL.get(name, 0) > LEVEL.get(own, len(LAYERS))}
    assert not higher, f"{file.name} belongs to {own!r} and may not import {sorted(higher)}"


def test_the_rule_is_seen_to_be_broken(tmp_path, monkeypatch):
    (tmp_path / "motion").mkdir()
    (tmp_path / "tracker.py").touch()
    sly = tmp_path / "motion" / "sly.py"
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    for text in ("import metrack.tracker", "from metrack import tracker", "from ..tracker import Tracker"):
        sly.write_text(f"def late():\n    {text}\n")
        assert list(imported_parts(sly)) == ["tracker"]
    sly.write_text("import metrack\nfrom metrack import Tracker\nfrom . import other\nimport numpy.metrack\n")
    assert list(imported_parts(sly)) == [FACE, FACE, "motion"]
