"""The words of options: those that several commands share, and the options that arguments of the library are.

The library's errors name its arguments ("boxes must ..."); whoever typed a command wants to read "--box must ...".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

Out = Annotated[
    Path,
    typer.Option(
        "-o",
        "--out",
        help="Folder for the results. It must be new, empty or an earlier result of metrack; files of the "
        "earlier result are then written over, other files are left alone.",
    ),
]
Preset = Annotated[str | None, typer.Option(help="Settings to start from; see: metrack info.", show_default="default")]
Seed = Annotated[int | None, typer.Option(help="Same frames and same seed, same boxes.", show_default="0")]
Boxes = Annotated[
    list[str] | None,
    typer.Option(
        "--box",
        metavar="X,Y,W,H",
        help="The target in the first frame, in pixels from the top-left corner; track takes several.",
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Change a setting; see: metrack info --settings."),
]
GalleryPath = Annotated[
    Path | None,
    typer.Option("--gallery", help="Say who it is: a file made by gallery build, or a folder with crops of everybody."),
]

SAME = (
    *("cluster", "gallery", "layout", "length", "preset", "processes", "protocol", "published", "repetitions"),
    *("results", "resume", "seed", "seeds", "sequences", "show", "start", "starts", "stop", "tracker"),
)
ARGUMENTS = {
    "boxes": "--box",
    "box": "--box",
    "changes": "--set",
    "formats": "--format",
    "folder": "--out",
    "source": "SOURCE",
    "video must be False": "--no-video must be given",
    "trackers": "--tracker",
    "dataset": "DATASET",
    **{name: f"--{name}" for name in SAME},
}
OF_COMMAND = {  # where an argument is another option
    "map": {"path": "--out"},
    "gallery": {"gallery": "DIR", "path": "GALLERY"},
    "report": {"folder": "RESULTS"},
    "studio": {"runs": "--runs", "folder": "FOLDER"},
}


def in_options(sentence: str, command: str) -> str:
    """Say in options what an error says in arguments: at its beginning, and where it gives a value.

    >>> in_options("stop must come after start=5, got 3", "track")
    '--stop must come after --start 5, got 3'
    """
    words = ARGUMENTS | OF_COMMAND.get(command, {})
    names = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    sentence = re.sub(rf"^({names})(?=[ ,])", lambda found: words[found[1]], sentence)
    return re.sub(rf"(?<![\w.-])({names})=(?=\S)", lambda found: f"{words[found[1]]} ", sentence)


def parse_box(text: str) -> list[float]:
    """Read the four numbers of a box."""
    try:
        x, y, w, h = (float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"--box must be four numbers X,Y,W,H, got {text!r}") from None
    return [x, y, w, h]


def parse_changes(texts: Sequence[str]) -> dict[str, str]:
    """Read the settings that are changed."""
    for text in texts:
        if "=" not in text:
            raise ValueError(f"--set must be NAME=VALUE, got {text!r}")
    return {name.strip(): value.strip() for name, _, value in (text.partition("=") for text in texts)}
