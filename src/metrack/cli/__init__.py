"""The command line: parse, call, print."""

from metrack.cli import evaluate, follow, gallery, report, reproduce, studio
from metrack.cli.app import app, main, run

__all__ = ["app", "evaluate", "follow", "gallery", "main", "report", "reproduce", "run", "studio"]
