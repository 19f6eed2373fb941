"""Painted clips with exact truth: the built-in balloon, the hard clips, and the demo made of the balloon."""

from metrack.synth.balloon import builtin_clip, crossing_balloons
from metrack.synth.clip import Clip, Truth
from metrack.synth.hard import DIFFICULTIES, FRAMES, HardClip, hard_clip

__all__ = ["DIFFICULTIES", "FRAMES", "Clip", "HardClip", "Truth", "builtin_clip", "crossing_balloons", "hard_clip"]
