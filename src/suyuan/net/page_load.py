"""One visit to one page: go there, wait until it is made, and read it, or say in the words of our error tree why not."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

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
from ..core.secret import Secret
from ..core.wire import Request, Response
from ..messages.catalog import Text
from .launch import BrowserGone, first_line

if TYPE_CHECKING:
    from playwright.async_api import Page
    from playwright.async_api import Request as Sent
    from playwright.async_api import Response as Answer


# By the beginning of Chrome's own name of the error; the first that fits.
_CAUSES: tuple[tuple[str, Cause], ...] = (
    ("ERR_NAME_", NO_SUCH_HOST),
    ("ERR_DNS_", NO_SUCH_HOST),
    ("ERR_CONNECTION_REFUSED", REFUSED),
    ("ERR_CONNECTION_TIMED_OUT", REFUSED),
    ("ERR_CONNECTION_FAILED", REFUSED),
    ("ERR_ADDRESS_", REFUSED),
    ("ERR_INTERNET_DISCONNECTED", REFUSED),
    ("ERR_SSL_", TLS_FAILED),
    ("ERR_CERT_", TLS_FAILED),
    ("ERR_BAD_SSL_", TLS_FAILED),
    ("ERR_PROXY_", PROXY_FAILED),
    ("ERR_TUNNEL_", PROXY_FAILED),
    ("ERR_SOCKS_", PROXY_FAILED),
    ("ERR_NO_SUPPORTED_PROXIES", PROXY_FAILED),
    ("ERR_UNEXPECTED_PROXY_AUTH", PROXY_FAILED),
    ("ERR_CONNECTION_", BROKEN_OFF),
    ("ERR_EMPTY_RESPONSE", BROKEN_OFF),
    ("ERR_INCOMPLETE_CHUNKED_ENCODING", BROKEN_OFF),
    ("ERR_CONTENT_LENGTH_MISMATCH", BROKEN_OFF),
    ("ERR_HTTP2_", BROKEN_OFF),
    ("ERR_NETWORK_", BROKEN_OFF),
    ("ERR_SOCKET_NOT_CONNECTED", BROKEN_OFF),
    ("ERR_TOO_MANY_REDIRECTS", REDIRECT_LOOP),
    ("ERR_CONTENT_DECODING_", UNDECODED),
    # So says the gate.
    ("ERR_BLOCKED_BY_CLIENT", OFF_LIMITS),
)
_NET_ERROR = re.compile(r"net::(ERR_\w+)")
# An answer with nothing to show is an error to Chrome; its status is an answer to us.
_STATUS_ONLY = frozenset({"ERR_HTTP_RESPONSE_CODE_FAILURE", "ERR_INVALID_AUTH_CREDENTIALS"})
_PROXY_AUTH = 407
_TOO_LONG = "more than is read"
_GONE = re.compile("has been closed|crashed|Connection closed")
_SHOWN = re.compile(r"^(?:$|text/|application/(?:[\w.-]+\+)?(?:json|xml)\b|application/xhtml\+xml)")
_HTML = "text/html; charset=utf-8"
# These describe the bytes that came over the wire, not the page that was read.
_WIRE_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding"})

_QUIET_SECONDS = 0.05
_MOST_DETOURS = 3
# The page as text, or nothing where it is too long: a flood would pass through two processes before it could be measured here.
_CONTENT = """limit => {
    const head = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : "";
    const body = document.documentElement ? document.documentElement.outerHTML : "";
    return head.length + body.length > limit ? null : head + body;
}"""
_DETOUR = re.compile("navigating|context was destroyed|interrupted by another navigation")


class PageLoad:
    """One request, carried out by one page."""

    def __init__(self, page: Page, request: Request, engine: str, limit: int) -> None:
        self._page = page
        self._limit = limit
        self._request = request
        self._engine = engine
        self._where = where(request.url)
        self._answer: Answer | None = None
        """The last answer to a navigation of the page itself."""
        self._failure = ""
        """How the last navigation failed, where one did."""
        self._broken = asyncio.Event()
        self._under_way: set[Sent] = set()
        self._stirred = asyncio.Event()

    async def read(self, settle: float) -> Response:
        """Go to the page, give its scripts at most ``settle`` seconds, and return it as it is then."""
        from playwright.async_api import Error

        self._listen()
        try:
            await self._unless_broken(self._go())
            await self._settled(settle)
            body = (await self._content()).encode("utf-8", "replace")
        except Error as error:
            return self._without_page(first_line(error))
        if self._broken.is_set():
            return self._without_page(self._failure)
        if len(body) > self._limit:
            raise TOO_LARGE(engine=self._engine, limit=self._limit)
        return self._with_page(body)

    def _listen(self) -> None:
        self._page.on("request", self._begun)
        self._page.on("requestfinished", self._ended)
        self._page.on("requestfailed", self._failed)
        self._page.on("response", self._answered)

    def _begun(self, sent: Sent) -> None:
        self._under_way.add(sent)
        self._stirred.set()

    def _ended(self, sent: Sent) -> None:
        self._under_way.discard(sent)
        self._stirred.set()

    def _failed(self, sent: Sent) -> None:
        self._ended(sent)
        # An aborted navigation leaves the page as it was.
        if self._is_main(sent) and "ERR_ABORTED" not in (sent.failure or ""):
            self._failure = sent.failure or ""
            self._where = where(sent.url)
            self._broken.set()

    def _answered(self, answer: Answer) -> None:
        if self._is_main(answer.request):
            self._answer = answer
            self._broken.clear()
            size = answer.headers.get("content-length", "")
            if size.isdigit() and int(size) > self._limit:
                # Not waited for: to show a flood costs the browser long seconds.
                self._failure = _TOO_LONG
                self._broken.set()

    def _is_main(self, sent: Sent) -> bool:
        return sent.is_navigation_request() and sent.frame == self._page.main_frame

    async def _go(self) -> None:
        if language := self._header("accept-language"):
            await self._page.set_extra_http_headers({"Accept-Language": language})
        referer = self._header("referer") or None
        # No time-out here: the one deadline is set by whoever asked, and cancels us.
        await self._page.goto(self._request.url, wait_until="domcontentloaded", timeout=0, referer=referer)

    async def _unless_broken(self, call: Coroutine[Any, Any, None]) -> None:
        """Await ``call`` until the page breaks off, since Playwright waits forever for one that came only in part."""
        calling = asyncio.create_task(call)
        breaking = asyncio.create_task(self._broken.wait())
        try:
            await asyncio.wait((calling, breaking), return_when=asyncio.FIRST_COMPLETED)
            if calling.done():
                calling.result()
        finally:
            calling.cancel()
            breaking.cancel()

    def _header(self, name: str) -> str:
        value = next((value for key, value in self._request.headers.items() if key.lower() == name), "")
        return value.reveal() if isinstance(value, Secret) else value

    async def _settled(self, limit: float) -> None:
        """Wait until nothing has been under way for a moment: at once for a page that the server has made."""
        try:
            async with asyncio.timeout(limit):
                while await self._stirs():
                    self._stirred.clear()
        except TimeoutError:
            return

    async def _stirs(self) -> bool:
        try:
            async with asyncio.timeout(None if self._under_way else _QUIET_SECONDS):
                return await self._stirred.wait()
        except TimeoutError:
            return False

    async def _content(self, detours: int = _MOST_DETOURS) -> str:
        from playwright.async_api import Error

        if self._broken.is_set():
            return ""
        try:
            text: str | None = await self._page.evaluate(_CONTENT, self._limit)
        except Error as error:
            if not detours or not _DETOUR.search(str(error)):
                raise
            # A script or a refresh leads on to another page.
            await self._unless_broken(self._page.wait_for_load_state("domcontentloaded", timeout=0))
            return await self._content(detours - 1)
        if text is None:
            raise TOO_LARGE(engine=self._engine, limit=self._limit)
        return text

    def _with_page(self, body: bytes) -> Response:
        if self._answer is None:
            raise BROWSER_FAILED(engine=self._engine, where=self._where, what=Text("browser.detail.no_answer"))
        if self._answer.status == _PROXY_AUTH:
            raise PROXY_FAILED(engine=self._engine, where=self._where)
        kind = self._answer.headers.get("content-type", "").lower()
        if not _SHOWN.match(kind):
            raise NOT_A_PAGE(engine=self._engine, where=self._where, what=kind)
        return self._response(self._answer, body, self._page.url)

    def _without_page(self, said: str) -> Response:
        """What it means that there is no page: an answer that is only a status, or one of our errors, raised."""
        if said == _TOO_LONG:
            raise TOO_LARGE(engine=self._engine, limit=self._limit)
        found = _NET_ERROR.search(said)
        name = found[1] if found else ""
        if name in _STATUS_ONLY and self._answer is not None:
            if self._answer.status == _PROXY_AUTH:
                raise PROXY_FAILED(engine=self._engine, where=self._where)
            return self._response(self._answer, b"", self._answer.url)
        # Where the page's process dies before there is an answer, Chrome says no more than this.
        if _GONE.search(said) or (name == "ERR_ABORTED" and self._answer is None):
            raise BrowserGone(said)
        if name == "ERR_ABORTED" or "Download is starting" in said:
            raise NOT_A_PAGE(engine=self._engine, where=self._where, what=Text("browser.detail.file_or_nothing"))
        if not name:
            raise BROWSER_FAILED(engine=self._engine, where=self._where, what=said)
        cause = next((cause for start, cause in _CAUSES if name.startswith(start)), BAD_HTTP)
        raise cause(engine=self._engine, where=self._where)

    def _response(self, answer: Answer, body: bytes, url: str) -> Response:
        headers = {name: value for name, value in answer.headers.items() if name not in _WIRE_HEADERS}
        return Response(answer.status, body, url, {**headers, "content-type": _HTML}, datetime.now(UTC))


def where(url: str) -> str:
    """The host of ``url``, with its port where one is given."""
    return urlsplit(url).netloc.rpartition("@")[2]
