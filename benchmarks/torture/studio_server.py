"""A studio to attack: a process of its own on loopback, a run that goes on in it, and files it must never show."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from PIL import Image

from metrack.frames import VideoWriter
from metrack.synth import builtin_clip
from torture.campaign import MissError

SIZE = (160, 120)
PAINTED, LONG, SHORT = 60, 1800, 20  # frames painted, of the run that goes on, of runs that are started by attacks
CANARY = b"canary-4f1c9e-not-for-you"
IN_TIME = 2.0  # seconds in which somebody with the token gets an answer, whatever others do
UNFINISHED = ("starting", "queued", "running", "paused")


class StudioProcess:
    """A studio with a folder of videos, and a canary outside of it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.runs = folder, folder / "runs"
        self.slowest = 0.0  # seconds that an honest client waited
        self.main = self.spare = ""  # the run that must go on, and one that attacks may ask for anything
        self._frames, self._read = -1, 0
        self.box = _make_videos(folder)
        self.said = (folder / "said.txt").open("w+b")
        words = [sys.executable, "-u", "-m", "metrack", "studio", "videos", "--runs", "runs", "--no-browser"]
        words += ["--port", "0", "--upload-limit", "1", "--uploads-limit", "20"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=self.said, cwd=folder)
        assert self.process.stdout is not None
        address, _, self.token = self.process.stdout.readline().decode().strip().partition("/?token=")
        self.port = int(address.rpartition(":")[2] or 0)
        if not self.token:
            raise MissError(f"the studio printed no address with a token, but {address!r}")
        self.spare = self.start("file:short.mp4", stop=5)
        self._wait(self.spare, "done")
        self.keep_running()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def ask(self, path: str, body: object = None) -> dict:
        """Ask as its owner does, and have the answer in time."""
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        sent = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        try:
            connection.request("GET" if sent is None else "POST", path, sent, headers)
            answer = connection.getresponse()
            data = answer.read()
        except OSError as error:
            raise MissError(f"its owner got no answer to {path}: {error!r}; {self.last_words()}") from None
        finally:
            connection.close()
        took = time.monotonic() - began
        if answer.status >= 300:
            raise MissError(f"its owner was answered {answer.status} to {path}: {data[:300]!r}")
        if sent is None:
            self.slowest = max(self.slowest, took)
            if took > IN_TIME:
                raise MissError(f"its owner waited {took:.1f} s for {path}")
        return json.loads(data)

    def start(self, source: str, **options: object) -> str:
        return self.ask("/api/runs", {"source": source, "boxes": [self.box], "preset": "fast", **options})["id"]

    def check(self) -> None:
        """Check that it lives, that its owner is answered in time, and that the run goes on."""
        if self.process.poll() is not None:
            raise MissError(f"the studio ended with code {self.process.returncode}; {self.last_words()}")
        self._check_said()
        until = time.monotonic() + 10
        while (status := self.ask(f"/api/runs/{self.main}")["status"])["frames"] <= self._frames:
            if status["state"] == "done":
                break
            if status["state"] != "running" or time.monotonic() > until:
                raise MissError(f"the run stands at frame {self._frames}: {status}")
            time.sleep(0.02)
        self._frames = status["frames"]
        if status["state"] == "done":
            if status["frames"] != LONG:
                raise MissError(f"the run ended at frame {status['frames']} of {LONG}")
            self.keep_running()

    def keep_running(self) -> None:
        """Stop what attacks have started, and have a run that goes on for long."""
        self.tidy()
        self.main = self.start("file:long.mp4", fast=False)
        self._frames = -1
        self._wait(self.main, "running")

    def tidy(self) -> None:
        """Stop all runs but the one that must go on."""
        for run in self.ask("/api/runs"):
            if run["active"] and run["status"]["state"] in UNFINISHED and run["id"] != self.main:
                self.ask(f"/api/runs/{run['id']}/stop", {})

    def last_words(self) -> str:
        self.said.flush()
        return f"it said {(self.folder / 'said.txt').read_bytes()[-1500:].decode(errors='replace')!r}"

    def close(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.said.close()

    def _check_said(self) -> None:
        text = (self.folder / "said.txt").read_bytes()
        new, self._read = text[self._read :], len(text)
        if new:
            raise MissError(f"it must say nothing on the screen, but said {new[-1500:].decode(errors='replace')!r}")

    def _wait(self, run: str, state: str) -> None:
        until = time.monotonic() + 120  # the first run compiles
        while (status := self.ask_patiently(run))["state"] != state:
            if time.monotonic() > until or status["state"] == "failed":
                raise MissError(f"run {run} must become {state}, but is {status}")
            time.sleep(0.05)

    def ask_patiently(self, run: str) -> dict:
        """Ask how a run stands while it may compile."""
        slowest = self.slowest
        try:
            return self.ask(f"/api/runs/{run}")["status"]
        finally:
            self.slowest = slowest


def _make_videos(folder: Path) -> list[float]:
    """Make a folder of videos, links out of it, odd names, and the canary; return the first box."""
    videos, outside = folder / "videos", folder / "outside"
    (videos / "shots").mkdir(parents=True, exist_ok=True)
    (videos / "mixed").mkdir(exist_ok=True)
    outside.mkdir(exist_ok=True)
    clip = builtin_clip(PAINTED, SIZE, occlusion=False, departure=False)
    images = [clip[n] for n in range(PAINTED)]
    for name, count in (("long", LONG), ("short", SHORT)):
        _paint(videos / f"{name}.mp4", images, count)
    (outside / "canary.mp4").write_bytes((videos / "short.mp4").read_bytes())
    for name in ("canary.txt", "canary.png", "canary.js"):
        (outside / name).write_bytes(CANARY)
    (folder / "canary.txt").write_bytes(CANARY)
    for number in range(2):
        Image.fromarray(images[number]).save(videos / "shots" / f"{number}.png")
        Image.fromarray(images[number]).save(videos / "mixed" / f"{number}.png")
    for link, target in LINKS.items():
        path = videos / link
        if not path.is_symlink():
            path.symlink_to(folder / target if target.startswith("outside") else target)
    for name in ODD_NAMES:
        (videos / os.fsdecode(name)).write_bytes(b"\0\0\0\x18ftypisom" + b"\0" * 99)
    return list(clip.first_box.to_xywh())


LINKS = {
    "away": "outside",
    "away.mp4": "outside/canary.mp4",
    "text.mp4": "outside/canary.txt",
    "mixed/2.png": "outside/canary.png",
    "shots/up": "../../outside",
    "circle.mp4": "circle.mp4",
    "root": "/",
}
ODD_NAMES = (b"no-text-\xff.mp4", b"a" * 250 + b".mp4", b"new\nline.mp4", b"<img src=x>.mp4", b"back\\slash.mp4")


def _paint(path: Path, images: list, count: int) -> None:
    """Write a video that goes back and forth through images."""
    if path.exists():
        return
    with VideoWriter(path, SIZE, 30) as video:
        for n in range(count):
            place = n % (2 * PAINTED - 2)
            video.write(images[min(place, 2 * PAINTED - 2 - place)])
