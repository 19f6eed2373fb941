"""The modules of a package as syntax trees: what the rules about imports and sizes are checked on."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Module:
    """One Python file of a package whose root folder has the package's name."""

    file: Path
    root: Path

    @property
    def path(self) -> tuple[str, ...]:
        """Its file below the root without the suffix: ``("motion", "cloud")``."""
        return self.file.relative_to(self.root).with_suffix("").parts

    @property
    def part(self) -> str:
        """The room it belongs to: its top-level folder, or itself."""
        return self.path[0]

    @property
    def name(self) -> str:
        """Its place as people write it: ``motion/cloud.py``."""
        return self.file.relative_to(self.root).as_posix()

    @property
    def dotted(self) -> str:
        """The name it is imported by."""
        names = self.path[:-1] if self.path[-1] == "__init__" else self.path
        return ".".join([self.root.name, *names])

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.file.read_text(encoding="utf-8"))

    def imports(self) -> list[tuple[int, str, str]]:
        """Return line, module and name (empty for ``import module``) of every import, wherever it stands."""
        package = [self.root.name, *self.path[:-1]]
        found: list[tuple[int, str, str]] = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found += [(node.lineno, alias.name, "") for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                start = package[: len(package) - node.level + 1] if node.level else []
                base = ".".join([*start, *([node.module] if node.module else [])])
                found += [(node.lineno, base, alias.name) for alias in node.names]
        return found


def read_package(root: Path) -> list[Module]:
    """Return all modules below a package's root folder, in the order of their names."""
    return [Module(file, root) for file in sorted(root.rglob("*.py"))]
