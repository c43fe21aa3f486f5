"""``Chrome``: a browser controlled by Playwright, which leaves neither a process nor a folder behind."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import weakref
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from ..core.causes.browser import PLAYWRIGHT_MISSING, PROFILE_BUSY
from ..core.child_environment import SCREEN, child_environment
from ..core.tasks import in_thread
from .settings import NetSettings

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, CDPSession, Page, Playwright


T = TypeVar("T")

# Playwright itself switches off updates, sync, extensions and first-run pages.
_ARGS = ("--disable-gpu", "--disable-quic")
# WebRTC uses the proxy or nothing; the second argument is the name in older versions.
_PROXIED_ARGS = (
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
# Playwright disables Chrome's popup blocker; without this argument it stops every popup.
_REMOVED_ARGS = ("--disable-popup-blocking",)
_TEMPORARY_PROFILE = re.compile(r"--user-data-dir=(.{1,1000}?playwright_chromiumdev_profile-\w+)")
_SINGLETON_FILES = ("SingletonSocket", "SingletonCookie")
_RESPONSE_SECONDS = 1.5
_CLOSE_SECONDS = 3.0
_DRIVER_SECONDS = 15.0
_REMOVE_ATTEMPTS = 150
_REMOVE_PAUSE = 0.1


log = logging.getLogger("suyuan.net")
# The task that starts a driver has a copy of the context that it was made in.
_own_driver: ContextVar[bool] = ContextVar("own_driver", default=False)

_Folders = tuple[Path | None, Path | None]


class BrowserGone(Exception):
    """The browser crashed, hangs or did not start; a new one may work."""


class BrowserHangs(BrowserGone):
    """The browser runs, but does not respond."""


class Chrome:
    """One running browser with its driver; created by :func:`start_chrome`."""

    def __init__(
        self,
        driver: Playwright,
        browser: Browser,
        session: CDPSession,
        persistent_context: BrowserContext | None,
        folders: _Folders,
        user_agent: str = "",
    ) -> None:
        self._user_agent = user_agent
        """What it says it is; empty for what it says by itself."""
        self.session = session
        """A connection to the browser as a whole, not to one page."""
        self.persistent_context = persistent_context
        """The context of a persistent profile; None if every page has a context of its own."""
        self._driver = driver
        self._browser = browser
        # A finalizer, because a program may exit without closing: asyncio kills the driver then, and they would remain.
        self._remove_folders = weakref.finalize(self, _remove_folders, *folders)

    async def open_page(self) -> Page:
        """Open an empty page, in a context of its own unless the profile is persistent."""
        if self.persistent_context is not None:
            page = await self.persistent_context.new_page()
            if self._user_agent:
                own = await self.persistent_context.new_cdp_session(page)
                await own.send("Emulation.setUserAgentOverride", {"userAgent": self._user_agent})
            return page
        return await self._browser.new_page(
            accept_downloads=False, service_workers="block", user_agent=self._user_agent or None
        )

    async def wait_for(self, task: asyncio.Task[T]) -> T:
        """Await ``task`` as long as the browser responds at all, since on a busy machine it is only slow.

        Cancelling this does not cancel ``task``.
        """
        while True:
            try:
                return await await_browser(asyncio.shield(task), _response_seconds())
            except BrowserHangs:
                if not await self.responds():
                    raise

    async def responds(self) -> bool:
        """Whether the browser still responds."""
        try:
            await await_browser(self.session.send("Browser.getVersion"), _response_seconds())
        except BrowserGone:
            return False
        return True

    async def stop(self) -> None:
        """Close the browser and its driver, kill them if they do not respond, and remove their files."""
        with contextlib.suppress(BrowserGone):
            await await_browser(self._browser.close(), _CLOSE_SECONDS)
        # When it stops, the driver kills a browser that did not close.
        await _stop_driver(self._driver)
        await in_thread(self._remove_folders)


async def start_chrome(
    executable: str,
    net: NetSettings,
    *,
    seconds: float,
    headless: bool = True,
    profile: Path | None = None,
    proxy_url: str = "",
) -> Chrome:
    """Start the browser at ``executable``; raises :class:`BrowserGone` if it does not respond within ``seconds``.

    With ``proxy_url`` every connection goes through that proxy, including those to this machine.
    """
    try:
        from playwright.async_api import Error, async_playwright
    except ImportError:
        raise PLAYWRIGHT_MISSING() from None
    try:
        driver = await _start_driver(async_playwright)
    except (Error, OSError) as error:
        raise BrowserGone(first_line(error)) from None
    # By default Chrome connects to loopback and link-local addresses without the proxy.
    proxy = {"server": proxy_url, "bypass": "<-loopback>"} if proxy_url else proxy_options(net)
    launching = _launch(driver, _options(executable, proxy, headless, seconds), profile)
    try:
        # The driver's own timeout expires first, so that it kills the browser.
        return await await_browser(launching, seconds + _RESPONSE_SECONDS)
    except BaseException as error:
        await _stop_driver(driver)
        if profile is not None and "already in use" in str(error):
            raise PROFILE_BUSY(where=profile) from None
        raise


def is_unsandboxed() -> bool:
    """Whether a browser runs without its sandbox here: as root it starts in no other way."""
    return sys.platform == "linux" and os.geteuid() == 0


async def _start_driver(playwright: Callable[[], Any]) -> Playwright:
    """Start the driver with an environment of a few names, for which Playwright has no option."""
    from playwright._impl import transport

    whole = getattr(transport, "get_driver_env", None)
    if whole is None:
        log.warning("this version of Playwright hands the whole environment to its driver")
    elif not isinstance(whole, _DriverEnvironment):
        transport.get_driver_env = _DriverEnvironment(whole)  # type: ignore[attr-defined]
    own = _own_driver.set(True)
    try:
        driver: Playwright = await playwright().start()
        return driver
    finally:
        _own_driver.reset(own)


class _DriverEnvironment:
    """The environment of a driver: a few names for one of ours, and what Playwright gives for those of others."""

    def __init__(self, whole: Callable[[], dict[str, str]]) -> None:
        self._whole = whole

    def __call__(self) -> dict[str, str]:
        given = self._whole()
        return child_environment("PW_*", "PLAYWRIGHT_*", environ=given) if _own_driver.get() else given


def _response_seconds() -> float:
    """How long a browser may take to answer: longer where more processes want to run than there are cores."""
    busy = 1.0 if sys.platform == "win32" else os.getloadavg()[0] / (os.cpu_count() or 1)
    return _RESPONSE_SECONDS * max(1.0, busy)


async def await_browser(call: Awaitable[T], seconds: float) -> T:
    """Await a call to the browser; raises :class:`BrowserGone` if it fails, :class:`BrowserHangs` if it times out."""
    from playwright.async_api import Error

    try:
        async with asyncio.timeout(seconds):
            return await call
    except Error as error:
        raise BrowserGone(first_line(error)) from None
    except TimeoutError:
        raise BrowserHangs(f"it did not respond within {seconds:g} s") from None


def first_line(error: BaseException) -> str:
    """The message of a Playwright error, without the name of the call and the log."""
    text = str(error).strip() or type(error).__name__
    return re.sub(r"^\w+\.\w+: ", "", text.splitlines()[0])


def proxy_options(net: NetSettings) -> dict[str, str] | None:
    """The proxy of the settings as a Playwright option, or None for direct connections."""
    address = net.proxy.reveal()
    if not address or "*" in net.no_proxy:
        return None
    if "://" not in address:
        address = f"http://{address}"
    parts = urlsplit(address)
    options = {"server": f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"}
    if parts.username:
        options["username"] = unquote(parts.username)
        options["password"] = unquote(parts.password or "")
    if bypass := ",".join(_bypass(net.no_proxy)):
        options["bypass"] = bypass
    return options


def _bypass(names: tuple[str, ...]) -> list[str]:
    """The same exceptions as in :meth:`NetSettings.proxy_for`, as Chrome's rules: the name and its subdomains."""
    rules: list[str] = []
    for name in filter(None, (name.lower().lstrip("*.") for name in names)):
        rules += [f"[{name}]"] if ":" in name else [name, f"*.{name}"]
    return rules


def _options(executable: str, proxy: dict[str, str] | None, headless: bool, seconds: float) -> dict[str, Any]:
    return {
        "executable_path": executable,
        "headless": headless,
        # Otherwise Chrome would use the proxy of the desktop, which the other clients do not.
        "args": [*_ARGS, *(_PROXIED_ARGS if proxy else ("--no-proxy-server",))],
        "ignore_default_args": list(_REMOVED_ARGS),
        # Chrome does not run as root with its sandbox.
        "chromium_sandbox": not is_unsandboxed(),
        "env": dict(child_environment(*SCREEN)),
        "proxy": proxy,
        # There are none; by default the driver creates a folder for them, which stays if it ends before the browser.
        "artifacts_dir": tempfile.gettempdir(),
        "timeout": seconds * 1000,
    }


async def _launch(driver: Playwright, options: dict[str, Any], profile: Path | None) -> Chrome:
    context: BrowserContext | None = None
    browser: Browser | None
    if profile is None:
        browser = await driver.chromium.launch(**options)
    else:
        context = await driver.chromium.launch_persistent_context(
            profile, accept_downloads=False, service_workers="block", no_viewport=not options["headless"], **options
        )
        browser = context.browser
    assert browser is not None
    session = await browser.new_browser_cdp_session()
    command = ""
    # Needed only if the browser or its driver is killed later, so this may fail.
    with contextlib.suppress(BrowserGone):
        info = await await_browser(session.send("SystemInfo.getInfo"), options["timeout"] / 1000)
        command = info["commandLine"]
    return Chrome(driver, browser, session, context, _folders(command, profile), await _user_agent(session, options))


async def _user_agent(session: CDPSession, options: dict[str, Any]) -> str:
    """The name of this browser without the mark that it has no window, by which pages refuse readers."""
    with contextlib.suppress(BrowserGone):
        version = await await_browser(session.send("Browser.getVersion"), options["timeout"] / 1000)
        return str(version["userAgent"]).replace("HeadlessChrome", "Chrome")
    return ""


async def _stop_driver(driver: Playwright) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRIVER_SECONDS):
            await driver.stop()


def _folders(command: str, profile: Path | None) -> _Folders:
    """The folders of a running browser: its temporary profile, and that of its socket."""
    match = _TEMPORARY_PROFILE.search(command) if profile is None else None
    temporary = Path(match[1]) if match else None
    try:
        socket = os.readlink((temporary or profile or Path()) / "SingletonSocket")
    except OSError:
        return temporary, None
    return temporary, Path(socket).parent


def _kill_owner(profile: Path) -> None:
    """Kill a browser whose driver was killed: it would exit by itself, but write to its profile until then."""
    with contextlib.suppress(OSError, ValueError):
        pid = int(os.readlink(profile / "SingletonLock").rpartition("-")[2])
        # The number may be that of another process by now.
        if profile.name.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGKILL)


def _remove_folders(profile: Path | None, socket: Path | None) -> None:
    """Remove a temporary profile, which remains if the driver was killed, and the folder of the browser's socket."""
    if profile is not None:
        _kill_owner(profile)
        for _ in range(_REMOVE_ATTEMPTS):
            if _removed(profile):
                break
            # Processes of the browser may still write to it.
            time.sleep(_REMOVE_PAUSE)  # noqa: TID251 - at the exit of a program there is no event loop
    _remove_socket(socket)


def _removed(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def _remove_socket(folder: Path | None) -> None:
    if folder is None:
        return
    # Only these files, because the name of the folder comes from a link in the profile.
    with contextlib.suppress(OSError):
        for name in _SINGLETON_FILES:
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
