"""HTTP by a real browser, for pages that are made by scripts: started when first needed, shared, and ended without a trace."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..core.causes.browser import BROWSER_CLOSED, BROWSER_FAILED, BROWSER_ONLY_READS
from ..core.causes.network import BAD_HTTP, OFF_LIMITS, PROXY_FAILED
from ..core.errors import SuyuanError
from ..core.wire import Request, Response
from .chrome import find_chrome
from .guarded_proxy import GuardedProxy, ProxyPolicy
from .launch import BrowserGone, BrowserHangs, Chrome, answered, proxy_options, start_chrome
from .page_load import PageLoad, where
from .request_filter import Allows, RequestFilter
from .transport import BrowserSettings, NetSettings, origin

if TYPE_CHECKING:
    from playwright.async_api import Page
    from playwright.async_api import Request as Sent

log = logging.getLogger("suyuan.net")


@dataclass(frozen=True, slots=True)
class _Running:
    """A browser with what stands around it."""

    chrome: Chrome
    gate: RequestFilter
    proxy_server: GuardedProxy | None

    async def stop(self) -> None:
        """End all of it."""
        try:
            await self.chrome.stop()
        finally:
            if self.proxy_server is not None:
                await self.proxy_server.close()


_Started = asyncio.Task[_Running]

_GATE_SECONDS = 10.0


class BrowserClient:
    """A ``Transport`` on Chrome, which follows redirects; one browser for each event loop that uses it.

    ``guard`` is asked about each request that Chrome shows; ``reach`` decides about each connection that it makes.
    """

    def __init__(
        self, settings: BrowserSettings, net: NetSettings, guard: Allows | None = None, reach: ProxyPolicy | None = None
    ) -> None:
        self._settings = settings
        self._net = net
        self._guard = guard
        self._reach = reach
        # A browser belongs to the loop that started it; synchronous callers have a loop of their own.
        self._rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, _BrowserThread] = WeakKeyDictionary()
        self._closed = False

    async def send(self, request: Request, engine: str) -> Response:
        """Show one page and return it as its scripts have made it; cancelling closes the page."""
        if request.method != "GET":
            raise BROWSER_ONLY_READS(engine=engine, method=request.method)
        try:
            origin(request.url)
        except ValueError:
            raise BAD_HTTP(engine=engine, where=request.url[:80]) from None
        if self._closed:
            raise BROWSER_CLOSED(engine=engine, where=where(request.url))
        loop = asyncio.get_running_loop()
        if loop not in self._rooms:
            self._rooms[loop] = _BrowserThread(self._settings, self._net, self._guard, self._reach)
        return await self._rooms[loop].send(request, engine)

    async def close(self) -> None:
        """End the browser of every loop that is still running, for good; requests under way end with an error."""
        self._closed = True
        here = asyncio.get_running_loop()
        for loop, room in list(self._rooms.items()):
            if loop is here:
                await room.close()
            elif loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(room.close(), loop))
        self._rooms.clear()


class _BrowserThread:
    """The browser of one event loop."""

    def __init__(
        self, settings: BrowserSettings, net: NetSettings, guard: Allows | None, reach: ProxyPolicy | None
    ) -> None:
        self._settings = settings
        self._net = net
        self._guard = guard
        self._reach = reach
        self._places = asyncio.Semaphore(settings.max_pages)
        self._started: _Started | None = None
        self._errands: set[asyncio.Task[None]] = set()
        self._users = 0
        self._idle: asyncio.TimerHandle | None = None
        self._closed = False

    async def send(self, request: Request, engine: str) -> Response:
        """Read one page; a browser that fails is replaced once, and the page is asked for again."""
        self._users += 1
        if self._idle is not None:
            self._idle.cancel()
        try:
            try:
                return await self._read(request, engine)
            except BrowserGone as gone:
                log.warning("the browser failed, and %s is asked for again: %s", where(request.url), gone)
                return await self._read(request, engine)
        except BrowserGone as gone:
            raise BROWSER_FAILED(engine=engine, where=where(request.url), what=gone) from None
        finally:
            self._users -= 1
            if not self._users and not self._closed:
                self._idle = asyncio.get_running_loop().call_later(self._settings.idle_seconds, self._rest)

    async def close(self) -> None:
        """End the browser, and wait until all of it is gone."""
        self._closed = True
        if self._idle is not None:
            self._idle.cancel()
        self._retire(self._started)
        while self._errands:
            await asyncio.wait(self._errands)

    def _rest(self) -> None:
        self._retire(self._started)

    async def _read(self, request: Request, engine: str) -> Response:
        await self._places.acquire()
        started: _Started | None = None
        opening: asyncio.Task[Page] | None = None
        try:
            if self._closed:
                raise BrowserGone("it was closed")
            started = self._ready()
            running = await asyncio.shield(started)
            chrome = running.chrome
            # In a task of its own, which is not cancelled with us: a page that is half open could not be closed.
            opening = asyncio.create_task(chrome.open_page())
            page = await chrome.patient(opening)
            await chrome.patient(asyncio.create_task(running.gate.watch(page)))
            visit = PageLoad(page, request, engine, self._net.max_bytes)
            return await _explained(visit.read(self._settings.settle_seconds), page, engine, running.proxy_server)
        except BrowserGone as gone:
            if self._closed:
                raise BROWSER_CLOSED(engine=engine, where=where(request.url)) from None
            if isinstance(gone, BrowserHangs) or (opening is not None and not await chrome.well()):
                self._retire(started)
            raise
        finally:
            # Not awaited: neither an answer nor a cancellation has to wait until the page is closed.
            self._run(self._leave(started, opening))

    def _ready(self) -> _Started:
        """The browser, or its start, which goes on even if whoever needed it first is cancelled."""
        if self._started is None:
            self._started = asyncio.create_task(self._start())
            self._started.add_done_callback(self._forget_failed)
        return self._started

    async def _start(self) -> _Running:
        begun = time.monotonic()
        found = find_chrome(self._settings.executable)
        proxy_server = None
        # A proxy of the user's resolves names for Chrome, and may be the only way out: then the gate alone is asked.
        if self._reach is not None and proxy_options(self._net) is None:
            proxy_server = GuardedProxy(self._reach)
            await proxy_server.start()
        try:
            running = await self._open(found.path, proxy_server)
        except BaseException:
            if proxy_server is not None:
                await proxy_server.close()
            raise
        log.info("%s started in %.2f s", found.name, time.monotonic() - begun)
        return running

    async def _open(self, executable: str, proxy_server: GuardedProxy | None) -> _Running:
        wanted = self._settings
        chrome = await start_chrome(
            executable,
            self._net,
            seconds=wanted.start_seconds,
            headless=wanted.headless,
            profile=wanted.profile_dir,
            proxy_server=proxy_server.url if proxy_server else "",
        )
        gate = RequestFilter(
            chrome.session, self._guard, (proxy_server.user, proxy_server.password) if proxy_server else None
        )
        try:
            await answered(gate.set_up(), _GATE_SECONDS)
        except BrowserGone:
            await chrome.stop()
            raise
        return _Running(chrome, gate, proxy_server)

    def _forget_failed(self, started: _Started) -> None:
        if (started.cancelled() or started.exception()) and self._started is started:
            self._started = None

    async def _leave(self, started: _Started | None, opening: asyncio.Task[Page] | None) -> None:
        """Close the page and give its place to the next; a browser that cannot close a page hangs, and is ended."""
        try:
            if started is not None and opening is not None:
                await started.result().chrome.patient(asyncio.create_task(_shut(opening)))
        except BrowserHangs:
            self._retire(started)
        except BrowserGone as gone:
            log.debug("the page was closed before: %s", gone)
        finally:
            self._places.release()

    def _retire(self, started: _Started | None) -> None:
        """Let go of the browser that ``started`` gave, unless another has taken its place, and end it."""
        if started is not None and started is self._started:
            self._started = None
            self._run(self._end(started))

    async def _end(self, started: _Started) -> None:
        with contextlib.suppress(BrowserGone, SuyuanError):
            await (await started).stop()

    def _run(self, errand: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(errand)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)


async def _shut(opening: asyncio.Task[Page]) -> None:
    page = await opening
    await page.close()


async def _explained(
    reading: Coroutine[Any, Any, Response], page: Page, engine: str, proxy_server: GuardedProxy | None
) -> Response:
    """What the visit gives; where the gateway stood in the way, its reason, for Chrome knows only that a proxy failed."""
    if proxy_server is None:
        return await reading
    failed = ""

    def watch(sent: Sent) -> None:
        nonlocal failed
        if sent.is_navigation_request() and sent.frame == page.main_frame:
            failed = sent.url

    page.on("requestfailed", watch)
    try:
        response = await reading
    except SuyuanError as error:
        cause = proxy_server.failure(failed) if error.detail_code == PROXY_FAILED.detail_code else None
        if cause is None:
            raise
        raise cause(engine=engine, where=where(failed)) from None
    if response.headers.get("proxy-status") == proxy_server.mark:
        raise (proxy_server.failure(response.url) or OFF_LIMITS)(engine=engine, where=where(response.url))
    return response
