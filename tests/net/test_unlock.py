"""The visible window in which a person solves a CAPTCHA, on a virtual screen."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.chromium import ALLOWED, get, opened, own_temp, require_chromium
from support.processes import browsers, family
from support.site import Reply, Seen, reply, serve
from support.timing import PATIENCE, soon
from suyuan.core.errors import WebProviderError
from suyuan.net.settings import BrowserSettings
from suyuan.net.unlock import unlock

require_chromium()


@pytest.fixture(autouse=True)
def temp(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    yield from own_temp(monkeypatch)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A virtual screen for one test."""
    if shutil.which("Xvfb") is None or shutil.which("xdotool") is None:
        pytest.skip("Xvfb and xdotool are not installed (Debian's packages xvfb and xdotool)")
    with subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-nolisten", "tcp"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdout is not None
        monkeypatch.setenv("DISPLAY", f":{server.stdout.readline().decode().strip()}")
        try:
            yield
        finally:
            server.terminate()


def titles() -> str:
    """The titles of the windows on the screen."""
    search = ["xdotool", "search", "--onlyvisible", "--class", "chrom", "getwindowname", "%@"]
    return subprocess.run(search, capture_output=True, text=True, check=False).stdout


def press_ctrl_w() -> None:
    """Close the window as a person does."""
    # Not checked, because xdotool reports an error if the window closes before the key is released.
    # The caller waits until it is closed.
    subprocess.run(
        ["xdotool", "search", "--onlyvisible", "--class", "chrom", "windowfocus", "--sync", "key", "ctrl+w"],
        check=False,
    )


@pytest.mark.req("G3.2")
async def test_a_missing_display_is_reported(tmp_path: Path) -> None:
    with pytest.raises(WebProviderError) as caught:
        await unlock("http://127.0.0.1/", ALLOWED, tmp_path, has_display=False)
    assert caught.value.detail_code == "no_display"
    assert "desktop" in caught.value.hint and "显示" in caught.value.say("zh")[0]


@pytest.mark.req("G3.2")
async def test_an_invalid_display_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":7777")
    with pytest.raises(WebProviderError) as caught:
        await unlock("http://127.0.0.1/", ALLOWED, tmp_path / "profile", has_display=True)
    assert caught.value.detail_code == "browser_failed"


@pytest.mark.req("G3.2")
@pytest.mark.usefixtures("screen")
async def test_a_captcha_solved_in_the_window_stays_solved(tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    solved = asyncio.Event()

    async def when_solved(writer: asyncio.StreamWriter) -> None:
        await solved.wait()
        await reply("", headers={"Set-Cookie": "solved=1; Max-Age=1000"})(writer)

    def handler(seen: Seen) -> Reply:
        if seen.path == "/solve":
            return when_solved
        if "cookie" in seen.headers:
            return reply("results")
        return reply("captcha <img src=/picture><script>fetch('/solve').then(() => document.title = 'solved')</script>")

    async with serve(handler) as site:
        window = asyncio.create_task(unlock(site.url, ALLOWED, profile, has_display=True))
        assert await soon(lambda: {"/", "/picture", "/solve"} <= {seen.path for seen in site.seen})
        (browser,) = browsers()
        assert "--headless" not in browser.command and not window.done()
        solved.set()
        assert await soon(lambda: "solved" in titles())
        press_ctrl_w()
        async with asyncio.timeout(PATIENCE):
            await window
        assert await soon(lambda: not any("remote-debugging" in process.command for process in family()))
        async with opened(BrowserSettings(profile_dir=profile)) as client:
            assert "results" in (await get(client, site.url)).text
