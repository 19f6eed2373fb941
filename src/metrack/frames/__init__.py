"""Frames in, frames and boxes out."""

from metrack.frames.base import Frame, Source
from metrack.frames.draw import Mark, draw
from metrack.frames.sink import VideoWriter
from metrack.frames.source import open_source

__all__ = ["Frame", "Mark", "Source", "VideoWriter", "draw", "open_source"]
