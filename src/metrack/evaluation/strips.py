"""A few frames of a sequence with everybody's boxes on them, small enough to stand inside a page."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping
from html import escape

import numpy as np
from PIL import Image as Pillow

from metrack.box import Box
from metrack.checks import Frame
from metrack.evaluation.judged import Judged
from metrack.evaluation.pictures import ImagePictures, Pictures
from metrack.evaluation.sequences import Sequence
from metrack.frames.base import Image
from metrack.frames.draw import Mark, draw

COUNT, WIDTH, QUALITY = 6, 320, 80
WHITE = (255, 255, 255)


def strip_html(sequence: Sequence, runs: Mapping[str, Judged], colours: Mapping[str, str]) -> str:
    """Show frames from the first start to the end: boxes in the colours of their trackers, the truth thin and white.

    Boxes are drawn in the order of ``runs``: the last one lies on top.
    """
    first = min((run.start for run in runs.values()), default=0)
    chosen = np.unique(np.linspace(first, len(sequence) - 1, COUNT).round().astype(int)).tolist()
    shots = [
        f'<figure><img src="{_data_uri(_tile(sequence, index, frame, runs, colours))}" decoding="async" '
        f'alt="Frame {index} of {escape(sequence.name)}: boxes of {escape(_names(runs))}, and the truth">'
        f"<figcaption>frame {index}</figcaption></figure>"
        for index, frame in zip(chosen, _frames(sequence.pictures, chosen), strict=True)
    ]
    return f'<div class="strip">{"".join(shots)}</div>'


def _names(runs: Mapping[str, Judged]) -> str:
    return ", ".join(runs) or "no tracker"


def _frames(pictures: Pictures, chosen: list[int]) -> Iterator[Frame]:
    """Give the frames of these numbers; only image files can be opened one by one at no cost."""
    if isinstance(pictures, ImagePictures):
        yield from ImagePictures(tuple(pictures.files[index] for index in chosen))
    else:
        yield from (frame for index, frame in enumerate(pictures.part(0, chosen[-1] + 1)) if index in chosen)


def _tile(
    sequence: Sequence, index: int, frame: Frame, runs: Mapping[str, Judged], colours: Mapping[str, str]
) -> Image:
    small, scale = _shrunk(frame)
    marks = [
        Mark(_scaled(run.outcome.boxes[index - run.start], scale), colour=_rgb(colours[label]))
        for label, run in runs.items()
        if 0 <= index - run.start < len(run.outcome.boxes)
    ]
    return draw(small, [*marks, Mark(_scaled(sequence.truth[index], scale), colour=WHITE, thin=True)])


def _shrunk(frame: Frame) -> tuple[Image, float]:
    """Return an RGB picture no wider than ``WIDTH``, and by how much it was shrunk."""
    image = Pillow.fromarray(frame).convert("RGB")
    scale = min(1.0, WIDTH / image.width)
    if scale < 1:
        image = image.resize((WIDTH, max(1, round(image.height * scale))), Pillow.Resampling.LANCZOS)
    return np.asarray(image), scale


def _scaled(box: np.ndarray[tuple[int, ...], np.dtype[np.float64]], scale: float) -> Box:
    return Box(*(float(value) for value in box * scale))


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red, green, blue


def _data_uri(image: Image) -> str:
    buffer = io.BytesIO()
    Pillow.fromarray(image).save(buffer, "JPEG", quality=QUALITY, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()
