"""Trackers of others behind the interface of ours, to be compared with; most come with the extra ``peers``.

A new rival is one file and one line of ``RIVALS``.
"""

from metrack.rivals import dlib, opencv, static
from metrack.rivals.base import INSTALL, Rival, RivalTracker, TargetTracker

__all__ = ["INSTALL", "RIVALS", "Rival", "RivalTracker", "TargetTracker"]

RIVALS: dict[str, Rival] = {
    **opencv.RIVALS,
    "dsst": dlib.DSST,
    "static": static.STATIC,
}
