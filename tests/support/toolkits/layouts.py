"""What the toolkits want to find on disk, what they leave there, and how they are run."""

import json
import os
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from metrack.synth import builtin_clip

FOLDER = Path(__file__).parent
PYTHON = FOLDER.parents[2] / ".venv-toolkits" / "bin" / "python"
FRAMES, SIZE = 25, (240, 180)


def run(*command):
    """Run Python where the toolkits are; return what it said, fail with it. Without them the test is skipped."""
    if not PYTHON.exists():
        _do_without("the toolkits are not installed in .venv-toolkits: run make toolkits")
    environment = {**os.environ, "MPLBACKEND": "Agg", "OPENBLAS_NUM_THREADS": "1"}
    answer = subprocess.run(
        [str(PYTHON), *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        env=environment,
    )
    assert answer.returncode == 0, answer.stdout
    return answer.stdout


def _do_without(reason):
    if os.environ.get("CI") or os.environ.get("METRACK_NO_SKIP") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def write_rows(file, rows, form="%.17g"):
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(file, rows, fmt=form, delimiter=",")


def write_frames(folder, pattern="{:08d}.jpg"):
    """Leave the beginning of the built-in clip as images and return its true boxes ``(N, 4)``."""
    clip = builtin_clip(FRAMES, SIZE, occlusion=False, departure=False)
    folder.mkdir(parents=True)
    for i in range(FRAMES):
        Image.fromarray(clip[i]).save(folder / pattern.format(i + 1), quality=95)
    return np.round([truth.box.to_xywh() for truth in clip.truth], 3)


def write_otb(root, cases, seconds):
    """Lay out boxes as results of the OTB experiment, which looks at the names of images only when it reports.

    The names of sequences must be some that OTB has.
    """
    for name, (boxes, truth) in cases.items():
        write_rows(root / "data" / name / "groundtruth_rect.txt", truth)
        (root / "data" / name / "img").mkdir()
        for i in range(len(truth)):
            (root / "data" / name / "img" / f"{i:04d}.jpg").touch()
        write_rows(root / "results" / "OTBtb50" / "metrack" / f"{name}.txt", boxes)
        write_rows(root / "results" / "OTBtb50" / "metrack" / "times" / f"{name}_time.txt", seconds[name])


def read_report(root, experiment):
    return json.loads((root / "reports" / experiment / "metrack" / "performance.json").read_text())["metrack"]


def write_got10k(root):
    """Lay out one sequence of frames as GOT-10k does; return its folder and its true boxes."""
    folder = root / "data" / "val" / "balloon"
    truth = write_frames(folder)
    write_rows(folder / "groundtruth.txt", truth, "%.3f")
    (folder.parent / "list.txt").write_text("balloon\n")
    (folder / "meta_info.ini").write_text(f"[METAINFO]\nresolution: {SIZE}\n")
    for label, value in (("cover", 8), ("absence", 0), ("cut_by_image", 0)):
        write_rows(folder / f"{label}.label", np.full(FRAMES, value), "%d")
    return folder, truth


def write_vot(workspace, trackers):
    """Begin a workspace of the vot-toolkit and return the folder of its one sequence."""
    sequence = workspace / "sequences" / "balloon"
    sequence.mkdir(parents=True)
    (workspace / "sequences" / "list.txt").write_text("balloon\n")
    (workspace / "trackers.ini").write_text(trackers)
    (sequence / "sequence").write_text("channel.default=color\nchannels.color=color/%08d.jpg\nfps=30\n")
    return sequence


def write_regions(file, rows):
    """Write one region per line: a rectangle, or 0 for one that is not known."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = ("0" if np.isnan(row).any() else ",".join(f"{value:.3f}" for value in row) for row in rows)
    file.write_text("".join(f"{line}\n" for line in lines))


def write_replay(workspace, stack, cases, truth, size):
    """Lay out boxes as results of trackers, each named as its case, on blank images."""
    named = "[{0}]\nlabel = {0}\nprotocol = python\ncommand = nothing\n"
    sequence = write_vot(workspace, "".join(named.format(name) for name in cases))
    (sequence / "color").mkdir()
    for i in range(len(truth)):
        Image.new("RGB", size).save(sequence / "color" / f"{i + 1:08d}.jpg")
    write_regions(sequence / "groundtruth.txt", truth)
    (sequence / "anchor.value").write_text("1\n" + "0\n" * (len(truth) - 1))  # start at the first frame only
    (workspace / "stack.yaml").write_text(stack)
    (workspace / "config.yaml").write_text("registry: [./trackers.ini]\nstack: stack.yaml\n")
    for name, boxes in cases.items():
        for file in ("once/balloon/balloon_001.txt", "restarts/balloon/balloon_00000000.txt"):
            write_regions(workspace / "results" / name / file, boxes)
            lines = (workspace / "results" / name / file).read_text().splitlines(keepends=True)
            (workspace / "results" / name / file).write_text("".join(["1\n", *lines[1:]]))  # 1: it was put there


def read_trajectory(file):
    """Boxes from the vot-toolkit's binary results, NaN where it noted something else than a rectangle."""
    data, boxes = file.read_bytes(), []
    (_, count), place = struct.unpack_from("<hI", data), 6
    for _ in range(count):
        rectangle = data[place] == 1
        boxes.append(struct.unpack_from("<4f", data, place + 1) if rectangle else [np.nan] * 4)
        place += 17 if rectangle else 5
    assert place == len(data)
    return np.array(boxes)


def analyse(workspace, *trackers):
    """What the vot-toolkit says about the results in a workspace; it leaves with code 0 even if it fails."""
    said = run("-m", "vot", "analysis", "--workspace", workspace, *trackers, "--format", "json", "--name", "answer")
    (file,) = (workspace / "analysis").glob("answer*") if "Analysis successful" in said else (None,)
    assert file, said
    return json.loads(file.read_text())
