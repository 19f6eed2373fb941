"""Checks for whoever writes a tracker or changes the package: :func:`check_tracker`, and the rules of the source tree.

``python -m metrack.testing imports`` shows the layers of the package and what crosses them; ``python -m
metrack.testing sizes`` finds files and functions that have grown too long.
"""

from metrack.testing.battery import CHECKS, check_tracker

__all__ = ["CHECKS", "check_tracker"]
