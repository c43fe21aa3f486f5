"""A visible browser window with the persistent profile, in which a person solves a CAPTCHA."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.causes.browser import BROWSER_FAILED, BROWSER_UNSANDBOXED, NO_DISPLAY
from ..core.urls import netloc
from .chrome import find_chrome
from .launch import BrowserGone, is_unsandboxed, start_chrome
from .settings import BrowserSettings, NetSettings

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page


_START_SECONDS = 20.0


async def unlock(
    url: str, browser: BrowserSettings, profile_dir: Path, has_display: bool, net: NetSettings | None = None
) -> None:
    """Open a window at ``url`` with the persistent profile, and return when the person has closed it."""
    if not has_display:
        raise NO_DISPLAY()
    executable = find_chrome(browser.executable)
    if is_unsandboxed() and not browser.allow_unsandboxed:
        raise BROWSER_UNSANDBOXED(engine="google")
    try:
        # With the same proxy as later searches, because a solved CAPTCHA counts for one IP address only.
        chrome = await start_chrome(
            executable.path, net or NetSettings(), seconds=_START_SECONDS, headless=False, profile=profile_dir
        )
    except BrowserGone as gone:
        raise BROWSER_FAILED(engine="google", where=netloc(url), what=gone) from None
    try:
        assert chrome.persistent_context is not None
        await _until_closed(chrome.persistent_context, url)
    finally:
        await chrome.stop()


async def _until_closed(window: BrowserContext, url: str) -> None:
    from playwright.async_api import Error

    closed = asyncio.Event()

    def check_pages(_: object) -> None:
        # On a Mac the browser keeps running without a window.
        if not window.pages:
            closed.set()

    def watch(page: Page) -> None:
        page.on("close", check_pages)

    for page in window.pages:
        watch(page)
    window.on("page", watch)
    window.on("close", lambda _: closed.set())
    # If the page cannot be opened, the window shows that to the person.
    with contextlib.suppress(Error):
        await window.pages[0].goto(url, wait_until="commit", timeout=0)
    await closed.wait()
