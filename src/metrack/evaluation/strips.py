"""A few small frames of a sequence with the boxes of all trackers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from metrack.arrays import Frame
from metrack.box import Box
from metrack.draw.marks import Mark, draw
from metrack.draw.page import strip_html
from metrack.draw.palette import WHITE, Look, from_hex
from metrack.draw.pictures import shrunk
from metrack.evaluation.comparison import ScoredRun
from metrack.evaluation.pictures import ImagePictures, Pictures
from metrack.evaluation.sequences import Sequence

COUNT, WIDTH = 6, 320


def boxes_html(sequence: Sequence, runs: Mapping[str, ScoredRun], looks: Mapping[str, Look]) -> str:
    """Show frames from the first start to the end: boxes in the colours of their trackers, the truth thin and white.

    Boxes are drawn in the order of ``runs``: the last one lies on top.
    """
    first = min((run.start for run in runs.values()), default=0)
    chosen = np.unique(np.linspace(first, len(sequence) - 1, COUNT).round().astype(int)).tolist()
    names = ", ".join(runs) or "no tracker"
    return strip_html(
        (
            _tile(sequence, index, frame, runs, looks),
            f"Frame {index} of {sequence.name}: boxes of {names}, and the truth",
            f"frame {index}",
        )
        for index, frame in zip(chosen, _frames(sequence.pictures, chosen), strict=True)
    )


def _frames(pictures: Pictures, chosen: list[int]) -> Iterator[Frame]:
    """Give the frames of these numbers; only image files can be opened one by one at no cost."""
    if isinstance(pictures, ImagePictures):
        yield from ImagePictures(tuple(pictures.files[index] for index in chosen))
    else:
        yield from (frame for index, frame in enumerate(pictures.part(0, chosen[-1] + 1)) if index in chosen)


def _tile(
    sequence: Sequence, index: int, frame: Frame, runs: Mapping[str, ScoredRun], looks: Mapping[str, Look]
) -> Frame:
    small, scale = shrunk(frame, WIDTH)
    marks = [
        Mark(_scaled(run.result.boxes[index - run.start], scale), colour=from_hex(looks[label].colour))
        for label, run in runs.items()
        if 0 <= index - run.start < len(run.result.boxes)
    ]
    return draw(small, [*marks, Mark(_scaled(sequence.truth[index], scale), colour=WHITE, thin=True)])


def _scaled(box: np.ndarray[tuple[int, ...], np.dtype[np.float64]], scale: float) -> Box:
    return Box(*(float(value) for value in box * scale))
