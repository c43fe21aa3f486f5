"""A visible window with the kept profile, in which a person does what only a person may do."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.causes.browser import BROWSER_FAILED, NO_DISPLAY
from .chrome import find_chrome
from .launch import BrowserGone, start_chrome
from .page_load import where
from .transport import NetSettings

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page


_START_SECONDS = 20.0


async def unlock(
    url: str, executable: str, profile_dir: Path, has_display: bool, net: NetSettings | None = None
) -> None:
    """Open a window at ``url`` with the kept profile, and return when the person has closed it."""
    if not has_display:
        raise NO_DISPLAY()
    found = find_chrome(executable)
    try:
        # By the same proxy as later searches: what was unlocked holds for one address only.
        chrome = await start_chrome(
            found.path, net or NetSettings(), seconds=_START_SECONDS, headless=False, profile=profile_dir
        )
    except BrowserGone as gone:
        raise BROWSER_FAILED(engine="google", where=where(url), what=gone) from None
    try:
        assert chrome.kept is not None
        await _shown(chrome.kept, url)
    finally:
        await chrome.stop()


async def _shown(window: BrowserContext, url: str) -> None:
    from playwright.async_api import Error

    closed = asyncio.Event()

    def look(_: object) -> None:
        # On a Mac the program goes on without a window.
        if not window.pages:
            closed.set()

    def watch(page: Page) -> None:
        page.on("close", look)

    for page in window.pages:
        watch(page)
    window.on("page", watch)
    window.on("close", lambda _: closed.set())
    # Where the page does not open, the window says so to the person.
    with contextlib.suppress(Error):
        await window.pages[0].goto(url, wait_until="commit", timeout=0)
    await closed.wait()
