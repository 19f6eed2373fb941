"""Imports point one way through the layers of the package, and no module uses another's private names.

Private is a name with one leading underscore. A module may import or use as an attribute only those it defines itself;
``self._x`` and ``cls._x`` are a class's own affair. An attribute counts as another module's if some module of the
package defines that name and the module that uses it does not: a name that both define cannot be told apart.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from metrack.testing.source import Module, read_package

FACE = "__init__"  # the public names of the package: for its users and upper layers, not for its parts
LAYERS = (
    {"arrays", "box", "checks", "config", "estimate", "files", "threads"},
    {"frames", "motion", "features", "draw"},
    {"representation", "memory", "metric", "regression"},
    {"identity", "tracking"},
    {"runs"},
    {FACE},
    {"synth", "rivals", "adapters"},
    {"evaluation", "experiments", "testing"},
    {"cli", "studio", "__main__"},
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def describe_layers() -> str:
    """Return the layers as lines, the lowest last: each may import what stands below it."""
    return "\n".join(f"{level + 1}  {', '.join(sorted(LAYERS[level]))}" for level in reversed(range(len(LAYERS))))


def find_crossings(root: Path) -> list[str]:
    """Return a sentence for every import of a higher layer, and for every part that has no layer."""
    modules = read_package(root)
    parts = {module.part for module in modules}
    unplaced = [f"{part} has no layer in metrack/testing/imports.py" for part in sorted(parts - set(LEVEL))]
    crossings = [
        f"{module.name}:{line} belongs to {module.part} and may not import {part}"
        for module in modules
        if module.part in LEVEL and module.part != FACE  # which gathers names from all over
        for line, part in _imported_parts(module, parts)
        if LEVEL.get(part, -1) > LEVEL[module.part]
    ]
    return unplaced + crossings


def _imported_parts(module: Module, parts: set[str]) -> Iterator[tuple[int, str]]:
    for line, source, name in module.imports():
        path = [*source.split("."), *([name] if name else [])]
        if path[0] == module.root.name:
            yield line, path[1] if len(path) > 1 and path[1] in parts else FACE


def find_private_access(root: Path, users: list[Module] | None = None) -> list[str]:
    """Return a sentence for every use of a private name of another module of the package.

    ``users`` are the modules to look at where these are not those of the package itself (scripts, say).
    """
    modules = read_package(root)
    owners: dict[str, list[str]] = {}
    for module in modules:
        for name in _defined(module):
            owners.setdefault(name, []).append(module.name)
    return [sentence for module in (modules if users is None else users) for sentence in _accesses(module, owners)]


def _accesses(module: Module, owners: dict[str, list[str]]) -> Iterator[str]:
    own, imported = _defined(module), set()
    for line, source, name in module.imports():
        imported.add((name or source).rpartition(".")[2])
        if _is_private(name) and source != module.dotted:
            yield f"{module.name}:{line} imports {name} from {source}"
    for node in ast.walk(module.tree):
        holder, name = _attribute(node)
        if not _is_private(name) or holder in ("self", "cls") or name not in owners:
            continue
        if name not in own or holder in imported:
            yield f"{module.name}:{node.lineno} uses {name} of {', '.join(owners[name])}"  # type: ignore[attr-defined]


def _attribute(node: ast.AST) -> tuple[str, str]:
    """Return who is asked for which attribute, by a dot or by ``getattr`` and ``setattr`` with a constant name."""
    if isinstance(node, ast.Attribute):
        return _name(node.value), node.attr
    if isinstance(node, ast.Call) and _name(node.func) in ("getattr", "setattr", "hasattr") and len(node.args) > 1:
        target, asked = node.args[:2]
        if isinstance(asked, ast.Constant) and isinstance(asked.value, str):
            return _name(target), asked.value
    return "", ""


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _defined(module: Module) -> set[str]:
    """Return the private names a module defines: functions, classes, variables, fields and attributes of ``self``."""
    found: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _name(node.value) == "self":
            found.add(node.attr)
    return {name for name in found if _is_private(name)}


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")
