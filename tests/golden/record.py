"""Record what every preset, ``metrack track`` and the studio give for painted clips.

``python tests/golden/record.py FOLDER`` writes into FOLDER, with pinned arithmetic (``benchmarks/arithmetic.py``).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from itertools import islice
from pathlib import Path

import numpy as np

PRESETS = ("default", "fast", "paper", "paper-structured", "paper-mixed")
STATES = ("tracking", "occluded", "lost")
TEXT_FILES = ("*.jsonl", "*.csv", "*.txt", "summary.json")
SMALL = (320, 240)


def record(folder: Path) -> None:
    """Record everything into a folder; progress goes to standard error."""
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "trackers.npz", **dict(tracked()))
    with tempfile.TemporaryDirectory() as scratch:
        sources = paint(Path(scratch))
        for name, arguments in commands(sources).items():
            say(f"metrack track, {name}")
            out = Path(scratch) / name
            run = [sys.executable, "-m", "metrack", "track", *arguments, "--no-video", "-o", str(out)]
            subprocess.run(run, check=True, capture_output=True, cwd=scratch)
            keep(out, folder / name)
        say("studio")
        keep(studio_run(Path(scratch), sources["balloon"]), folder / "studio")


def say(what: str) -> None:
    sys.stderr.write(f"{what}\n")


def clips():
    """Yield names, frames and first boxes of the clips with one target."""
    from metrack.synth import builtin_clip, hard_clip

    balloon = builtin_clip(180, SMALL)
    yield "balloon", list(balloon), [balloon.first_box]
    for difficulty in ("occlusion", "rotation"):
        clip = hard_clip(difficulty, 90, seed=2)
        yield difficulty, list(clip), [clip.first_box]
    images, boxes = zip(*islice(crossing(), 60), strict=True)
    yield "crossing", list(images), list(boxes[0])


def crossing():
    from metrack.synth import crossing_balloons

    return crossing_balloons(frames=60)


def tracked():
    """Yield boxes, scores and states of every preset on every clip, as named arrays."""
    from metrack import MultiTracker

    for clip, images, boxes in clips():
        for preset in PRESETS:
            say(f"{preset}, {clip}")
            tracker = MultiTracker(preset, seed=3)
            for box in boxes:
                tracker.add(images[0], box)
            found = [list(tracker.update(image).values()) for image in images[1:]]
            yield f"{preset}/{clip}/boxes", np.array([[each.box.to_xywh() for each in row] for row in found])
            yield f"{preset}/{clip}/scores", np.array([[each.score for each in row] for row in found])
            yield (
                f"{preset}/{clip}/states",
                np.array([[STATES.index(each.state) for each in row] for row in found], np.int8),
            )


def paint(folder: Path) -> dict[str, Path]:
    """Paint videos, and crops of two balloons for a gallery."""
    from PIL import Image

    from metrack.frames import VideoWriter
    from metrack.synth import builtin_clip

    sources = {name: folder / f"{name}.mp4" for name in ("balloon", "crossing")} | {"gallery": folder / "crops"}
    frames = list(crossing())
    for name, images in (("balloon", builtin_clip(180, SMALL)), ("crossing", [image for image, _ in frames])):
        with VideoWriter(sources[name], SMALL, 25.0, crf=12) as video:
            for image in images:
                video.write(image)
    for index in (0, 4, 8):
        image, boxes = frames[index]
        for name, box in zip(("red", "teal"), boxes, strict=True):
            (sources["gallery"] / name).mkdir(parents=True, exist_ok=True)
            left, top, right, bottom = map(round, box.to_xyxy())
            Image.fromarray(image[top:bottom, left:right]).save(sources["gallery"] / name / f"{index}.png")
    return sources


def commands(sources: dict[str, Path]) -> dict[str, list[str]]:
    """Return the arguments of ``metrack track`` by the name of what is recorded."""
    balloon, crossing_video = str(sources["balloon"]), str(sources["crossing"])
    both = [word for box in next(crossing())[1] for word in ("--box", as_option(box))]
    return {
        "track-default": [balloon, "--box", as_option(balloon_box()), "--format", "mot"],
        "track-fast": [crossing_video, *both, "--preset", "fast", "--start", "5", "--stop", "50"],
        "track-paper": [balloon, "--box", as_option(balloon_box()), "--box", "200,150,40,40", "--preset", "paper"],
        "track-gallery": [crossing_video, *both, "--gallery", str(sources["gallery"]), "--seed", "5"],
    }


def balloon_box():
    from metrack.synth import builtin_clip

    return builtin_clip(180, SMALL).first_box


def as_option(box) -> str:
    return ",".join(f"{side:.2f}" for side in box.to_xywh())


def studio_run(folder: Path, video: Path) -> Path:
    """Run two targets in a real studio, correct one half-way, and return the result folder."""
    (folder / "videos").mkdir()
    (folder / "videos" / video.name).write_bytes(video.read_bytes())
    words = [sys.executable, "-u", "-m", "metrack", "studio", str(folder / "videos"), "--runs", str(folder / "runs")]
    server = subprocess.Popen([*words, "--port", "0", "--no-browser"], stdout=subprocess.PIPE, text=True, cwd=folder)
    try:
        address, _, token = server.stdout.readline().split()[-1].partition("?token=")
        bearer = {"Authorization": f"Bearer {token}"}
        boxes = [list(balloon_box().to_xywh()), [200, 150, 40, 40]]
        name = ask(address, bearer, "api/runs", {"source": f"file:{video.name}", "boxes": boxes, "seed": 1})["id"]
        wait(address, bearer, name)
        ask(address, bearer, f"api/runs/{name}/correct", {"frame": 70, "target": 2, "box": [150, 100, 36, 44]})
        ask(address, bearer, f"api/runs/{name}/go", {})
        wait(address, bearer, name)
    finally:
        server.terminate()
        server.wait(30)
    return folder / "runs" / name


def ask(address: str, bearer: dict[str, str], path: str, body: object = None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, {"Content-Type": "application/json", **bearer})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def wait(address: str, bearer: dict[str, str], name: str) -> None:
    until = time.monotonic() + 120
    while (state := ask(address, bearer, f"api/runs/{name}")["status"]["state"]) != "done":
        assert time.monotonic() < until, state
        assert state not in ("failed", "ended early")
        time.sleep(0.05)


def keep(out: Path, folder: Path) -> None:
    """Copy the text files of a result folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for pattern in TEXT_FILES:
        for path in out.glob(pattern):
            (folder / path.name).write_bytes(path.read_bytes())


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
    from arithmetic import pin

    pin()
    record(Path(sys.argv[1]))
