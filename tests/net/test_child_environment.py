"""What the programs that are started know: a few names of the environment, read where the system keeps them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.chromium import ALLOWED, get, opened, pages, require_chromium
from support.processes import PROC, browsers, family
from support.site import serve
from support.timing import PATIENCE, soon
from suyuan.client import AsyncClient
from suyuan.config.settings import PageSettings, Settings
from suyuan.core.child_environment import CONTAINERS, SCREEN, TERMINAL, child_environment
from suyuan.core.document import Document
from suyuan.core.errors import SuyuanError, WebProviderError
from suyuan.core.wire import Request, Response
from suyuan.net.browser import BrowserClient
from suyuan.net.launch import is_unsandboxed
from suyuan.net.network import Network, PageAccess
from suyuan.net.settings import BrowserSettings, NetSettings
from suyuan.net.unlock import unlock
from suyuan.pages.reader_pool import ReaderPool
from suyuan.pages.reading import ReceivedPage

if not sys.platform.startswith("linux"):
    pytest.skip("what a process knows is read from /proc", allow_module_level=True)

SECRET = "do-not-hand-on-8f3a"
NAMES = (
    "SUYUAN_TOKEN", "SUYUAN_MODEL_API_KEY", "SUYUAN_STORE_URL", "BRAVE_API_KEY", "OPENAI_API_KEY", "HTTPS_PROXY",
    "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "SEARXNG_API_KEY", "XDGSECRET", "PATHSECRET", "MY_PATH",
)  # fmt: skip


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.setenv(name, SECRET)


def environments() -> list[dict[str, str]]:
    """What each descendant of this process was started with."""
    found = []
    for process in family(kept=("postgres", "redis-server", "valkey-server", "multiprocessing.")):
        raw = (PROC / str(process.pid) / "environ").read_bytes().decode("utf-8", "replace")
        found.append(dict(entry.partition("=")[::2] for entry in raw.split("\0") if entry))
    return found


def check(number: int) -> None:
    known = environments()
    assert len(known) >= number
    for each in known:
        assert SECRET not in each.values() and not set(NAMES) & set(each), each
        assert not [name for name in each if name.startswith(("SUYUAN_", "WEB_"))], each


def test_the_names_are_few() -> None:
    for names in ((), SCREEN, TERMINAL, CONTAINERS):
        given = child_environment(*names)
        assert given["PATH"] == os.environ["PATH"] and SECRET not in given.values()
    assert child_environment("A_*", environ={"A_1": "x", "B": "y", "LC_ALL": "C"}) == {"A_1": "x", "LC_ALL": "C"}


async def test_the_readers_know_no_secret() -> None:
    pool = ReaderPool(2)
    try:
        page = "https://a.example/"
        response = Response(200, b"Words of a page that is read.", page, {"content-type": "text/plain"})
        reading = await pool.read(ReceivedPage(page, response))
        assert isinstance(reading.document, Document) and "Words" in reading.document.text
        assert pool.pids
        check(1)
    finally:
        pool.close()


async def test_the_browser_and_its_driver_know_no_secret() -> None:
    require_chromium()
    async with opened() as client, serve(pages()) as site:
        await get(client, site.url)
        assert browsers()
        # The driver, the browser, its zygotes and what renders.
        check(4)


async def test_a_driver_of_others_has_what_it_always_had() -> None:
    require_chromium()
    from playwright.async_api import async_playwright

    async with opened() as client, serve(pages()) as site:
        await get(client, site.url)
    assert await soon(lambda: not family())
    async with async_playwright():
        assert [each for each in environments() if each.get("SUYUAN_TOKEN") == SECRET]


@pytest.mark.skipif(not is_unsandboxed(), reason="the browser has its sandbox here")
async def test_without_a_sandbox_pages_of_others_are_refused_and_own_ones_printed(tmp_path: Path) -> None:
    require_chromium()
    client = BrowserClient(BrowserSettings(), NetSettings())
    try:
        async with serve(pages()) as site:
            with pytest.raises(WebProviderError) as caught:
                await client.send(Request.get(site.url), "google")
            assert caught.value.detail_code == "browser_unsandboxed" and not family() and not site.seen
            assert "web.browser.allowUnsandboxed" in str(caught.value.hint)
            with pytest.raises(WebProviderError) as refused:
                await unlock(site.url, BrowserSettings(), tmp_path / "profile", has_display=True)
            assert refused.value.detail_code == "browser_unsandboxed" and not family()
        async with asyncio.timeout(PATIENCE):
            assert (await client.print_pdf("<p>own</p>")).startswith(b"%PDF-")
    finally:
        await client.close()
    async with serve(pages()) as site:
        settings = Settings(pages=PageSettings(allow_networks=("127.0.0.0/8",)), data_dir=tmp_path)
        async with AsyncClient(settings) as asked:
            with pytest.raises(SuyuanError) as told:
                await asked.fetcher.fetch(site.url, render=True)
        assert told.value.detail_code == "browser_unsandboxed"
    network = Network(NetSettings(), BrowserSettings(), PageAccess())
    problem = network.browser_problem()
    assert problem is not None and problem.detail_code == "browser_unsandboxed" and network.print_problem() is None
    assert Network(NetSettings(), ALLOWED, PageAccess()).browser_problem() is None


def test_a_server_lets_no_process_of_its_user_read_what_it_knows() -> None:
    """As a user without rights: a child reads the environment of its parent, until that has closed it."""
    program = """
import ctypes, os
from suyuan.core.own_memory import close_own_memory

def child_reads():
    number = os.fork()
    if number == 0:
        try:
            open(f"/proc/{os.getppid()}/environ").read()
        except PermissionError:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]) == 0

if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
    # A change of the user has closed it.
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
before = child_reads()
close_own_memory()
print(before, child_reads())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
