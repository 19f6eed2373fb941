"""Frame sources, the video writer, and boxes as text."""

from metrack.frames.base import Source, VideoFrame
from metrack.frames.sink import VideoWriter
from metrack.frames.source import open_source

__all__ = ["Source", "VideoFrame", "VideoWriter", "open_source"]
