"""A visitor in a browser without a screen: what one does, and what one sees."""

import io
import re
import time

import numpy as np
from PIL import Image

from support.studio import CLIP

ANYWHERE = re.compile("^(?!data:|blob:)")


class Visitor:
    """A page, everything it asked for, and everything it complained about."""

    def __init__(self, chromium, served, **options):
        self.context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        let_in(self.context, served)
        self.asked, self.complaints = [], []
        self.page = self.tab()
        self.address = served.address

    def tab(self):
        page = self.context.new_page()
        page.set_default_timeout(60_000)
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        return page

    def visit(self, hash="#/", page=None):
        page = page or self.page
        page.goto(f"{self.address}/{hash}")
        page.wait_for_selector("body[data-ready]")
        return page

    def foreign_requests(self):
        ours = (f"{self.address}/", f"{self.address}/".replace("http", "ws"))
        return [url for url in self.asked if ANYWHERE.match(url) and not url.startswith(ours)]


def let_in(context, served):
    """Give a browser the cookie for which it would get when it opens the address with the token."""
    context.add_cookies([{"name": f"metrack_studio_{served.port}", "value": served.token, "url": served.address}])


def area(page):
    """Where the video is on the page, and how large a pixel of it is there."""
    place = page.locator("#picture").bounding_box()
    return place["x"], place["y"], place["width"] / CLIP.size[0]


def drag(page, start, end):
    left, top, scale = area(page)
    way = [start, ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2), end]
    for place, (x, y) in enumerate(way):
        page.mouse.move(left + x * scale, top + y * scale)
        if place == 0:
            page.mouse.down()
    page.mouse.up()


def draw_by_mouse(page, box):
    x, y, w, h = box
    drag(page, (x, y), (x + w, y + h))


def open_clip(page):
    page.get_by_role("button", name="Try the built-in clip").click()
    until(page, "document.getElementById('place').textContent.startsWith('Frame 0')")


def last_frame(studio_, run):
    """The last frame of a paused run; a pause is answered when the frame in hand is done."""
    studio_.get(f"/api/runs/{run}/pause", method="POST")
    return studio_.get(f"/api/runs/{run}")["status"]["frames"] - 1


def frame_shown(page):
    return int(page.locator("#place").inner_text().split()[1])


def state(page, *words):
    until(
        page, "words => words.some(word => document.getElementById('chip').textContent.startsWith(word))", list(words)
    )


def until(page, expression, argument=None):
    """Wait for something to become true; the page's policy lets no script of ours wait inside it."""
    limit = time.monotonic() + 60
    while not page.evaluate(expression, argument):
        assert time.monotonic() < limit, (expression, argument, page.locator("#chip").inner_text())
        page.wait_for_timeout(20)


def followed(page, count):
    until(page, f"Number(document.getElementById('place').textContent.split(' ')[1]) >= {count}")


def seen(page):
    """The picture with all that is drawn over it, in pixels of the video times four."""
    left, top, scale = area(page)
    width, height = (side * scale for side in CLIP.size)
    clip = {"x": left, "y": top, "width": width, "height": height}
    picture = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
    return np.asarray(picture.resize((CLIP.size[0] * 4, CLIP.size[1] * 4), Image.Resampling.NEAREST), int)


def visitor_command(page):
    page.get_by_role("tab", name="Export").click()
    return page.locator("#command").inner_text()


def evaluate(page, module, expression, argument=None):
    """Evaluate an expression with the exports of one of the page's modules."""
    return page.evaluate(
        f"async (argument) => {{ const m = await import('/static/{module}'); return {expression}; }}", argument
    )
