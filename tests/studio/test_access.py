"""Who is let in: whoever has the token, from the studio's own page or as a program."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync import client

from metrack.studio.access import Endpoint
from support.studio import paint, studio

ADDRESSES = ["/api/about", "/api/runs", "/api/frame?source=clip&n=0", "/static/app.js", "/static/icon.svg", "/nowhere"]


@pytest.mark.parametrize("path", ADDRESSES)
def test_nothing_is_told_without_the_token(served, path):
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Cookie": f"metrack_studio_{served.port}=wrong"}):
        status, answered, answer = served.ask_without_token(path, headers=headers)
        assert (status, answered["WWW-Authenticate"]) == (401, "Bearer")
        assert "wants the token that metrack studio printed" in answer["error"]
    assert served.ask_without_token(f"{path}{'&' if '?' in path else '?'}token={served.token}")[0] == 401


def test_the_page_says_to_a_person_what_to_do(served):
    status, headers, page = served.ask_without_token("/?token=wrong")
    assert (status, headers.get_content_type()) == (401, "text/html")
    assert b"open that whole address" in page
    status, headers, page = served.ask_without_token("/", headers={"Host": "evil.example"})
    assert (status, headers.get_content_type()) == (421, "text/html")


def test_the_token_is_exchanged_for_a_strict_cookie_of_this_port(served):
    assert len(served.token) >= 40
    status, headers, page = served.ask_without_token(
        f"/?token={served.token}", headers={"Sec-Fetch-Site": "cross-site"}
    )
    assert (status, served.token.encode() in page) == (200, False)
    assert headers["Referrer-Policy"] == "no-referrer"
    cookie, *rest = headers["Set-Cookie"].split("; ")
    assert cookie.partition("=")[0] == f"metrack_studio_{served.port}"
    assert {"HttpOnly", "Path=/", "SameSite=strict"} <= set(rest)
    assert served.ask_without_token("/api/about", headers={"Cookie": f"other=1; {cookie}"})[0] == 200
    assert served.ask_without_token("/api/about", headers={"Cookie": cookie[:-1] + "?"})[0] == 401


@pytest.mark.parametrize("other", ['state={"a":"b"}', "a[b]=1", "x=a b", "plain", "name=é", "=", '"', "a=b=c"])
def test_cookies_of_other_programs_do_no_harm(served, other):
    own = f"metrack_studio_{served.port}={served.token}"
    for cookies in (f"{other}; {own}", f"{own}; {other}"):
        assert served.ask_without_token("/api/about", headers={"Cookie": cookies})[0] == 200
    assert served.ask_without_token("/api/about", headers={"Cookie": other})[0] == 401


def test_only_the_page_itself_may_have_a_browser_ask(served):
    for site, mode, status in [
        ("same-origin", "cors", 200),
        ("none", "navigate", 200),
        ("none", "no-cors", 403),
        ("same-site", "cors", 403),
        ("same-site", "navigate", 403),
        ("cross-site", "no-cors", 403),
        ("nonsense", "navigate", 403),
    ]:
        asked = served.ask("/api/about", headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode})
        assert asked[0] == status, (site, mode)
    for headers in ({"Origin": "null"}, {"Origin": served.address.replace("127.0.0.1", "localhost")}):
        assert served.ask("/api/about", headers=headers)[0] == 403
    address = f"ws://127.0.0.1:{served.port}/api/runs/any/watch"
    for headers in ({}, {"Sec-Fetch-Site": "same-site", **served.bearer}, {"Authorization": "Bearer wrong"}):
        with pytest.raises(InvalidStatus) as refused, client.connect(address, additional_headers=headers):
            pass
        assert refused.value.response.status_code in (401, 403)
        assert b'{"error":' in refused.value.response.body


def test_answers_say_how_strict_a_browser_must_be(served):
    _, headers, _ = served.ask("/api/about")
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "http" not in headers["Content-Security-Policy"]


def test_another_address_is_known_by_its_names(tmp_path):
    paint(tmp_path / "balloon.mp4")
    with studio(tmp_path, host="192.0.2.7") as away:
        assert away.ask("/api/about", headers={"Host": f"192.0.2.7:{away.port}"})[0] == 200
        assert away.ask("/api/about", headers={"Host": f"evil.example:{away.port}"})[0] == 421


def test_the_token_can_be_given_in_the_environment(monkeypatch):
    monkeypatch.setenv("METRACK_STUDIO_TOKEN", "sixteen-letters-")
    assert Endpoint.at("127.0.0.1", 80).address == "http://127.0.0.1:80/?token=sixteen-letters-"
    for wrong in ("", "short", "with a blank in the middle", "é" * 20):
        monkeypatch.setenv("METRACK_STUDIO_TOKEN", wrong)
        with pytest.raises(ValueError, match="METRACK_STUDIO_TOKEN must be 16 to 128"):
            Endpoint.at("127.0.0.1", 80)


def test_a_browser_is_let_in_by_the_address_and_forgets_the_token(chromium, visited, tmp_path):
    """Also where a file has it opened, as the command does so that no argument of a program shows the token."""
    (tmp_path / "open.html").write_text(
        f'<meta http-equiv="refresh" content="0; url={visited.address}/?token={visited.token}">'
    )
    for address in ((tmp_path / "open.html").as_uri(), f"{visited.address}/?token={visited.token}"):
        context = chromium.new_context()
        page, sent = context.new_page(), []
        page.on("request", lambda request, sent=sent: sent.append(request))
        page.goto(address)
        page.wait_for_selector("body[data-ready]")
        assert page.url == f"{visited.address}/"
        assert not page.evaluate("document.cookie + document.referrer")
        assert not any("token" in request.headers.get("referer", "") for request in sent)
        context.close()
    context = chromium.new_context()
    page = context.new_page()
    page.goto(visited.address)
    assert "wants the token" in page.locator("main").inner_text()
    context.close()


def test_the_command_shows_the_token_only_to_its_user(tmp_path):
    """What it starts a browser with names a file that only this user can read; what killed ones left goes."""
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked.part && mv {tmp_path}/asked.part {tmp_path}/asked\n')
    browser.chmod(0o755)
    (tmp_path / "kept").mkdir()
    left = [tmp_path / "kept" / f"open-{name}.html" for name in (os.getpid(), "of-one-that-was-killed")]
    for each in left:
        each.touch()
    words = [sys.executable, "-u", "-m", "metrack", "studio", "--runs", "kept", "--port", "0"]
    environment = {**os.environ, "BROWSER": str(browser)}
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=environment
    ) as server:
        watchdog = threading.Timer(60, server.kill)
        watchdog.start()
        token = server.stdout.readline().decode().strip().partition("?token=")[2]
        while server.poll() is None and not (tmp_path / "asked").exists():
            watchdog.join(0.05)
        asked = (tmp_path / "asked").read_text().strip()
        page = Path(asked.removeprefix("file://"))
        assert token not in asked
        assert not any(each.exists() for each in left)
        assert token in page.read_text()
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        server.terminate()
        told = server.stderr.read().decode()
        watchdog.cancel()
    assert not page.exists()
    assert token not in told


def test_the_folder_of_runs_is_closed_to_others_where_the_studio_makes_it(tmp_path):
    with studio(tmp_path / "kept"):
        assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o700
