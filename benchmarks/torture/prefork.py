"""A warm process that forks a child for every batch of jobs: a crash takes one child, and imports are paid once.

``python -m torture.prefork`` reads a JSON line with jobs, forks, and writes a line per job, then one with how the child
ended. A job is ``{"run": ARGUMENTS}``, the whole command, or ``{"read": PATH, "as": KIND}``, which opens what is there
as the command does, as a source, a gallery or a dataset, and takes every frame. ``"patch"`` sets attributes of modules
before, such as time limits.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from pkgutil import resolve_name
from typing import IO, Any

MOST_FRAMES = 200  # of what is only read
ADDRESSES = (
    4_000_000_000  # bytes beyond what the warm process has: a guard of the machine, not the limit that is tested
)
Job = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job: exit code, what was told, and what went to standard error besides.

    The code is that of the command, negative for the signal that ended the child, None after ``seconds`` too many.
    """

    code: int | None
    told: str = ""
    errors: str = ""
    frames: int = 0
    seconds: float = 0.0
    memory: int = 0  # most bytes the child ever had


class Prefork:
    """The other end of the warm process."""

    def __init__(self) -> None:
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        words = [sys.executable, "-m", "torture.prefork"]
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._rest = b""
        self._line(120)

    def do(self, jobs: Sequence[Job], seconds: float = 60.0) -> list[Outcome]:
        """Do all jobs, each in at most so many seconds; after a crash the rest is done by another child."""
        outcomes: list[Outcome] = []
        while len(outcomes) < len(jobs):
            child = self.start(jobs[len(outcomes) :])
            outcomes += self.wait(child, seconds)
        return outcomes

    def start(self, jobs: Sequence[Job]) -> int:
        """Fork a child for these jobs and return its process number."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(list(jobs)).encode() + b"\n")
        self._process.stdin.flush()
        return int(self._line(60)["pid"])

    def wait(self, child: int, seconds: float) -> list[Outcome]:
        """Return what came of the jobs of a child, up to the first that it did not survive."""
        outcomes: list[Outcome] = []
        late = False
        while True:
            try:
                line = self._line(seconds)
            except TimeoutError:
                os.kill(child, signal.SIGKILL)
                late, seconds = True, 60.0
                continue
            if "end" not in line:
                outcomes.append(Outcome(**line))
                continue
            if line["end"] != 0:
                outcomes.append(Outcome(None if late else line["end"]))
            return outcomes

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)

    def _line(self, seconds: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        number, until = self._process.stdout.fileno(), time.monotonic() + seconds
        while b"\n" not in self._rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([number], [], [], left)[0]:
                raise TimeoutError
            got = os.read(number, 65536)
            if not got:
                raise RuntimeError("the warm process has ended")
            self._rest += got
        line, _, self._rest = self._rest.partition(b"\n")
        return dict(json.loads(line))


def main() -> None:
    """Be the warm process."""
    lines = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _warm_up()
    print(json.dumps({"ready": True}), file=lines)
    for text in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                _be_child(json.loads(text), lines)
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        print(json.dumps({"end": os.waitstatus_to_exitcode(status)}), file=lines)


def _warm_up() -> None:
    """Import and compile what jobs need."""
    import metrack.evaluation.pictures
    import metrack.identity.crops  # noqa: F401
    from metrack.cli import run
    from torture.media_seeds import images, write_all

    with tempfile.TemporaryDirectory() as scratch:
        folder, picture = Path(scratch), images()["clear.png"]
        write_all(folder / "shots", {f"{index}.png": picture for index in range(3)})
        run(["track", str(folder / "shots"), "--box", "8,7,12,10", "--no-video", "-o", str(folder / "out")])


def _be_child(jobs: list[Job], lines: IO[str]) -> None:
    size = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (size + ADDRESSES, size + ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    print(json.dumps({"pid": os.getpid()}), file=lines)
    with tempfile.TemporaryFile() as errors:
        os.dup2(errors.fileno(), 2)
        for job in jobs:
            began = time.monotonic()
            for name, value in job.get("patch", {}).items():
                module, _, attribute = name.rpartition(".")
                setattr(resolve_name(module), attribute, value)
            code, told, frames = _run(job["run"]) if "run" in job else _read(Path(job["read"]), job["as"])
            sys.stderr.flush()
            errors.seek(0)
            said = errors.read().decode(errors="replace")
            errors.seek(0)
            errors.truncate()
            seconds, memory = time.monotonic() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            done = {"code": code, "told": told, "errors": said, "frames": frames, "seconds": seconds, "memory": memory}
            print(json.dumps(done), file=lines)


def _run(arguments: list[str]) -> tuple[int, str, int]:
    from metrack.cli import run

    try:
        return run(arguments), "", 0
    except Exception:
        return -1, traceback.format_exc(limit=-6), 0


def _read(path: Path, kind: str) -> tuple[int, str, int]:
    count = 0
    try:
        for _ in islice(_frames(path, kind), MOST_FRAMES):
            count += 1
        return 0, "", count
    except ValueError as error:
        return 1, str(error), count
    except BaseException:  # of the code under test
        return -1, traceback.format_exc(limit=-6), count


def _frames(path: Path, kind: str) -> Iterator[object]:
    from metrack.evaluation.pictures import ImagePictures
    from metrack.frames import open_source
    from metrack.identity.crops import folder_crops

    if kind == "gallery":
        yield from folder_crops(path)
    elif kind == "dataset":
        yield from ImagePictures(tuple(sorted(path.iterdir())))
    else:
        with open_source(path) as source:
            yield from source
            if source.ended_early:
                raise ValueError(f"source {source.notice}")


if __name__ == "__main__":
    main()
