"""More of what is damaged: the runs of a studio, evaluations, and datasets."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from metrack.evaluation.comparison import score_folder
from metrack.evaluation.evaluate import EvaluationSetup, evaluate
from metrack.evaluation.execute import execute
from metrack.evaluation.plan import PlannedRun, RunProtocol
from metrack.evaluation.result import RunResult
from metrack.evaluation.sequences import read_sequences
from metrack.evaluation.trackers import parse_trackers
from metrack.files import write_json
from metrack.runs.job import Job
from metrack.studio.media import Library
from metrack.studio.store import NOTE, RunStore
from torture.campaign import MissError
from torture.damage_subjects import CLIP, REFUSED, SAME, Runs, Subject, refusal

FRAMES = 6
Json = dict[str, Any]


class StudioRuns(Subject):
    """The folder of a studio with three runs, one of which is damaged."""

    name, damages, weight = "studio", 8, 3.0

    def __init__(self, folder: Path, runs: Runs) -> None:
        super().__init__(folder)
        self.runs = runs

    def prepare(self) -> None:
        like = {"a": self.runs.whole, "b": self.runs.folder, "c": self.runs.whole}
        for number, (name, folder) in enumerate(like.items()):
            shutil.copytree(folder, self.folder / name, dirs_exist_ok=True)
            job = Job(source="clip.mp4", boxes=[CLIP.first_box.to_xywh()], video=False).to_dict()
            note = {"source": "clip", "title": f"Clip {name}", "created": 1e9 + number, "job": job}
            write_json(self.folder / name / NOTE, note)
        self._known = _asked(self.folder)

    def files(self, copy: Path) -> list[Path]:
        read = (NOTE, "summary.json", "trajectory.jsonl")
        found = [path for path in super().files(copy) if path.name in read or path.parent.name == "resume"]
        return found + [path for path in found if path.name == NOTE] * 3

    def check(self, copy: Path, damaged: Path, *, hostile: bool, number: int) -> str:
        own = damaged.relative_to(copy).parts[0]
        found = _asked(copy)
        for name, told in self._known.items():
            if name != own and found.get(name) != told:
                raise MissError(f"run {name} is told of as {str(found.get(name))[:500]}, and only {own} was damaged")
        if own not in found:
            if damaged.name != NOTE or damaged.is_file():
                raise MissError("the damaged run is not listed")
            return REFUSED
        told = found[own]["described"]
        if isinstance(told, str):
            return refusal(ValueError(told), copy, damaged)
        return SAME


def _asked(runs: Path) -> dict[str, Json]:
    """Return what a studio lists and tells of every run."""
    store = RunStore(runs, Library(runs, None, 1 << 20, 1 << 20))
    try:
        found = {}
        for line in store.listing():
            name = line["id"]
            try:
                described: Json | str = store.describe(name)
            except (ValueError, LookupError) as error:
                described = str(error.args[0])
            found[name] = {"line": line, "described": described}
        json.dumps(found, allow_nan=False, ensure_ascii=False).encode()
        return found
    finally:
        store.close()


class Inline:
    """Workers of an evaluation that are this process."""

    def execute(self, runs: list[PlannedRun]) -> Iterator[tuple[PlannedRun, RunResult]]:
        for run in runs:
            yield run, execute(run)


class Evaluations(Subject):
    """Folders of ``metrack evaluate``, evaluated again and scored."""

    name, damages, weight = "evaluations", 6, 2.0

    def prepare(self) -> None:
        self.data = self.folder.parent / "data"
        for sequence, first in (("Ball", 0), ("Bell", 20)):
            place = self.data / sequence
            (place / "img").mkdir(parents=True, exist_ok=True)
            rows = []
            for n in range(FRAMES):
                Image.fromarray(CLIP[first + n]).save(place / "img" / f"{n + 1:04d}.png")
                rows.append(",".join(map(str, CLIP.truth[first + n].box.to_otb())))
            (place / "groundtruth_rect.txt").write_text("\n".join(rows) + "\n")
        self._evaluate(self.folder)
        self._figures = _figures(self.folder)

    def check(self, copy: Path, damaged: Path, *, hostile: bool, number: int) -> str:
        try:
            if number % 2:
                figures = _figures(copy)
                if damaged.is_file() and damaged.suffix in (".txt", ".csv") and figures != self._figures:
                    raise MissError(f"scored as {figures} instead of {self._figures}")
                return SAME
            self._evaluate(copy)
        except ValueError as error:
            return refusal(error, copy, damaged)
        except OSError as error:  # a folder where a file is to be written
            if not damaged.is_dir():
                raise
            return refusal(error, copy, damaged)
        for path in self.folder.rglob("*"):
            if path.suffix in (".txt", ".csv") and not path.name.endswith(".times.txt"):
                if (copy / path.relative_to(self.folder)).read_bytes() != path.read_bytes():
                    raise MissError(f"{path.name} was not made again")
        return SAME

    def may_change(self, copy: Path, path: Path) -> bool:
        return path.suffix in (".txt", ".csv", ".json")

    def _evaluate(self, out: Path) -> None:
        specs, sequences = parse_trackers(["static", "fast"]), read_sequences(self.data)
        setup = EvaluationSetup.of(specs, sequences, RunProtocol(), str(self.data))
        evaluate(setup, specs, sequences, out, Inline())


def _figures(folder: Path) -> dict[str, dict[str, float]]:
    comparison = score_folder(folder)
    found = {tracker.label: tracker.mean(comparison.names) for tracker in comparison.trackers}
    if any(math.isinf(value) for each in found.values() for value in each.values()):
        raise MissError(f"scored as {found}")
    return found


class Datasets(Subject):
    """Small datasets in three layouts, read."""

    name, damages, weight = "datasets", 10, 1.0
    checked = False

    def prepare(self) -> None:
        boxes = [CLIP.truth[n].box for n in range(FRAMES)]
        images = {"otb": "Toy/img", "vot": "toy/color", "mot": "Toy/img1"}
        for layout, place in images.items():
            (self.folder / layout / place).mkdir(parents=True, exist_ok=True)
            for n in range(FRAMES):
                Image.fromarray(CLIP[n][::4, ::4].copy()).save(self.folder / layout / place / f"{n + 1:04d}.png")
        rows = [",".join(map(str, box.to_otb())) for box in boxes]
        (self.folder / "otb/Toy/groundtruth_rect.txt").write_text("\n".join(rows) + "\n")
        (self.folder / "vot/toy/groundtruth.txt").write_text("\n".join(rows) + "\n")
        (self.folder / "vot/toy/occlusion.tag").write_text("0\n" * FRAMES)
        (self.folder / "mot/Toy/gt").mkdir(exist_ok=True)
        lines = [f"{n + 1},1,{row},1,1,1.0" for n, row in enumerate(rows)]
        (self.folder / "mot/Toy/gt/gt.txt").write_text("\n".join(lines) + "\n")

    def files(self, copy: Path) -> list[Path]:
        return [path for path in super().files(copy) if path.suffix != ".png"]

    def check(self, copy: Path, damaged: Path, *, hostile: bool, number: int) -> str:
        try:
            found = read_sequences(copy / damaged.relative_to(copy).parts[0])
        except ValueError as error:
            return refusal(error, copy, damaged)
        for sequence in found:
            truth = sequence.truth
            if not len(sequence) or len(truth) != len(sequence) or np.isinf(truth).any():
                raise MissError(f"read as {len(sequence)} frames and {truth}")
        return SAME
