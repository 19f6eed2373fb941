"""The command line: parse, call, print; one file a command."""

from importlib import import_module

from metrack.cli.app import app, main, run

__all__ = ["app", "main", "run"]

# in the order in which help lists them
COMMANDS = ("track", "demo", "map", "info", "gallery", "studio", "evaluate", "report", "reproduce")

for name in COMMANDS:  # importing a file adds its command to the app
    import_module(f"metrack.cli.{name}")
