"""Videos with a box file beside them: ``clip.mp4`` and ``clip.txt``, one pair or a folder of pairs.

Lines are those of OTB and of this package's ``boxes.txt``: x, y, w, h with the first pixel number one, one per frame.
"""

from __future__ import annotations

from pathlib import Path

from metrack.evaluation.layouts.places import assemble, read_places
from metrack.evaluation.layouts.truth import read_one_based
from metrack.evaluation.pictures import VideoPictures
from metrack.evaluation.sequences import Sequence
from metrack.frames.images import natural_order
from metrack.frames.video import VideoFile

SIGN = "clip.mp4 and clip.txt"
SUFFIXES = {".avi", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".ogv", ".webm", ".wmv"}


def fits(place: Path) -> bool:
    """Whether there is a video with boxes."""
    return bool(_pairs(place))


def read(folder: Path) -> list[Sequence]:
    """Read a video with boxes, or all of a folder."""
    return [_read_video(folder)] if folder.is_file() else read_places(folder, fits, _read_place)


def _read_place(place: Path) -> list[Sequence]:
    return [_read_video(video) for video in _pairs(place)]


def _pairs(place: Path) -> list[Path]:
    videos = [path for path in place.iterdir() if path.suffix.lower() in SUFFIXES]
    return natural_order([video for video in videos if video.with_suffix(".txt").is_file()])


def _read_video(video: Path) -> Sequence:
    file = video.with_suffix(".txt")
    truth = read_one_based(file)
    return assemble(video.stem, VideoPictures(video, stop=_frames(video, len(truth))), truth, file)


def _frames(video: Path, expected: int) -> int:
    """Count the frames: what the file says may be wrong, so what differs from the boxes is counted one by one."""
    with VideoFile(str(video)) as source:
        return expected if source.frames == expected else sum(1 for _ in source)
