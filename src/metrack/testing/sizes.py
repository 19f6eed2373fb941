"""Limits on sizes: how many modules stand at the top level, how long files and functions are."""

from __future__ import annotations

import ast
from pathlib import Path

TOP_LEVEL = 9  # modules
PYTHON_FILE, FUNCTION, JAVASCRIPT_FILE = 350, 45, 250  # lines


def find_oversizes(folder: Path) -> list[str]:
    """Return a sentence for every Python or JavaScript file, and every Python function, that is too long."""
    found: list[str] = []
    for file in sorted(folder.rglob("*.py")):
        text, name = file.read_text(encoding="utf-8"), file.relative_to(folder).as_posix()
        found += _too_long(name, len(text.splitlines()), PYTHON_FILE)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                found += _too_long(f"{name}:{node.lineno} {node.name}", lines, FUNCTION)
    for file in sorted([*folder.rglob("*.js"), *folder.rglob("*.mjs")]):
        lines = len(file.read_text(encoding="utf-8").splitlines())
        found += _too_long(file.relative_to(folder).as_posix(), lines, JAVASCRIPT_FILE)
    return found


def find_crowd(root: Path) -> list[str]:
    """Return a sentence if too many modules stand at the top level of a package."""
    names = sorted(file.stem for file in root.glob("*.py"))
    if len(names) <= TOP_LEVEL:
        return []
    return [f"the top level may have {TOP_LEVEL} modules, but has {len(names)}: {', '.join(names)}"]


def _too_long(what: str, lines: int, most: int) -> list[str]:
    return [f"{what} has {lines} lines, more than {most}"] if lines > most else []
