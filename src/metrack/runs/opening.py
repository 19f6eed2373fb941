"""What a run needs before its first step: the frame that the boxes are on, its length, and compiled kernels."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from metrack.arrays import Frame
from metrack.box import Box
from metrack.config import TrackerConfig
from metrack.frames import Source, VideoFrame
from metrack.tracking.tracker import Tracker

if TYPE_CHECKING:
    from metrack.runs.job import Job


def first_frame(frames: Iterator[VideoFrame], job: Job, source: Source) -> VideoFrame:
    """Read the frame that the boxes are on."""
    first = next(frames, None)
    if first is None:
        count = "fewer" if source.frames is None else source.frames
        raise ValueError(f"start must be a frame of {source.name}, which has {count} frames, got {job.start}")
    return first


def expected_length(source: Source, job: Job) -> int | None:
    """Return how many frames there will be, None where that cannot be known."""
    ends = [end for end in (source.frames, job.stop) if end is not None]
    return min(ends) - job.start if ends else None


def checksum(frame: VideoFrame) -> int:
    """Return a number by which the first frame of a source is recognised."""
    return zlib.crc32(frame.image.tobytes())


def compile_kernels(config: TrackerConfig, image: Frame, box: Box) -> None:
    """Trigger JIT compilation by tracking one frame four times.

    The memory is small, so that it fills up and the kernels that replace samples are compiled too.
    """
    tracker = Tracker(config.replace({"memory.size": 8, "motion.particles": 32}))
    tracker.init(image, box)
    for _ in range(3):
        tracker.update(image)
