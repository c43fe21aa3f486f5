"""``BrowserClient``: HTTP with a real browser, for pages made by scripts; started when first needed, and shared."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ..core.causes.browser import BROWSER_CLOSED, BROWSER_FAILED, BROWSER_ONLY_READS, BROWSER_UNSANDBOXED
from ..core.causes.network import BAD_HTTP, OFF_LIMITS, PROXY_FAILED
from ..core.errors import SuyuanError
from ..core.tasks import TaskSet
from ..core.urls import netloc, origin
from ..core.wire import Request, Response
from .chrome import find_chrome
from .guarded_proxy import GuardedProxy, ProxyPolicy
from .launch import BrowserGone, BrowserHangs, Chrome, await_browser, is_unsandboxed, proxy_options, start_chrome
from .loop_pool import LoopPool
from .page_load import PageLoad
from .request_filter import RequestFilter, UrlCheck
from .settings import BrowserSettings, NetSettings

if TYPE_CHECKING:
    from playwright.async_api import Page
    from playwright.async_api import Request as PageRequest

log = logging.getLogger("suyuan.net")

_ENABLE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _RunningBrowser:
    """A running browser with its request filter and, unless the user has a proxy, its own proxy."""

    chrome: Chrome
    request_filter: RequestFilter
    proxy: GuardedProxy | None

    async def stop(self) -> None:
        try:
            await self.chrome.stop()
        finally:
            if self.proxy is not None:
                await self.proxy.close()


T = TypeVar("T")
_Start = asyncio.Task[_RunningBrowser]
_OnPage = Callable[["Page", _RunningBrowser], Coroutine[Any, Any, T]]


class BrowserClient:
    """A ``Transport`` with Chrome, which follows redirects; it has one browser for each event loop that uses it.

    ``may_load`` is asked about each request that Chrome shows; ``policy`` decides about each connection it makes.
    """

    def __init__(
        self,
        settings: BrowserSettings,
        net: NetSettings,
        may_load: UrlCheck | None = None,
        policy: ProxyPolicy | None = None,
    ) -> None:
        self._settings = settings
        # A browser belongs to the loop that started it.
        self._browsers = LoopPool(lambda: _LoopBrowser(settings, net, may_load, policy))
        self._closed = False

    async def send(self, request: Request, engine: str) -> Response:
        """Load one page and return it as its scripts have made it; cancelling closes the page."""
        if request.method != "GET":
            raise BROWSER_ONLY_READS(engine=engine, method=request.method)
        try:
            origin(request.url)
        except ValueError:
            raise BAD_HTTP(engine=engine, where=request.url[:80]) from None
        if is_unsandboxed() and not self._settings.allow_unsandboxed:
            raise BROWSER_UNSANDBOXED(engine=engine)
        return await self._browser(engine, netloc(request.url)).send(request, engine)

    async def print_pdf(self, html: str) -> bytes:
        """Print a page that needs nothing from the network as PDF."""
        return await self._browser("pdf", "pdf").print_pdf(html)

    def _browser(self, engine: str, where: str) -> _LoopBrowser:
        if self._closed:
            raise BROWSER_CLOSED(engine=engine, where=where)
        return self._browsers.get()

    async def close(self) -> None:
        """Close the browser of every loop that is still running, for good; unfinished requests fail."""
        self._closed = True
        await self._browsers.close(seconds=None)


class _LoopBrowser:
    """The browser of one event loop."""

    def __init__(
        self, settings: BrowserSettings, net: NetSettings, may_load: UrlCheck | None, policy: ProxyPolicy | None
    ) -> None:
        self._settings = settings
        self._net = net
        self._may_load = may_load
        self._policy = policy
        self._page_slots = asyncio.Semaphore(settings.max_pages)
        self._start: _Start | None = None
        self._background = TaskSet()
        self._users = 0
        self._idle_timer: asyncio.TimerHandle | None = None
        self._closed = False

    async def send(self, request: Request, engine: str) -> Response:
        """Load one page; a browser that fails is replaced once, and the page is loaded again."""
        asked_at = time.monotonic()

        def load(page: Page, running: _RunningBrowser) -> Coroutine[Any, Any, Response]:
            one = PageLoad(page, request, engine, self._net.max_bytes)
            return _with_proxy_cause(one.read(self._settings.settle_seconds, asked_at), page, engine, running.proxy)

        return await self._twice(load, engine, netloc(request.url))

    async def print_pdf(self, html: str) -> bytes:
        """Print a page as PDF."""

        async def printed(page: Page, running: _RunningBrowser) -> bytes:
            await running.chrome.wait_for(asyncio.create_task(page.set_content(html)))
            pdf: bytes = await running.chrome.wait_for(
                asyncio.create_task(page.pdf(format="A4", print_background=True))
            )
            return pdf

        return await self._twice(printed, "pdf", "pdf")

    async def _twice(self, work: _OnPage[T], engine: str, where: str) -> T:
        """Do something with a new page; a browser that fails is replaced once."""
        self._users += 1
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        try:
            try:
                return await self._on_page(work, engine, where)
            except BrowserGone as gone:
                log.warning("the browser failed, loading %s again: %s", where, gone)
                return await self._on_page(work, engine, where)
        except BrowserGone as gone:
            raise BROWSER_FAILED(engine=engine, where=where, what=gone) from None
        finally:
            self._users -= 1
            if not self._users and not self._closed:
                loop = asyncio.get_running_loop()
                self._idle_timer = loop.call_later(self._settings.idle_seconds, lambda: self._discard(self._start))

    async def close(self) -> None:
        """Close the browser, and wait until all its processes and files are gone."""
        self._closed = True
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        self._discard(self._start)
        while self._background:
            await asyncio.wait(self._background)

    async def _on_page(self, work: _OnPage[T], engine: str, where: str) -> T:
        await self._page_slots.acquire()
        start: _Start | None = None
        opening: asyncio.Task[Page] | None = None
        try:
            if self._closed:
                raise BrowserGone("it was closed")
            start = self._started()
            running = await asyncio.shield(start)
            chrome = running.chrome
            # A task of its own, which is not cancelled with this one: a half-opened page could not be closed.
            opening = asyncio.create_task(chrome.open_page())
            page = await chrome.wait_for(opening)
            await chrome.wait_for(asyncio.create_task(running.request_filter.block_web_sockets(page)))
            return await work(page, running)
        except BrowserGone as gone:
            if self._closed:
                raise BROWSER_CLOSED(engine=engine, where=where) from None
            if isinstance(gone, BrowserHangs) or (opening is not None and not await chrome.responds()):
                self._discard(start)
            raise
        finally:
            # Not awaited, because neither a result nor a cancellation has to wait until the page is closed.
            self._background.start(self._close_page(start, opening))

    def _started(self) -> _Start:
        """The start of the browser, which continues even if the request that needed it first is cancelled."""
        if self._start is None:
            self._start = asyncio.create_task(self._start_browser())
            self._start.add_done_callback(self._forget_failed)
        return self._start

    async def _start_browser(self) -> _RunningBrowser:
        began = time.monotonic()
        chrome = find_chrome(self._settings.executable)
        proxy = None
        # The user's proxy resolves names for Chrome, and may be the only way out: then only the filter decides.
        if self._policy is not None and proxy_options(self._net) is None:
            proxy = GuardedProxy(self._policy)
            await proxy.start()
        try:
            running = await self._launch(chrome.path, proxy)
        except BaseException:
            if proxy is not None:
                await proxy.close()
            raise
        log.info("%s started in %.2f s", chrome.name, time.monotonic() - began)
        return running

    async def _launch(self, executable: str, proxy: GuardedProxy | None) -> _RunningBrowser:
        settings = self._settings
        proxy_url = proxy.url if proxy else ""
        credentials = proxy.credentials if proxy else None
        chrome = await start_chrome(
            executable,
            self._net,
            seconds=settings.start_seconds,
            headless=settings.headless,
            profile=settings.profile_dir,
            proxy_url=proxy_url,
        )
        request_filter = RequestFilter(chrome.session, self._may_load, credentials)
        try:
            await await_browser(request_filter.enable(), _ENABLE_SECONDS)
        except BrowserGone:
            await chrome.stop()
            raise
        return _RunningBrowser(chrome, request_filter, proxy)

    def _forget_failed(self, start: _Start) -> None:
        if (start.cancelled() or start.exception()) and self._start is start:
            self._start = None

    async def _close_page(self, start: _Start | None, opening: asyncio.Task[Page] | None) -> None:
        """Close the page and free its slot; a browser that cannot close a page hangs, and is discarded."""
        try:
            if start is not None and opening is not None:
                await start.result().chrome.wait_for(asyncio.create_task(_close_opened(opening)))
        except BrowserHangs:
            self._discard(start)
        except BrowserGone as gone:
            log.debug("the page was already closed: %s", gone)
        finally:
            self._page_slots.release()

    def _discard(self, start: _Start | None) -> None:
        """Stop the browser that ``start`` returned, unless it was replaced already."""
        if start is not None and start is self._start:
            self._start = None
            self._background.start(_stop(start))


async def _stop(start: _Start) -> None:
    with contextlib.suppress(BrowserGone, SuyuanError):
        await (await start).stop()


async def _close_opened(opening: asyncio.Task[Page]) -> None:
    page = await opening
    await page.close()


async def _with_proxy_cause(
    loading: Coroutine[Any, Any, Response], page: Page, engine: str, proxy: GuardedProxy | None
) -> Response:
    """The loaded page; if the guarded proxy refused it, its reason, since Chrome only says that a proxy failed."""
    if proxy is None:
        return await loading
    failed_url = ""

    def note_failure(request: PageRequest) -> None:
        nonlocal failed_url
        if request.is_navigation_request() and request.frame == page.main_frame:
            failed_url = request.url

    page.on("requestfailed", note_failure)
    try:
        response = await loading
    except SuyuanError as error:
        cause = proxy.failure(failed_url) if error.detail_code == PROXY_FAILED.detail_code else None
        if cause is None:
            raise
        raise cause(engine=engine, where=netloc(failed_url)) from None
    if response.headers.get("proxy-status") == proxy.status_mark:
        raise (proxy.failure(response.url) or OFF_LIMITS)(engine=engine, where=netloc(response.url))
    return response
