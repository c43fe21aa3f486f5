"""A real Chromium for tests: whether there is one, how it is asked, and a folder in which it may leave nothing behind."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from suyuan.core.errors import SuyuanError
from suyuan.core.wire import Request, Response
from suyuan.net.browser import BrowserClient
from suyuan.net.chrome import find_chrome
from suyuan.net.request_filter import UrlCheck
from suyuan.net.settings import BrowserSettings, NetSettings

from .site import Handler, Reply, Site, reply
from .timing import PATIENCE, until


def require_chromium() -> None:
    """Skip the module, with a word, where there is no browser to test with."""
    pytest.importorskip("playwright.async_api", reason="the optional extra suyuan[browser] is not installed")
    if not sys.platform.startswith("linux"):
        pytest.skip("what runs is read from /proc", allow_module_level=True)
    try:
        find_chrome()
    except SuyuanError as error:
        pytest.skip(f"{error.message} {error.hint}", allow_module_level=True)


def own_temp(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder for one test's browsers, which must be empty again in the end."""
    # Short, since the name of a socket in it must not be long.
    folder = Path(tempfile.mkdtemp(prefix="sy", dir="/tmp"))
    monkeypatch.setenv("TMPDIR", str(folder))
    try:
        yield folder
        assert until(lambda: not contents(folder)), f"left behind: {contents(folder)}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def contents(folder: Path) -> list[str]:
    """The names of what is in ``folder``."""
    return os.listdir(folder)


def allowed(settings: BrowserSettings | None = None) -> BrowserSettings:
    """The settings, for pages of tests: these may run as root, where there is no sandbox."""
    return replace(settings or BrowserSettings(), allow_unsandboxed=True)


ALLOWED = allowed()


@asynccontextmanager
async def opened(
    settings: BrowserSettings | None = None, net: NetSettings | None = None, guard: UrlCheck | None = None
) -> AsyncIterator[BrowserClient]:
    """A client for the length of an ``async with`` block."""
    client = BrowserClient(allowed(settings), net or NetSettings(), guard)
    try:
        yield client
    finally:
        await client.close()


async def get(client: BrowserClient, url: str, **headers: str) -> Response:
    """Read one page."""
    async with asyncio.timeout(PATIENCE):
        return await client.send(Request.get(url, headers=headers), "google")


def pages(**answers: Reply | str) -> Handler:
    """A handler that serves these pages by the names of their paths, and a plain one for all else."""
    made = {f"/{name}": reply(answer) if isinstance(answer, str) else answer for name, answer in answers.items()}
    return lambda seen: made.get(seen.path, reply("<p>other</p>"))


def paths(site: Site) -> set[str]:
    """What was asked for."""
    return {seen.path for seen in site.seen}
