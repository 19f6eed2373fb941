"""The result of a run, kept in three small text files.

``NAME.txt`` has one OTB line per frame, ``NAME.states.csv`` score and state, ``NAME.times.txt`` the seconds the tracker
took. The boxes are written last and in one step: if they exist, the run is finished. A run that failed leaves
``NAME.error.txt`` with the reason instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from metrack.box import Box
from metrack.files import replace_text
from metrack.frames.formats import from_otb_line, to_otb_line


@dataclass(frozen=True, slots=True)
class RunResult:
    """Boxes ``(T, 4)``, scores ``(T,)`` (NaN where there are none), states and seconds of T frames, or an error."""

    boxes: NDArray[np.float64]
    scores: NDArray[np.float64]
    states: tuple[str, ...]
    seconds: NDArray[np.float64]
    error: str | None = None

    @classmethod
    def failed(cls, error: str) -> RunResult:
        """Return the result of a run that failed."""
        return cls(np.empty((0, 4)), np.empty(0), (), np.empty(0), error)


def write_result(folder: Path, name: str, result: RunResult) -> None:
    """Write the result of a run; one that failed leaves its error and will be tried again next time."""
    folder.mkdir(parents=True, exist_ok=True)
    error = folder / f"{name}.error.txt"
    if result.error is not None:
        replace_text(error, result.error + "\n")
        return
    states = [f"{_number(score)},{state}" for score, state in zip(result.scores, result.states, strict=True)]
    replace_text(folder / f"{name}.states.csv", _lines(["score,state", *states]))
    replace_text(folder / f"{name}.times.txt", _lines([f"{value:.6f}" for value in result.seconds]))
    replace_text(folder / f"{name}.txt", _lines([to_otb_line(Box(*box)) for box in result.boxes.tolist()]))
    error.unlink(missing_ok=True)


def is_finished(folder: Path, name: str, frames: int) -> bool:
    """Whether all files of a run exist and are complete."""
    expected = {f"{name}.txt": frames, f"{name}.states.csv": frames + 1, f"{name}.times.txt": frames}
    return all(_line_count(folder / file) == lines for file, lines in expected.items())


def read_result(folder: Path, name: str) -> RunResult:
    """Read the result of a run; of boxes that another program made, scores, states and times may be missing."""
    error = folder / f"{name}.error.txt"
    boxes_file = folder / f"{name}.txt"
    if not boxes_file.is_file() and error.is_file():
        return RunResult.failed(error.read_text(encoding="utf-8").strip())
    boxes = read_boxes(boxes_file)
    count = len(boxes)
    scores, states = np.full(count, np.nan), ("",) * count
    states_file, times_file = folder / f"{name}.states.csv", folder / f"{name}.times.txt"
    if states_file.is_file():
        rows = [line.split(",") for line in states_file.read_text(encoding="utf-8").splitlines()[1:]]
        scores, states = np.array([float(row[0] or "nan") for row in rows]), tuple(row[1] for row in rows)
    seconds = np.loadtxt(times_file, ndmin=1) if times_file.is_file() else np.full(count, np.nan)
    for file, values in ((states_file, scores), (times_file, seconds)):
        if len(values) != count:
            raise ValueError(f"{file} must have one line per box, got {len(values)} for {count}")
    return RunResult(boxes, scores, states, seconds)


def read_boxes(path: Path) -> NDArray[np.float64]:
    """Read OTB lines; NaN stands for frames in which a tracker gave no box."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ValueError(f"{path} must be a file of boxes, but cannot be read ({error.strerror})") from None
    boxes = np.empty((len(lines), 4))
    for number, line in enumerate(lines, 1):
        try:
            boxes[number - 1] = from_otb_line(line).to_xywh()
        except (ValueError, TypeError):
            raise ValueError(f"{path} line {number} must be four numbers x,y,w,h, got {line!r}") from None
    return boxes


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.6f}"


def _lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _line_count(path: Path) -> int:
    try:
        return path.read_bytes().count(b"\n")
    except OSError:
        return -1
