"""Damaged files: the answer is correct, or one sentence names the file; nothing else is affected.

Every damage is done to one file of a fresh copy, which is then used in a child process.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from torture.campaign import Campaign, MissError
from torture.damage_folders import Datasets, Evaluations, StudioRuns
from torture.damage_kinds import bomb, by_accident, digest, hostile_json, hostile_npz, hostile_text
from torture.damage_subjects import REFUSED, Galleries, Reports, Runs, SavedTrackers, Subject
from torture.forked import in_child

HOSTILE = 0.5  # share of hostile damages among those of files that have a form
FORMS = (".npz", ".json", ".txt", ".csv", ".jsonl", ".tag")
CHECKED = (".txt", ".csv", ".jsonl")  # texts that have checksums, or are made again, in folders of results
BOMBS = 0.02  # share of hostile damages


class Damage(Campaign):
    """Truncation, flipped bits, swapped and hostile files in everything that is read back."""

    name, unit, aim, share = "damage", "damages", 2000, 8.0
    passes = "correct, or one sentence that names the file; nothing else is affected; memory under 1 GB"

    def prepare(self) -> None:
        """Make one undamaged folder of each kind."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        runs = Runs(self.folder)
        self._subjects: Sequence[Subject] = (
            runs,
            Reports(self.folder, runs),
            StudioRuns(self.folder, runs),
            SavedTrackers(self.folder),
            Galleries(self.folder),
            Evaluations(self.folder),
            Datasets(self.folder),
        )
        for subject in self._subjects:
            subject.prepare()
        weights = np.array([subject.weight for subject in self._subjects])
        self._shares = weights / weights.sum()

    def case(self, rng: np.random.Generator) -> int:
        """Damage one kind of folder a few times."""
        subject = self._subjects[int(rng.choice(len(self._subjects), p=self._shares))]
        for _ in range(subject.damages):
            self._damage(rng, subject)
        return subject.damages

    def _damage(self, rng: np.random.Generator, subject: Subject) -> None:
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(subject.folder, copy)
        files = subject.files(copy)
        damaged = files[int(rng.integers(len(files)))]
        hostile = damaged.suffix in FORMS and rng.random() < HOSTILE
        how = self._hostile(rng, damaged) if hostile else by_accident(rng, damaged, [f for f in files if f != damaged])
        hostile |= subject.exchangeable and how.startswith("swapped")
        hostile &= damaged.suffix not in CHECKED or not subject.checked
        before = {path: digest(path) for path in copy.rglob("*")}
        number = int(rng.integers(1 << 30))
        try:
            verdict, memory = in_child(lambda: subject.check(copy, damaged, hostile=hostile, number=number))
            self._check_others(subject, copy, before, damaged if verdict == REFUSED else None)
        except MissError as miss:
            raise MissError(f"{subject.name}: {damaged.relative_to(copy)} {how}: {miss}") from None
        self._count(verdict, memory)

    def _hostile(self, rng: np.random.Generator, path: Path) -> str:
        if path.suffix == ".json":
            text, how = hostile_json(rng, path.read_text(encoding="utf-8"))
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
            return how
        if path.suffix != ".npz":
            data, how = hostile_text(rng, path.read_bytes())
            path.write_bytes(data)
            return how
        if rng.random() < BOMBS:
            return bomb(path, self.folder / "bomb.zip")
        return hostile_npz(rng, path)

    def _check_others(self, subject: Subject, copy: Path, before: dict[Path, int | str], refused: Path | None) -> None:
        """See that nothing else was changed, and nothing at all where the file was refused.

        A folder in the place of a file is found only when the file is to be written: others are written by then.
        """
        for path, known in before.items():
            needed = path.name == "trajectory.jsonl" or path.parent.name == "resume"  # to go on, with each other
            lost = refused is not None and refused.is_dir() and (refused.name == "trajectory.jsonl" or not needed)
            allowed = subject.may_change(copy, path) and (refused is None or lost)
            if not allowed and (not (path.exists() or path.is_symlink()) or digest(path) != known):
                raise MissError(f"{'used' if refused is None else 'refused'}, but {path.relative_to(copy)} was changed")

    def _count(self, verdict: str, memory: int) -> None:
        self.figures[verdict] = self.figures.get(verdict, 0) + 1
        self.figures["MB"] = max(self.figures.get("MB", 0), memory >> 20)
