"""What a page costs the tracker, how fast a 720p video is shown, and whether memory grows.

    python benchmarks/studio.py                    # about a minute
    python benchmarks/studio.py --frames 5000 --size 480 360 --pages 1 --rounds 1      # memory

A studio runs in a process of its own and follows the balloon of a 720p video: without a page, with one page and with
three pages of a browser without a screen, which needs processors itself, and watched by a program that draws nothing.
Shown frames are counted in the pages as they are drawn.
"""

import argparse
import json
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright
from websockets.sync.client import connect

from metrack.frames import VideoWriter
from metrack.synth import builtin_clip

PAINTED = 100  # different frames; longer videos go back and forth through them
COUNTING = """() => {
    window.shown = [];
    const show = ImageBitmapRenderingContext.prototype.transferFromImageBitmap;
    ImageBitmapRenderingContext.prototype.transferFromImageBitmap = function (...given) {
        window.shown.push(performance.now());
        return show.apply(this, given);
    };
}"""


def paint(path, frames, size):
    clip = builtin_clip(PAINTED, size, occlusion=False, departure=False)
    images = [clip[n] for n in range(PAINTED)]
    with VideoWriter(path, size, 30, crf=20) as video:
        for n in range(frames):
            place = n % (2 * PAINTED - 2)
            video.write(images[min(place, 2 * PAINTED - 2 - place)])
    return clip.first_box.to_xywh()


def ask(address, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def memory(process):
    """Megabytes a process holds."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1000


def follow(address, wish, browser, pages, process):
    """Follow once with some pages watching; return tracker fps, shown fps of each page, and memory over time."""
    name = ask(address, "/api/runs", wish)["id"]
    tabs = [browser.new_page(viewport={"width": 1280, "height": 900}) for _ in range(pages)]
    for tab in tabs:
        tab.goto(f"{address}/#/run/{name}")
        tab.wait_for_selector("body[data-ready]")
        tab.evaluate(COUNTING)
    held, began, first = [], time.monotonic(), None
    while (status := ask(address, f"/api/runs/{name}")["status"] if not pages else told(tabs[0]))["state"] != "done":
        first = first or (status["frames"] > 20 and (time.monotonic(), status["frames"])) or None
        held.append((status["frames"], memory(process)))
        time.sleep(0.5)
        assert time.monotonic() - began < 3600
    status = ask(address, f"/api/runs/{name}")["status"]
    shown = [tab.evaluate("() => window.shown.length * 1000 / (window.shown.at(-1) - window.shown[0])") for tab in tabs]
    for tab in tabs:
        tab.close()
    return status["fps"], [round(each, 1) for each in shown], held


def follow_by_program(address, wish):
    """Follow once, watched by a program that answers at once and draws nothing: what the studio itself pays."""
    name = ask(address, "/api/runs", wish)["id"]
    with connect(f"ws{address[4:]}/api/runs/{name}/watch", max_size=None) as socket:
        state, count, began = "", 0, time.monotonic()
        while state != "done":
            message = socket.recv()
            (length,) = struct.unpack(">I", message[:4])
            state, count = json.loads(message[4 : 4 + length])["status"]["state"], count + 1
            socket.send("drawn")
        rate = count / (time.monotonic() - began)
    print(
        f"a program: tracker {ask(address, f'/api/runs/{name}')['status']['fps']} fps, sent at {rate:.1f} fps",
        flush=True,
    )


def told(tab):
    text = tab.evaluate(
        "() => [document.getElementById('chip').textContent, document.getElementById('place').textContent]"
    )
    return {"state": text[0].split(" ")[0], "frames": int(text[1].split(" ")[1])}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=2, help="times that without and with a page are compared")
    parser.add_argument("--preset", default="default")
    parser.add_argument("--size", type=int, nargs=2, default=(1280, 720), metavar=("W", "H"))
    parser.add_argument("--pages", type=int, nargs="*", default=(0, 1, 3), help="how many pages watch")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        box = paint(Path(folder) / "video.mp4", options.frames, tuple(options.size))
        words = [
            sys.executable,
            "-m",
            "metrack",
            "studio",
            folder,
            "--runs",
            f"{folder}/runs",
            "--port",
            "0",
            "--no-browser",
        ]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as play:
            address = server.stdout.readline().split()[-1].rstrip("/")
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            wish = {"source": "file:video.mp4", "boxes": [box], "preset": options.preset}
            follow(address, wish | {"stop": 30}, browser, 0, server.pid)
            measured = {pages: [] for pages in options.pages}
            for turn in range(options.rounds):
                for pages in [pages for pages in options.pages if pages < 2 or not turn]:
                    fps, shown, held = follow(address, wish, browser, pages, server.pid)
                    measured[pages].append(fps)
                    tail = [each for count, each in held if count > 50]
                    grown = f"memory {tail[0]:.0f} -> {tail[-1]:.0f} MB" if tail else ""
                    print(f"{pages} pages: tracker {fps} fps, shown at {shown} fps, {grown}", flush=True)
                follow_by_program(address, wish)
            browser.close()
            server.terminate()
        if {0, 1} <= set(measured):
            alone, watched = (statistics.median(measured[pages]) for pages in (0, 1))
            slower = 100 * (1 - watched / alone)
            print(f"tracker without a page {alone} fps, with one {watched} fps: {slower:.0f} % slower")


if __name__ == "__main__":
    main()
