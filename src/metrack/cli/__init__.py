"""The command line: parse, call, print."""

from metrack.cli import bench, follow, gallery, studio
from metrack.cli.app import app, main, run

__all__ = ["app", "bench", "follow", "gallery", "main", "run", "studio"]
