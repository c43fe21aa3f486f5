"""Fetches a URL and returns it as a ``Document``, or raises the error that explains why it cannot be read."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from ada_url import join_url

from ..core.causes.engine import ENGINE_TIMEOUT
from ..core.causes.network import BAD_URL
from ..core.causes.page import NEEDS_SCRIPTS, READ_LATE, ROBOTS
from ..core.document import Document
from ..core.errors import SuyuanError
from ..core.person import require
from ..core.spans import span
from ..core.urls import domain_of
from ..core.wire import Response
from .async_archive import AsyncArchive
from .reader import PageReader
from .reading import OWN_LIMITS, Reading, ReceivedPage
from .refresh import refresh_target
from .robots import is_allowed, read_rules, robots_url
from .text_forms import TextForm

log = logging.getLogger("suyuan.pages")

_READING_SHARE = 0.2
_LAST_SECONDS = 0.3
"""So long before its deadline a document ends that is read in parts."""
_LONGEST_REFRESH = 4000
"""The length in bytes up to which a page can be nothing but a redirect."""


class GetResult(Protocol):
    """The result of a request."""

    @property
    def response(self) -> Response:
        """The last response, after all redirects."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks about the request, e.g. its redirects."""
        ...


Get = Callable[[str, Mapping[str, str]], Awaitable[GetResult]]
Own = Callable[[str, bool], Awaitable[Document | None]]
"""Finds a document of the user by its address; a fresh one if the second argument says so."""
Render = Callable[[str, float], Awaitable[Response]]
"""Loads a page in a browser, and gives its scripts so many seconds."""


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """The settings for fetching pages."""

    seconds: float = 15.0
    robots: bool = False
    render: bool = False
    """Whether pages that need scripts are rendered in the browser automatically."""
    fresh_seconds: float = 300.0
    """How long a document from the archive is used instead of a new request."""


class Fetcher:
    """Fetches pages and stores them in the archive."""

    def __init__(
        self,
        get: Get,
        settings: FetchSettings,
        reader: PageReader,
        archive: AsyncArchive | None = None,
        render: Render | None = None,
        own: Own | None = None,
    ) -> None:
        self._get = get
        self._settings = settings
        self._reader = reader
        self._archive = archive
        self._render = render
        self._own = own
        self._underway = 0

    async def fetch(
        self,
        url: str,
        *,
        fresh: bool = False,
        render: bool = False,
        whole: bool = False,
        seen: Callable[[Response], None] | None = None,
    ) -> Document:
        """Fetch one page; ``fresh`` ignores the archive, ``render`` uses the browser.

        ``whole`` reads it as far as a document of the user, however long that takes. ``seen`` is given the response
        itself, for a caller who wants more of it than its text.
        """
        if self._own is not None and seen is None:
            document = await self._own(url, fresh)
            if document is not None:
                return document
        require("read")
        kept = None
        if self._archive is not None and seen is None:
            kept = await self._archive.get(url)
        if kept and not fresh and not render and self._is_fresh(kept):
            return kept
        reading = await self._request_in_time(url, kept, render, whole, seen)
        document = reading.document
        if self._archive is not None:
            await self._archive.put(document, reading.index, more=self._underway > 0)
        kind, length = document.content_type, len(document.text)
        log.info("fetch url=%s final=%s kind=%s characters=%d", url, document.final_url, kind, length)
        return document

    async def _request_in_time(
        self, url: str, kept: Document | None, render: bool, whole: bool, seen: Callable[[Response], None] | None
    ) -> Reading:
        """Request and read a page within the time that the settings allow."""
        seconds = self._settings.seconds
        self._reader.warm()
        self._underway += 1
        try:
            with span("read", host=domain_of(url)):
                async with asyncio.timeout(seconds) as limit:
                    return await self._request(url, kept, render, _Reader(self._reader, limit, whole), seen)
        except TimeoutError:
            raise ENGINE_TIMEOUT(engine=domain_of(url) or url, seconds=seconds) from None
        finally:
            self._underway -= 1

    async def in_form(self, what: Document | Response, form: TextForm) -> str:
        """The text of a document, or the body of a response, in another form; raises a cause if that takes too long."""
        if isinstance(what, Document):
            what = Response(200, what.text.encode("utf-8", "replace"), what.final_url)
        try:
            async with asyncio.timeout(self._settings.seconds):
                return await self._reader.in_form(what, form)
        except TimeoutError:
            raise READ_LATE(seconds=self._settings.seconds) from None

    async def _request(
        self,
        url: str,
        kept: Document | None,
        render: bool,
        reader: _Reader,
        seen: Callable[[Response], None] | None,
    ) -> Reading:
        if self._settings.robots:
            await self._check_robots(url)
        if render and self._render:
            return await self._rendered(url, url, reader)
        got = await self._get(url, _conditions(kept, reader.whole))
        if got.response.status == 304 and kept:
            # The server has confirmed the archived document as unchanged.
            return Reading(replace(kept, fetched_at=_now(), from_archive=True), "")
        got = await self._refreshed(got)
        if seen:
            seen(got.response)
        try:
            return await reader.read(ReceivedPage(url, got.response, got.notes))
        except SuyuanError as error:
            if error.failure.key != NEEDS_SCRIPTS.key or not self._settings.render or not self._render:
                raise
        return await self._rendered(url, got.response.url, reader)

    async def _rendered(self, url: str, final_url: str, reader: _Reader) -> Reading:
        assert self._render is not None
        # Some of the time is needed to read what the browser returns.
        response = await self._render(final_url, reader.seconds_left() * (1 - _READING_SHARE))
        return await reader.read(ReceivedPage(url, response, ("rendered in the browser",), rendered=True))

    async def _refreshed(self, got: GetResult) -> GetResult:
        """The page that a meta refresh leads to, or the page itself."""
        if not (target := _refresh_target(got.response)):
            return got
        try:
            return await self._get(target, {})
        except SuyuanError as error:
            if error.detail_code != BAD_URL.detail_code:
                raise
            # The page is at fault, not the caller; what it says is read instead.
            return got

    async def _check_robots(self, url: str) -> None:
        try:
            rules = (await self._get(robots_url(url), {})).response
        except (SuyuanError, ValueError):
            # Without readable rules everything is allowed, and the page itself says what is wrong with its address.
            return
        if rules.status != 200:
            return
        if not is_allowed(await asyncio.to_thread(read_rules, rules.body), url):
            raise ROBOTS(where=domain_of(url))

    def _is_fresh(self, kept: Document) -> bool:
        try:
            age = datetime.now(UTC) - datetime.fromisoformat(kept.fetched_at)
        except ValueError:
            return False
        return age < timedelta(seconds=self._settings.fresh_seconds)


class _Reader:
    """Reads what one call has fetched: in the time that is left of it, or as a whole."""

    def __init__(self, reader: PageReader, limit: asyncio.Timeout, whole: bool) -> None:
        self._reader, self._limit = reader, limit
        self.whole = whole

    def seconds_left(self) -> float:
        """The time that is left for loading and reading."""
        return self._end() - asyncio.get_running_loop().time()

    async def read(self, page: ReceivedPage) -> Reading:
        """The document of a page; of a long one what can be read in time."""
        if not self.whole:
            return await self._reader.read(page, self._end() - _LAST_SECONDS)
        left = self.seconds_left()
        # The limits of the readers hold in its place.
        self._limit.reschedule(None)
        try:
            return await self._reader.read(replace(page, limits=OWN_LIMITS))
        finally:
            self._limit.reschedule(asyncio.get_running_loop().time() + left)

    def _end(self) -> float:
        return self._limit.when() or 0.0


def _conditions(kept: Document | None, whole: bool) -> dict[str, str]:
    """The headers of a conditional request."""
    if kept is None or (whole and kept.cut is not None):
        return {}
    conditions = {"If-None-Match": kept.etag, "If-Modified-Since": kept.last_modified}
    return {name: value for name, value in conditions.items() if value}


def _refresh_target(response: Response) -> str:
    """The target of a page that only redirects by meta refresh; empty for other pages."""
    if response.status != 200 or len(response.body) > _LONGEST_REFRESH:
        return ""
    target = refresh_target(response.utf8)
    if not target:
        return ""
    try:
        return join_url(response.url, target)
    except ValueError:
        return ""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
