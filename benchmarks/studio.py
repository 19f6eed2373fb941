"""What a page costs the tracker, how fast a 720p video is shown, and whether memory grows.

    python benchmarks/studio.py                    # about a minute
    python benchmarks/studio.py --frames 5000 --size 480 360 --pages 1 --rounds 1      # memory

A studio runs in a process of its own and follows the balloon of a 720p video: without a page, with one page and with
three pages, at full speed and at the speed of the video, and watched by a program that draws nothing. The browser has
no screen and no graphics processor, so it needs the same processors as the tracker; it is driven as little as can be,
because a driver that listens to a page (as Playwright does) is sent every picture that the page is sent.

Of every run are told, from when the pages are open: frames followed per second of the tracker's own time, by the clock;
milliseconds of a processor that one frame takes to follow; frames per second of the whole run, with decoding and
writing; pictures shown per second in each page, counted as they are drawn; and how many processors were busy for the
studio, for the browser and for whatever else the machine did, and how many a host took away from a virtual machine:
where those two are not near zero, measure again.
"""

import argparse
import json
import os
import secrets
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from websockets.sync.client import connect

from metrack.frames import VideoWriter
from metrack.synth import builtin_clip

PAINTED = 100  # different frames; longer videos go back and forth through them
SETTLED = 20  # frames after which a run is timed
TICKS = os.sysconf("SC_CLK_TCK")
COUNTING = """(() => {
    window.shown = [];
    const draw = CanvasRenderingContext2D.prototype.drawImage;
    let last = null;
    CanvasRenderingContext2D.prototype.drawImage = function (picture, ...given) {
        if (picture !== last) window.shown.push(performance.now());
        last = picture;
        return draw.call(this, picture, ...given);
    };
})()"""
SHOWN = "window.shown.length > 1 ? (window.shown.length - 1) * 1000 / (window.shown.at(-1) - window.shown[0]) : 0"


def paint(path, frames, size):
    clip = builtin_clip(PAINTED, size, occlusion=False, departure=False)
    images = [clip[n] for n in range(PAINTED)]
    with VideoWriter(path, size, 30, crf=20) as video:
        for n in range(frames):
            place = n % (2 * PAINTED - 2)
            video.write(images[min(place, 2 * PAINTED - 2 - place)])
    return clip.first_box.to_xywh()


def bearer():
    """Return the header with which a program asks; the studio takes its token from the environment."""
    return {"Authorization": f"Bearer {os.environ['METRACK_STUDIO_TOKEN']}"}


def ask(address, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, {"Content-Type": "application/json", **bearer()})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def memory(process):
    """Megabytes a process holds."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1000


def processor(root):
    """Seconds of processors that a process and all it started have used."""
    parents, used = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            values = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended just now
        process = int(path.parent.name)
        parents[process], used[process] = int(values[1]), sum(map(int, values[11:15])) / TICKS
    family = {root}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(used.get(process, 0) for process in family)


def all_processors():
    """Seconds that all processors of this machine have been busy, and seconds that they were taken away from it."""
    user, nice, system, _, _, _, _, stolen = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system) / TICKS, stolen / TICKS


class Browser:
    """Chromium without a screen; pages are only asked questions, they are not listened to."""

    def __init__(self, folder):
        words = ["--headless", "--no-sandbox", "--no-first-run", "--remote-debugging-port=0", "--window-size=1280,900"]
        words += ["--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows", "about:blank"]
        program = [shutil.which("chromium"), f"--user-data-dir={folder}", *words]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(program, **silent, start_new_session=True)  # as a desktop would start it
        port = Path(folder) / "DevToolsActivePort"
        while not port.exists() or len(port.read_text().split()) < 2:
            time.sleep(0.1)
        self.port, self.path = port.read_text().split()
        self.lines = ExitStack()
        self.line = self.connected(self.path)

    def open(self, address):
        wish = {"url": address, "newWindow": True, "width": 1280, "height": 900}
        target = tell(self.line, "Target.createTarget", wish)["targetId"]
        page = Page(self.connected(f"/devtools/page/{target}"))
        size = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        tell(page.line, "Emulation.setDeviceMetricsOverride", size)
        while not page.evaluate("Boolean(document.body?.dataset.ready)"):
            time.sleep(0.05)
        return page

    def connected(self, path):
        return self.lines.enter_context(connect(f"ws://127.0.0.1:{self.port}{path}", max_size=None))

    def close(self):
        tell(self.line, "Browser.close")
        self.lines.close()
        self.process.wait(20)


@dataclass
class Page:
    line: object

    def evaluate(self, expression):
        wish = {"expression": expression, "returnByValue": True}
        return tell(self.line, "Runtime.evaluate", wish).get("result", {}).get("value")

    def close(self):
        tell(self.line, "Page.close")


def tell(line, method, values=None):
    line.send(json.dumps({"id": 1, "method": method, "params": values or {}}))
    while "id" not in (answer := json.loads(line.recv(timeout=30))):
        pass
    return answer.get("result", {})


@dataclass
class Told:
    """What one run took."""

    fps: float
    work: float
    whole: float
    shown: list
    busy: list
    held: list

    def __str__(self):
        studio, browser, others, stolen = self.busy
        return (
            f"tracker {self.fps:.1f} fps at {self.work:.1f} ms of a processor, run {self.whole:.1f} fps, "
            f"shown at {self.shown} fps, "
            f"processors busy: studio {studio:.2f}, browser {browser:.2f}, others {others:.2f}, "
            f"taken away {stolen:.2f}, "
            f"memory {self.held[0]:.0f} -> {self.held[-1]:.0f} MB"
        )


def follow(address, wish, server, browser=None, pages=0):
    """Follow once with some pages watching."""
    name = ask(address, "/api/runs", wish)["id"]
    tabs = [browser.open(f"{address}/#/run/{name}") for _ in range(pages)]
    for tab in tabs:
        tab.evaluate(COUNTING)
    held, begun = [], None
    while (status := ask(address, "/api/runs")[0]["status"])["state"] != "done":
        own = processor(server), processor(browser.process.pid) if browser else 0
        busy, stolen = all_processors()
        tracked = status["frames"] / (status["fps"] or 1)  # seconds
        now = time.monotonic(), tracked, status["frames"], *own, busy - sum(own), stolen
        if status["frames"] > SETTLED:
            begun, latest = begun or now, now
            held.append(memory(server))
        time.sleep(0.25)
    shown = [round(tab.evaluate(SHOWN), 1) for tab in tabs]
    for tab in tabs:
        tab.close()
    if begun is None or latest is begun:
        return None
    clock, tracked, frames, *busy = (end - start for start, end in zip(begun, latest, strict=True))
    return Told(frames / tracked, status["work"], frames / clock, shown, [seconds / clock for seconds in busy], held)


def follow_by_program(address, wish):
    """Follow once, watched by a program that answers at once and draws nothing: what the studio itself pays."""
    name = ask(address, "/api/runs", wish)["id"]
    watched = f"ws{address[4:]}/api/runs/{name}/watch?width=840"
    with connect(watched, max_size=None, additional_headers=bearer()) as socket:
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


def compare(options, address, wish, server, browser):
    """Follow without and with pages, turn by turn, so that both meet the machine in the same mood."""
    speeds = {pages: [] for pages in options.pages}
    for turn in range(options.rounds):
        for pages in [pages for pages in options.pages if pages < 2 or not turn]:
            told = follow(address, wish, server, browser, pages)
            speeds[pages].append((told.fps, told.whole))
            print(f"{pages} pages: {told}", flush=True)
    if {0, 1} <= set(speeds):
        for name, each in (("tracker", 0), ("run", 1)):
            alone, watched = (statistics.median(values[each] for values in speeds[pages]) for pages in (0, 1))
            slower = 100 * (1 - watched / alone)
            print(f"{name} without a page {alone:.1f} fps, with one {watched:.1f} fps: {slower:.0f} % slower")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=2, help="times that without and with a page are compared")
    parser.add_argument("--preset", default="default")
    parser.add_argument("--size", type=int, nargs=2, default=(1280, 720), metavar=("W", "H"))
    parser.add_argument("--pages", type=int, nargs="*", default=(0, 1, 3), help="how many pages watch")
    parser.add_argument("--pace", choices=("full", "video", "both"), default="both", help="how fast to follow")
    options = parser.parse_args()
    os.environ["METRACK_STUDIO_TOKEN"] = secrets.token_urlsafe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        box = paint(Path(folder) / "video.mp4", options.frames, tuple(options.size))
        words = [sys.executable, "-m", "metrack", "studio", folder, "--runs", f"{folder}/runs"]
        with subprocess.Popen([*words, "--port", "0", "--no-browser"], stdout=subprocess.PIPE, text=True) as server:
            entrance = server.stdout.readline().split()[-1]
            address = entrance.partition("/?")[0]
            browser = Browser(f"{folder}/profile")
            browser.open(entrance).close()  # for the cookie
            wish = {"source": "file:video.mp4", "boxes": [box], "preset": options.preset, "fast": True}
            follow(address, wish | {"stop": 30}, server.pid)
            while not Path(f"{folder}/runs/balloon.mp4").exists():
                time.sleep(0.1)  # the built-in clip is being painted
            if options.pace != "video":
                print("at full speed")
                compare(options, address, wish, server.pid, browser)
                follow_by_program(address, wish)
            if options.pace != "full":
                print("at the speed of the video, 30 fps")
                compare(options, address, wish | {"fast": False}, server.pid, browser)
            browser.close()
            server.terminate()


if __name__ == "__main__":
    main()
