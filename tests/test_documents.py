"""The documents say what is so."""

import ast
import re
from pathlib import Path

import pytest

from metrack.config import preset

ROOT = Path(__file__).parents[1]
DEVIATIONS = (ROOT / "docs" / "deviations.md").read_text()
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = "\n".join(page.read_text() for page in PAGES)

PRINTED = {
    "motion.particles": 200,
    "motion.shift_std": 10,
    "metric.triplets": 500,
    "metric.margin": 1,
    "memory.size": 300,
    "memory.growth": 1.6,
    "representation.gamma_f": 1,
    "representation.gamma_b": 1,
    "representation.rho": 0.1,
    "memory.sampling": "time-weighted",
}

DEFAULT_CHANGES = {
    "regression.enabled": True,
    "confidence.weights": "regression",
    "motion.particles": 50,
    "memory.size": 100,
    "memory.first": 7,
    "memory.positives": 7,
    "memory.negatives": 7,
    "metric.triplets": 200,
    "memory.learn_when": "tracking",
    "search.candidates": 600,
    "representation.loyalty": 1.0,
}


def test_preset_paper_has_the_settings_the_paper_prints():
    settings = preset("paper").to_dict()
    assert {name: settings[name] for name in PRINTED} == PRINTED


def test_the_settings_named_in_deviations_have_the_values_given():
    named = dict(re.findall(r"`(\w+\.\w+) = ([\w.-]+)`", DEVIATIONS))
    paper = preset("paper").replace({k: v for k, v in named.items() if k not in OTHERWISE})
    assert len(named) > 12
    assert paper == preset("paper")
    assert set(named) >= {name for name, value in default_differences().items()}


OTHERWISE = {"memory.sampling", *DEFAULT_CHANGES}  # named there as what another choice would be


def default_differences():
    paper, default = preset("paper").to_dict(), preset("default").to_dict()
    return {name: value for name, value in default.items() if value != paper[name]}


def test_default_is_paper_with_the_changes_documented():
    assert default_differences() == DEFAULT_CHANGES


@pytest.mark.parametrize("reference", sorted(set(re.findall(r"`(tests/[\w/]+\.py[\w:]*)`", TEXTS))))
def test_the_tests_named_in_documents_exist(reference):
    file, *names = reference.split("::")
    body = ast.parse((ROOT / file).read_text()).body
    for name in names:
        found = [node for node in body if getattr(node, "name", None) == name]
        assert found, f"{reference} does not exist"
        body = getattr(found[0], "body", [])


def test_constraints_hold_exact_versions_and_no_addresses():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"#.*|[\w.-]+==[\w.]+", line) for line in lines)
    assert not any("://" in line for line in lines)


def test_the_python_in_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    assert "tracking" in capsys.readouterr().out
    assert (tmp_path / "balloon.npz").is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_documents_link_to_exists(page):
    for target in re.findall(r"\]\((?!http)([^)#]+)[^)]*\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_source_files_named_in_documents_exist(page):
    for name in re.findall(r"`(?:src/metrack/)?((?:[a-z_]+/)+[a-z_]+\.(?:py|js))`", page.read_text()):
        assert any((root / name).is_file() for root in (ROOT / "src/metrack", ROOT)), name


SETTING = (
    r"`[^`\n]*?\b((?:motion|features|representation|memory|metric|ranking|search|regression|confidence)\.[a-z_]+)\b"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_settings_named_in_documents_exist(page):
    named = set(re.findall(SETTING, page.read_text()))
    assert {name for name in named if not name.endswith((".py", ".md"))} <= set(preset("default").to_dict())
