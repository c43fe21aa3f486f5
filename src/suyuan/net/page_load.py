"""``PageLoad``: one request carried out by a page of the browser."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..core.cause import Cause
from ..core.causes.browser import BROWSER_FAILED, NOT_A_PAGE
from ..core.causes.engine import TOO_LARGE, UNDECODED
from ..core.causes.network import (
    BAD_HTTP,
    BROKEN_OFF,
    NO_SUCH_HOST,
    OFF_LIMITS,
    PROXY_FAILED,
    REDIRECT_LOOP,
    REFUSED,
    TLS_FAILED,
)
from ..core.urls import netloc
from ..core.wire import Request, Response
from ..messages.catalog import Text
from .launch import BrowserGone, first_line

if TYPE_CHECKING:
    from playwright.async_api import Page
    from playwright.async_api import Request as PageRequest
    from playwright.async_api import Response as PageResponse


# The causes of Chrome's errors, by the starts of their names; the longest that matches is used.
_CAUSES: dict[Cause, str] = {
    NO_SUCH_HOST: "NAME_ DNS_",
    REFUSED: "CONNECTION_REFUSED CONNECTION_TIMED_OUT CONNECTION_FAILED ADDRESS_ INTERNET_DISCONNECTED",
    TLS_FAILED: "SSL_ CERT_ BAD_SSL_",
    PROXY_FAILED: "PROXY_ TUNNEL_ SOCKS_ NO_SUPPORTED_PROXIES UNEXPECTED_PROXY_AUTH",
    BROKEN_OFF: "CONNECTION_ EMPTY_RESPONSE INCOMPLETE_CHUNKED_ENCODING CONTENT_LENGTH_MISMATCH HTTP2_ NETWORK_ "
    "SOCKET_NOT_CONNECTED",
    REDIRECT_LOOP: "TOO_MANY_REDIRECTS",
    UNDECODED: "CONTENT_DECODING_",
    # The request filter.
    OFF_LIMITS: "BLOCKED_BY_CLIENT",
}


def _causes_by_start() -> dict[str, Cause]:
    causes: dict[str, Cause] = {}
    for cause, starts in _CAUSES.items():
        causes |= {f"ERR_{start}": cause for start in starts.split()}
    return causes


_STARTS = _causes_by_start()
_NET_ERROR = re.compile(r"net::(ERR_\w+)")
# To Chrome a response without a body is an error; its status is still a response.
_STATUS_ONLY = frozenset({"ERR_HTTP_RESPONSE_CODE_FAILURE", "ERR_INVALID_AUTH_CREDENTIALS"})
_PROXY_AUTH = 407
_TOO_LONG = "content-length exceeds the limit"
_GONE = re.compile("has been closed|crashed|Connection closed")
_DISPLAYED = re.compile(r"^(?:$|text/|application/(?:[\w.-]+\+)?(?:json|xml)\b|application/xhtml\+xml)")
_HTML = "text/html; charset=utf-8"
# These describe the bytes that were received, not the page that is returned.
_WIRE_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding"})

_QUIET_SECONDS = 0.05
# A page has settled if for so long nothing was loaded and the text did not change, by whether it has text already;
# with text, also if something is still being loaded, since some pages ask their server for ever.
_SETTLED_SECONDS = 0.5
_EMPTY_SECONDS = 1.5
_LOADING_SECONDS = 3.0
_SOME_TEXT = 200
_LOOK_SECONDS = 0.1
# These load for as long as the page is open, or are not text.
_ENDLESS = frozenset({"eventsource", "font", "image", "media", "ping", "websocket"})
_TEXT_LENGTH = "() => document.body ? document.body.innerText.length : 0"
_MAX_NAVIGATIONS = 3
# The page as text, or null if it is too long: it would be copied through two processes before it is measured here.
_CONTENT = """limit => {
    const head = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : "";
    const body = document.documentElement ? document.documentElement.outerHTML : "";
    return head.length + body.length > limit ? null : head + body;
}"""
_NAVIGATED = re.compile("navigating|context was destroyed|interrupted by another navigation")


class PageLoad:
    """Navigates to a page, waits until its scripts have made it, and returns it."""

    def __init__(self, page: Page, request: Request, engine: str, limit: int) -> None:
        self._page = page
        self._limit = limit
        self._request = request
        self._engine = engine
        self._netloc = netloc(request.url)
        self._response: PageResponse | None = None
        """The last response to a navigation of the main frame."""
        self._failure = ""
        """The error of the last navigation, if it failed."""
        self._failed = asyncio.Event()
        self._pending: set[PageRequest] = set()
        self._activity = asyncio.Event()

    async def read(self, settle: float, asked_at: float) -> Response:
        """Navigate to the page, give its scripts at most ``settle`` seconds, and return it as it is then.

        A request that names its own seconds has them from the moment ``asked_at`` on, the browser's start included.
        """
        from playwright.async_api import Error

        self._listen()
        try:
            await self._until_failed(self._navigate())
            if self._request.settle_seconds:
                await self._until_failed(self._wait_until_settled(asked_at + self._request.settle_seconds))
            else:
                await self._wait_until_quiet(settle)
            body = (await self._content()).encode("utf-8", "replace")
        except Error as error:
            return self._failed_result(first_line(error))
        if self._failed.is_set():
            return self._failed_result(self._failure)
        if len(body) > self._limit:
            raise TOO_LARGE(engine=self._engine, limit=self._limit)
        return self._result(body)

    def _listen(self) -> None:
        self._page.on("request", self._on_request)
        self._page.on("requestfinished", self._on_finished)
        self._page.on("requestfailed", self._on_failed)
        self._page.on("response", self._on_response)

    def _on_request(self, request: PageRequest) -> None:
        if request.resource_type not in _ENDLESS:
            self._pending.add(request)
        self._activity.set()

    def _on_finished(self, request: PageRequest) -> None:
        self._pending.discard(request)
        self._activity.set()

    def _on_failed(self, request: PageRequest) -> None:
        self._on_finished(request)
        # An aborted navigation does not change the page.
        if self._is_navigation(request) and "ERR_ABORTED" not in (request.failure or ""):
            self._failure = request.failure or ""
            self._netloc = netloc(request.url)
            self._failed.set()

    def _on_response(self, response: PageResponse) -> None:
        if self._is_navigation(response.request):
            self._response = response
            self._failed.clear()
            size = response.headers.get("content-length", "")
            if size.isdigit() and int(size) > self._limit:
                # Ended at once, because the browser would take seconds to display it.
                self._failure = _TOO_LONG
                self._failed.set()

    def _is_navigation(self, request: PageRequest) -> bool:
        return request.is_navigation_request() and request.frame == self._page.main_frame

    async def _navigate(self) -> None:
        if language := self._header("accept-language"):
            await self._page.set_extra_http_headers({"Accept-Language": language})
        referer = self._header("referer") or None
        # No timeout, because the caller has a deadline and cancels this.
        await self._page.goto(self._request.url, wait_until="domcontentloaded", timeout=0, referer=referer)

    async def _until_failed(self, call: Coroutine[Any, Any, None]) -> None:
        """Await ``call`` until the navigation fails, since Playwright waits forever for a page that ends early."""
        calling = asyncio.create_task(call)
        failing = asyncio.create_task(self._failed.wait())
        try:
            await asyncio.wait((calling, failing), return_when=asyncio.FIRST_COMPLETED)
            if calling.done():
                calling.result()
        finally:
            calling.cancel()
            failing.cancel()

    def _header(self, name: str) -> str:
        return next((value for key, value in self._request.sent_headers().items() if key.lower() == name), "")

    async def _wait_until_quiet(self, limit: float) -> None:
        """Wait until no request was pending for a moment, which a page without scripts reaches at once."""
        try:
            async with asyncio.timeout(limit):
                while await self._is_active():
                    self._activity.clear()
        except TimeoutError:
            return

    async def _wait_until_settled(self, deadline: float) -> None:
        """Wait until nothing is loaded and the text has stopped growing, which an application takes a while for."""
        length = -1
        unchanged_since = idle_since = time.monotonic()
        while (now := time.monotonic()) < deadline:
            new_length = await self._text_length()
            if new_length != length:
                length, unchanged_since = new_length, now
            if self._pending or self._activity.is_set():
                self._activity.clear()
                idle_since = now
            has_text = length >= _SOME_TEXT
            unchanged = now - unchanged_since
            quiet = min(unchanged, now - idle_since)
            settled = _SETTLED_SECONDS if has_text else _EMPTY_SECONDS
            if quiet >= settled:
                return
            if has_text and unchanged >= _LOADING_SECONDS:
                return
            await asyncio.sleep(_LOOK_SECONDS)

    async def _text_length(self) -> int:
        from playwright.async_api import Error

        try:
            return int(await self._page.evaluate(_TEXT_LENGTH))
        except Error as error:
            if not _NAVIGATED.search(str(error)):
                raise
            return 0

    async def _is_active(self) -> bool:
        limit = None if self._pending else _QUIET_SECONDS
        try:
            async with asyncio.timeout(limit):
                return await self._activity.wait()
        except TimeoutError:
            # A busy machine may be late with a script that has arrived: the page's own turn comes after it.
            await self._text_length()
            return self._activity.is_set()

    async def _content(self, navigations: int = _MAX_NAVIGATIONS) -> str:
        from playwright.async_api import Error

        if self._failed.is_set():
            return ""
        try:
            text: str | None = await self._page.evaluate(_CONTENT, self._limit)
        except Error as error:
            if not navigations or not _NAVIGATED.search(str(error)):
                raise
            # A script or a refresh navigates to another page.
            await self._until_failed(self._page.wait_for_load_state("domcontentloaded", timeout=0))
            return await self._content(navigations - 1)
        if text is None:
            raise TOO_LARGE(engine=self._engine, limit=self._limit)
        return text

    def _result(self, body: bytes) -> Response:
        if self._response is None:
            raise BROWSER_FAILED(engine=self._engine, where=self._netloc, what=Text("browser.detail.no_answer"))
        if self._response.status == _PROXY_AUTH:
            raise PROXY_FAILED(engine=self._engine, where=self._netloc)
        kind = self._response.headers.get("content-type", "").lower()
        if not _DISPLAYED.match(kind):
            raise NOT_A_PAGE(engine=self._engine, where=self._netloc, what=kind)
        return _as_response(self._response, body, self._page.url)

    def _failed_result(self, message: str) -> Response:
        """The response if it consists only of a status; otherwise raise the error that ``message`` stands for."""
        if message == _TOO_LONG:
            raise TOO_LARGE(engine=self._engine, limit=self._limit)
        error = _NET_ERROR.search(message)
        name = error[1] if error else ""
        if name in _STATUS_ONLY and self._response is not None:
            if self._response.status == _PROXY_AUTH:
                raise PROXY_FAILED(engine=self._engine, where=self._netloc)
            return _as_response(self._response, b"", self._response.url)
        # Chrome reports no more than this if the page's process dies before there is a response.
        if _GONE.search(message) or (name == "ERR_ABORTED" and self._response is None):
            raise BrowserGone(message)
        if name == "ERR_ABORTED" or "Download is starting" in message:
            raise NOT_A_PAGE(engine=self._engine, where=self._netloc, what=Text("browser.detail.file_or_nothing"))
        if not name:
            raise BROWSER_FAILED(engine=self._engine, where=self._netloc, what=message)
        start = max(filter(name.startswith, _STARTS), key=len, default="")
        raise _STARTS.get(start, BAD_HTTP)(engine=self._engine, where=self._netloc)


def _as_response(response: PageResponse, body: bytes, url: str) -> Response:
    headers = {name: value for name, value in response.headers.items() if name not in _WIRE_HEADERS}
    return Response(response.status, body, url, {**headers, "content-type": _HTML}, datetime.now(UTC))
