"""The commands about known targets: gallery build and gallery show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from metrack.cli.app import app, console

if TYPE_CHECKING:
    from metrack.identity import Gallery

gallery = typer.Typer(name="gallery", help="Known targets: who can be identified.", invoke_without_command=True)
app.add_typer(gallery)

SHOWN = 20  # targets listed


@gallery.callback()
def _root(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        console.print(context.get_help(), markup=False)


@gallery.command()
def build(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="One folder of crops per target; its name is the target's.")
    ],
    out: Annotated[
        Path, typer.Option("-o", "--out", help="The gallery, an .npz file; an older one is written over.")
    ] = Path("gallery.npz"),
    seed: Annotated[int, typer.Option(help="Same crops and same seed, same gallery.")] = 0,
) -> None:
    """Learn from crops who is who, DIR/NAME/*.jpg, and save it."""
    from metrack.identity import Gallery

    if not out.parent.is_dir():
        raise ValueError(f"--out must lie in an existing folder, but there is no {str(out.parent)!r}")
    if out.is_dir():
        raise ValueError(f"--out must be a file, but {str(out)!r} is a folder")
    made = Gallery.from_folder(folder, seed=seed)
    made.save(out)
    _tell(made)
    console.print(f"saved in {escape(str(out))}", soft_wrap=True)


@gallery.command()
def show(
    path: Annotated[Path, typer.Argument(metavar="GALLERY", help="A file made by gallery build.")],
) -> None:
    """List the targets of a gallery."""
    from metrack.identity import Gallery

    _tell(Gallery.load(path))


def _tell(known: Gallery) -> None:
    table = Table("target", "templates")
    table.columns[1].justify = "right"
    for name, templates in list(zip(known.names, known.templates, strict=True))[:SHOWN]:
        table.add_row(escape(name), str(len(templates)))
    console.print(table)
    if len(known) > SHOWN:
        console.print(f"and {len(known) - SHOWN} more")
    learned = "a metric learned from them" if known.metric is not None else "the plain metric"
    total = sum(len(each) for each in known.templates)
    console.print(f"{_counted(len(known), 'target')}, {_counted(total, 'template')}, {learned}")
    if len(known) == 1:
        console.print("with one target an answer is its name or unknown")


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
