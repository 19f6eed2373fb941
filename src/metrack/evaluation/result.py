"""The result of a run, kept in three small text files.

``NAME.txt`` has one OTB line per frame, ``NAME.states.csv`` score and state, ``NAME.times.txt`` the seconds the tracker
took, below a checksum of all three: a run whose files have changed is not finished, and will be made again. The boxes
are written last and in one step: if they exist, the run is finished. A run that failed leaves ``NAME.error.txt`` with
the reason instead.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from metrack.box import Box
from metrack.files import LARGEST, replace_text
from metrack.frames.formats import from_otb_line, to_otb_line

CHECK = "# checksum of boxes, states and times: "  # begins the file of times


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
    table = _lines(["score,state", *states])
    times = _lines([f"{value:.6f}" for value in result.seconds])
    boxes = _lines([to_otb_line(Box(*box)) for box in result.boxes.tolist()])
    replace_text(folder / f"{name}.states.csv", table)
    replace_text(folder / f"{name}.times.txt", f"{CHECK}{_checksum(folder, name, boxes, table, times)}\n{times}")
    replace_text(folder / f"{name}.txt", boxes)
    error.unlink(missing_ok=True)


def is_finished(folder: Path, name: str, frames: int) -> bool:
    """Whether all files of a run exist, are complete, and as they were written."""
    try:
        found = read_result(folder, name)
    except ValueError:
        return False
    whole = all((folder / file).is_file() for file in (f"{name}.txt", f"{name}.states.csv", f"{name}.times.txt"))
    return whole and len(found.boxes) == frames


def read_result(folder: Path, name: str) -> RunResult:
    """Read the result of a run; of boxes that another program made, scores, states and times may be missing."""
    error, boxes_file = folder / f"{name}.error.txt", folder / f"{name}.txt"
    if not boxes_file.is_file() and error.is_file():
        return RunResult.failed(" ".join(error.read_text(encoding="utf-8", errors="replace").split()))
    boxes = read_boxes(boxes_file)
    count = len(boxes)
    scores, states, seconds = np.full(count, np.nan), ("",) * count, np.full(count, np.nan)
    states_file, times_file = folder / f"{name}.states.csv", folder / f"{name}.times.txt"
    if states_file.is_file():
        scores, states = _read_states(states_file)
    if times_file.is_file():
        first, _, times = _text(times_file).partition("\n")
        if not first.startswith(CHECK):  # of an earlier version
            times = _text(times_file)
        elif first != CHECK + _checksum(folder, name, _text(boxes_file), _text(states_file), times):
            changed = "it, a file beside it or the name of its folder has changed"
            raise ValueError(f"{boxes_file} must be as it was written, but {changed}")
        seconds = _numbers(times_file, times.splitlines())
    for file, values in ((states_file, scores), (times_file, seconds)):
        if len(values) != count:
            raise ValueError(f"{file} must have one line per box, got {len(values)} for {count}")
    return RunResult(boxes, scores, states, seconds)


def read_boxes(path: Path) -> NDArray[np.float64]:
    """Read OTB lines; NaN stands for frames in which a tracker gave no box."""
    lines = _text(path).splitlines()
    boxes = np.empty((len(lines), 4))
    for number, line in enumerate(lines, 1):
        try:
            boxes[number - 1] = from_otb_line(line).to_xywh()
        except (ValueError, TypeError):
            raise ValueError(f"{path} line {number} must be four numbers x,y,w,h, got {line[:60]!r}") from None
        if np.abs(boxes[number - 1]).max() > LARGEST:
            raise ValueError(f"{path} line {number} must be numbers up to {LARGEST:g}, got {line[:60]!r}")
    return boxes


def _read_states(path: Path) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Read the scores and states of all frames."""
    rows = [line.partition(",") for line in _text(path).splitlines()[1:]]
    return _numbers(path, [row[0] or "nan" for row in rows], first=2), tuple(row[2] for row in rows)


def _numbers(path: Path, texts: Sequence[str], first: int = 1) -> NDArray[np.float64]:
    """Read one number per line, from that line on."""
    values = np.empty(len(texts))
    for number, text in enumerate(texts):
        try:
            values[number] = float(text)
        except ValueError:
            raise ValueError(f"{path} line {number + first} must have a number, got {text[:60]!r}") from None
    return values


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{path} must be a file of results, but cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} must be a file of results, but is damaged") from None


def _checksum(folder: Path, name: str, *texts: str) -> str:
    """Return the checksum of the files of one run of a tracker, which are not those of another."""
    return f"{zlib.crc32(chr(0).join((folder.name, name, *texts)).encode()):08x}"


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.6f}"


def _lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
