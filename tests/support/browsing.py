"""What tests of pages share: a browser, where there is one."""

import os
import shutil
from contextlib import contextmanager
from importlib import import_module

import pytest


def missing(what):
    """Leave out what cannot be tested here, but not where everything has to be."""
    if os.environ.get("CI") or os.environ.get("METRACK_NO_SKIP") == "1":
        pytest.fail(what)
    pytest.skip(what)


def needed(module):
    try:
        return import_module(module)
    except ImportError:
        return missing(f"{module} is not here")


def browser():
    found = [path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))]
    return found[0] if found else missing("neither chromium, chromium-browser nor google-chrome is here")


@contextmanager
def opened_page(page):
    """The page in a browser without a screen, and everything it asked for or complained about."""
    playwright = needed("playwright.sync_api")
    program = browser()
    with playwright.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        tab = chromium.new_page(viewport={"width": 1280, "height": 900})
        asked_for, complaints = [], []
        tab.on("request", lambda request: asked_for.append(request.url))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("dialog", lambda dialog: (complaints.append("a dialog"), dialog.dismiss()))
        tab.goto(page.as_uri())
        yield tab, asked_for, complaints
        chromium.close()
