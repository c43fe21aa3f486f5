"""A Chrome led by Playwright: started within a time, and ended so that neither a process nor a folder stays."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import sys
import weakref
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from ..core.causes.browser import PLAYWRIGHT_MISSING, PROFILE_BUSY
from .transport import NetSettings

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, CDPSession, Page, Playwright


T = TypeVar("T")

# Playwright itself switches off updates, sync, extensions and first-run pages.
_ARGS = ("--disable-gpu", "--disable-quic")
# What is not of HTTP goes by the proxy as well, or not at all; the second is the name by which older versions know it.
_PROXIED_ARGS = (
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
# Nobody clicks here, so Chrome's own popup blocker, which Playwright switches off, stops every popup.
_UNWANTED_ARGS = ("--disable-popup-blocking",)
_PASSING_PROFILE = re.compile(r"--user-data-dir=(.+?playwright_chromiumdev_profile-\w+)")
_SINGLETON_FILES = ("SingletonSocket", "SingletonCookie")
_ANSWER_SECONDS = 1.5
_CLOSE_SECONDS = 3.0
_DRIVER_SECONDS = 15.0
_CLEAR_TRIES = 150
_CLEAR_PAUSE = 0.1


_Folders = tuple[Path | None, Path | None]


class BrowserGone(Exception):
    """The browser crashed, hangs or did not start; another one may do better."""


class BrowserHangs(BrowserGone):
    """It runs, but does not answer."""


class Chrome:
    """One running browser, with the driver that leads it; made by :func:`start_chrome`."""

    def __init__(
        self, driver: Playwright, browser: Browser, session: CDPSession, kept: BrowserContext | None, folders: _Folders
    ) -> None:
        self.session = session
        """A connection to the browser as a whole, not to one page."""
        self.kept = kept
        """The context of a kept profile; None where every page has a context of its own."""
        self._driver = driver
        self._browser = browser
        self._passing, socket = folders
        # Also at the end of a program that closes nothing: a browser that the driver then kills leaves this folder behind.
        self._clear_socket = weakref.finalize(self, _clear_socket, socket)

    async def open_page(self) -> Page:
        """Open an empty page; closing it ends all that came with it, which is its own context unless a profile is kept."""
        if self.kept is not None:
            return await self.kept.new_page()
        return await self._browser.new_page(accept_downloads=False, service_workers="block")

    async def patient(self, task: asyncio.Task[T]) -> T:
        """Await ``task`` for as long as the browser answers at all: on a busy machine it is slow, which is no reason to end it.

        Cancelling this does not cancel ``task``.
        """
        while True:
            try:
                return await answered(asyncio.shield(task), _answer_seconds())
            except BrowserHangs:
                if not await self.well():
                    raise

    async def well(self) -> bool:
        """Whether the browser still answers."""
        try:
            await answered(self.session.send("Browser.getVersion"), _answer_seconds())
        except BrowserGone:
            return False
        return True

    async def stop(self) -> None:
        """End the browser and its driver, by force where they do not answer, and remove what they leave behind."""
        with contextlib.suppress(BrowserGone):
            await answered(self._browser.close(), _CLOSE_SECONDS)
        # Asked a second time, the driver kills a browser that did not close.
        await _stop_driver(self._driver)
        if self._passing is not None:
            await _clear(self._passing)
        self._clear_socket()


async def start_chrome(
    executable: str,
    net: NetSettings,
    *,
    seconds: float,
    headless: bool = True,
    profile: Path | None = None,
    proxy_server: str = "",
) -> Chrome:
    """Start the browser at ``executable``; raises :class:`BrowserGone` where it does not answer in ``seconds``.

    Through ``gateway``, where one is given, goes every connection, those to this machine included.
    """
    try:
        from playwright.async_api import Error, async_playwright
    except ImportError:
        raise PLAYWRIGHT_MISSING() from None
    try:
        driver = await async_playwright().start()
    except (Error, OSError) as error:
        raise BrowserGone(first_line(error)) from None
    # By default Chrome would reach loopback and link-local addresses past the proxy.
    proxy = {"server": proxy_server, "bypass": "<-loopback>"} if proxy_server else proxy_options(net)
    try:
        # The driver's own clock runs out first: it then knows that this browser must be killed.
        return await answered(
            _launched(driver, _options(executable, proxy, headless, seconds), profile), seconds + _ANSWER_SECONDS
        )
    except BaseException as error:
        await _stop_driver(driver)
        if profile is not None and "already in use" in str(error):
            raise PROFILE_BUSY(where=profile) from None
        raise


def _answer_seconds() -> float:
    """How long a browser may take to answer: longer where more processes want to run than there are cores."""
    busy = 1.0 if sys.platform == "win32" else os.getloadavg()[0] / (os.cpu_count() or 1)
    return _ANSWER_SECONDS * max(1.0, busy)


async def answered(call: Awaitable[T], seconds: float) -> T:
    """Await a call to the browser; :class:`BrowserGone` where it fails, :class:`BrowserHangs` where no answer comes in ``seconds``."""
    from playwright.async_api import Error

    try:
        async with asyncio.timeout(seconds):
            return await call
    except Error as error:
        raise BrowserGone(first_line(error)) from None
    except TimeoutError:
        raise BrowserHangs(f"it did not answer in {seconds:g} s") from None


def first_line(error: BaseException) -> str:
    """What an error of Playwright says, without the call's name and the log."""
    text = str(error).strip() or type(error).__name__
    return re.sub(r"^\w+\.\w+: ", "", text.splitlines()[0])


def proxy_options(net: NetSettings) -> dict[str, str] | None:
    """The proxy of the settings in Playwright's words, or None for direct connections."""
    address = net.proxy.reveal()
    if not address or "*" in net.no_proxy:
        return None
    parts = urlsplit(address if "://" in address else f"http://{address}")
    options = {"server": f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"}
    if parts.username:
        options["username"] = unquote(parts.username)
        options["password"] = unquote(parts.password or "")
    if bypass := ",".join(_bypass(net.no_proxy)):
        options["bypass"] = bypass
    return options


def _bypass(names: tuple[str, ...]) -> list[str]:
    """The rules by which Chrome goes direct where :meth:`NetSettings.proxy_for` does: the name itself and all below it."""
    rules: list[str] = []
    for name in filter(None, (name.lower().lstrip("*.") for name in names)):
        rules += [f"[{name}]"] if ":" in name else [name, f"*.{name}"]
    return rules


def _options(executable: str, proxy: dict[str, str] | None, headless: bool, seconds: float) -> dict[str, Any]:
    return {
        "executable_path": executable,
        "headless": headless,
        # Without a proxy of ours Chrome would take the desktop's, and the other clients would not.
        "args": [*_ARGS, *(_PROXIED_ARGS if proxy else ("--no-proxy-server",))],
        "ignore_default_args": list(_UNWANTED_ARGS),
        # Chrome refuses to run as root inside its sandbox.
        "chromium_sandbox": not (sys.platform == "linux" and os.geteuid() == 0),
        "proxy": proxy,
        "timeout": seconds * 1000,
    }


async def _launched(driver: Playwright, options: dict[str, Any], profile: Path | None) -> Chrome:
    kept: BrowserContext | None = None
    browser: Browser | None
    if profile is None:
        browser = await driver.chromium.launch(**options)
    else:
        kept = await driver.chromium.launch_persistent_context(
            profile, accept_downloads=False, service_workers="block", no_viewport=not options["headless"], **options
        )
        browser = kept.browser
    assert browser is not None
    session = await browser.new_browser_cdp_session()
    command = ""
    # Only needed where the browser or its driver is killed later, so no reason to fail now.
    with contextlib.suppress(BrowserGone):
        info = await answered(session.send("SystemInfo.getInfo"), options["timeout"] / 1000)
        command = info["commandLine"]
    return Chrome(driver, browser, session, kept, _folders(command, profile))


async def _stop_driver(driver: Playwright) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRIVER_SECONDS):
            await driver.stop()


def _folders(command: str, profile: Path | None) -> _Folders:
    """The folders of a running browser: its passing profile, and that of its socket."""
    found = _PASSING_PROFILE.search(command) if profile is None else None
    passing = Path(found[1]) if found else None
    try:
        socket = os.readlink((passing or profile or Path()) / "SingletonSocket")
    except OSError:
        return passing, None
    return passing, Path(socket).parent


async def _clear(passing: Path) -> None:
    """Remove a passing profile that the driver did not remove, because it was killed."""
    for _ in range(_CLEAR_TRIES):
        if not _remains(passing):
            return
        # A browser without a driver ends by itself, and writes to its profile until then.
        await asyncio.sleep(_CLEAR_PAUSE)


def _clear_socket(folder: Path | None) -> None:
    if folder is None:
        return
    # By name, not as a tree: the folder was only read from a link in the profile.
    with contextlib.suppress(OSError):
        for name in _SINGLETON_FILES:
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()


def _remains(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return folder.exists()
