"""``metrack demo``: paint the built-in clip, track its balloon, and compare with the ground truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from metrack.arrays import Frame
from metrack.box import iou
from metrack.draw.marks import Mark, draw, text_size, write_text
from metrack.draw.palette import WHITE
from metrack.draw.pictures import grid, write_picture
from metrack.files import replace_text
from metrack.frames import VideoWriter
from metrack.frames.formats import Record
from metrack.runs.follow import Progress, follow
from metrack.runs.halt import Halt
from metrack.runs.job import Job
from metrack.runs.lock import FolderLock
from metrack.runs.report import write_page
from metrack.runs.results import check_folder, make_folder, read_records, write_summary
from metrack.runs.summary import RUNNING
from metrack.synth.balloon import builtin_clip
from metrack.synth.clip import Clip

COLUMNS, ROWS, GAP = 4, 2, 6  # of the contact sheet; the gap is in pixels


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement with the ground truth in the frames where at least half of the target is visible."""

    visible: int
    followed: int  # of those: frames with an overlap above one half
    mean_overlap: float

    @property
    def share(self) -> float:
        """Percentage of the visible frames that were followed."""
        return 100.0 * self.followed / max(self.visible, 1)


def run_demo(
    out: Path,
    *,
    frames: int = 300,
    preset: str = "default",
    seed: int = 0,
    watch: Callable[[Progress], None] = lambda _: None,
    halt: Halt | None = None,
) -> tuple[dict[str, Any], Agreement]:
    """Paint the clip, track it and compare; return the summary of the run and how well it agrees with the truth."""
    check_folder(out)
    clip = builtin_clip(frames)
    job = Job(source=str(out / "clip.mp4"), boxes=[clip.first_box.to_xywh()], preset=preset, seed=seed)
    job.check()
    make_folder(out)
    with FolderLock(out) as lock:
        write_summary(out, {"status": RUNNING})
        paint_clip(clip, out, watch)
        summary = follow(job, out, watch=watch, halt=halt, leave=lambda _: _leave(clip, out), lock=lock)
    return summary, compare(clip, read_records(out))


def _leave(clip: Clip, out: Path) -> None:
    write_picture(out / "contact.png", contact_sheet(clip, read_records(out)))
    write_page(out)


def paint_clip(clip: Clip, out: Path, watch: Callable[[Progress], None]) -> None:
    """Write the clip as a video and its ground truth as a table."""
    lines = ["frame,x,y,w,h,visible"]
    watch(Progress("painting the clip", 0, len(clip)))
    with VideoWriter(out / "clip.mp4", clip.size, clip.fps, crf=16) as video:
        for index, (image, truth) in enumerate(zip(clip, clip.truth, strict=True)):
            video.write(image)
            numbers = (*truth.box.to_xywh(), truth.visible)
            lines.append(",".join([str(index), *(f"{number:.3f}" for number in numbers)]))
            watch(Progress("painting the clip", index + 1, len(clip)))
    replace_text(out / "truth.csv", "\n".join(lines) + "\n")


def compare(clip: Clip, records: Sequence[Record]) -> Agreement:
    """Compare records with the ground truth."""
    seen = [record for record in records if clip.truth[record.frame].visible >= 0.5]
    found = np.array([record.box.to_xywh() for record in seen])
    truth = np.array([clip.truth[record.frame].box.to_xywh() for record in seen])
    overlap = iou(found, truth)
    return Agreement(len(seen), int((overlap > 0.5).sum()), float(overlap.mean()))


def contact_sheet(clip: Clip, records: Sequence[Record]) -> Frame:
    """Tile frames of the whole clip: ground truth thin and white, estimate bold."""
    chosen = np.linspace(0, len(records) - 1, COLUMNS * ROWS).round().astype(int)
    sheet = grid([_tile(clip, records[index]) for index in chosen], COLUMNS, GAP)
    return np.pad(sheet, ((GAP, GAP), (GAP, GAP), (0, 0)), constant_values=255)


def _tile(clip: Clip, record: Record) -> Frame:
    truth = clip.truth[record.frame]
    marks = [
        Mark(record.box, record.target, record.score, record.state),
        Mark(truth.box, colour=WHITE, thin=True),
    ]
    tile = draw(clip[record.frame], marks)
    text, size = f"frame {record.frame}", max(12, clip.size[1] // 24)
    write_text(tile, text, 8, tile.shape[0] - text_size(text, size)[1] - 6, size)
    return tile
