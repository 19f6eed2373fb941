"""``python -m metrack.testing imports`` and ``python -m metrack.testing sizes [FOLDER ...]``: rules of the source tree.

Everything that breaks a rule is printed, one line each, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import metrack
from metrack.testing import imports, sizes


def main(arguments: Sequence[str] | None = None) -> int:
    """Check one of the rules; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m metrack.testing", description="Check the rules of the source tree."
    )
    parser.add_argument("rule", choices=("imports", "sizes"))
    parser.add_argument("folders", nargs="*", type=Path, help="more folders whose sizes are checked")
    options = parser.parse_args(arguments)
    root = Path(metrack.__file__).parent
    if options.rule == "imports":
        print(imports.describe_layers())  # noqa: T201
        broken = imports.find_crossings(root) + imports.find_private_access(root)
    else:
        broken = sizes.find_crowd(root)
        broken += [sentence for folder in (root, *options.folders) for sentence in sizes.find_oversizes(folder)]
    print("\n".join(broken) or f"no rule about {options.rule} is broken")  # noqa: T201
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
