"""Files and functions stay short."""

from pathlib import Path

import pytest

import metrack
from metrack.testing.__main__ import main
from metrack.testing.sizes import find_crowd, find_oversizes

PROJECT = Path(__file__).parents[2]
ROOT = Path(metrack.__file__).parent


def test_few_modules_stand_at_the_top_level():
    assert find_crowd(ROOT) == []


@pytest.mark.parametrize("folder", [ROOT, PROJECT / "benchmarks", PROJECT / "tests"], ids=lambda folder: folder.name)
def test_no_file_and_no_function_is_too_long(folder):
    assert find_oversizes(folder) == []


def test_what_is_too_long_is_found(tmp_path, capsys):
    (tmp_path / "long.py").write_text("x = 1\n" * 351)
    (tmp_path / "function.py").write_text("def small():\n    pass\n\n\ndef large():\n" + "    pass\n" * 45)
    (tmp_path / "page.js").write_text("let x;\n" * 251)
    (tmp_path / "fits.py").write_text("x = 1\n" * 350)
    expected = [
        "function.py:5 large has 46 lines, more than 45",
        "long.py has 351 lines, more than 350",
        "page.js has 251 lines, more than 250",
    ]
    assert find_oversizes(tmp_path) == expected
    assert main(["sizes", str(tmp_path)]) == 1
    assert set(expected) <= set(capsys.readouterr().out.splitlines())


def test_a_crowded_top_level_is_found(tmp_path):
    for number in range(10):
        (tmp_path / f"m{number}.py").touch()
    assert find_crowd(tmp_path) == [
        "the top level may have 9 modules, but has 10: m0, m1, m2, m3, m4, m5, m6, m7, m8, m9"
    ]
