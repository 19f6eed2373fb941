"""Hard painted sequences: one difficulty each, with exact truth, another target and place for every seed."""

from metrack.hard.clip import DIFFICULTIES, FRAMES, HardClip, hard_clip

__all__ = ["DIFFICULTIES", "FRAMES", "HardClip", "hard_clip"]
