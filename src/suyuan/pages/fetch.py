"""Fetches a URL and returns it as a ``Document``, or raises the error that explains why it cannot be read."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol
from urllib.parse import urljoin

from ..core.causes.engine import BAD_STATUS, ENGINE_TIMEOUT, FORBIDDEN, RATE_LIMITED, UPSTREAM_BROKEN
from ..core.causes.page import EMPTY_TEXT, LOGIN_WALL, NOT_FOUND, ROBOTS, UNSUPPORTED_TYPE
from ..core.document import Document
from ..core.errors import SuyuanError
from ..core.urls import domain_of
from ..core.wire import Response
from ..messages.catalog import Text
from .archive import Archive
from .decode import decode
from .extract import extract
from .formats import feed_text, json_text, kind_of, pdf_text
from .interstitial import interstitial_error
from .robots import is_allowed, robots_url

log = logging.getLogger("suyuan.pages")

_REFRESH = re.compile(
    r"<meta[^>]{0,100}http-equiv\s*=\s*[\"']?refresh[\"']?[^>]{0,100}"
    r"content\s*=\s*[\"']?\s*\d+\s*;\s*url\s*=\s*([^\"'>]+)",
    re.I,
)


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
Render = Callable[[str], Awaitable[Response]]


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
        self, get: Get, settings: FetchSettings, archive: Archive | None = None, render: Render | None = None
    ) -> None:
        self._get = get
        self._settings = settings
        self._archive = archive
        self._render = render

    async def fetch(self, url: str, *, fresh: bool = False, render: bool = False) -> Document:
        """Fetch one page; ``fresh`` ignores the archive, ``render`` uses the browser."""
        kept = self._archive.get(url) if self._archive is not None else None
        if kept and not fresh and not render and self._is_fresh(kept):
            return kept
        seconds = self._settings.seconds
        try:
            async with asyncio.timeout(seconds):
                document = await self._request(url, kept, render)
        except TimeoutError:
            raise ENGINE_TIMEOUT(engine=domain_of(url) or url, seconds=seconds) from None
        if self._archive is not None and not document.from_archive:
            self._archive.put(document)
        kind, length = document.content_type, len(document.text)
        log.info("fetch url=%s final=%s kind=%s characters=%d", url, document.final_url, kind, length)
        return document

    async def _request(self, url: str, kept: Document | None, render: bool) -> Document:
        if self._settings.robots:
            await self._check_robots(url)
        if render and self._render:
            return self._document(url, await self._render(url), ("rendered in the browser",))
        got = await self._get(url, _conditions(kept))
        if got.response.status == 304 and kept:
            return self._confirmed(kept)
        target = _refresh_target(got.response)
        if target:
            got = await self._get(target, {})
        try:
            return self._document(url, got.response, got.notes)
        except SuyuanError as error:
            if error.detail_code != "javascript_required" or not self._settings.render or not self._render:
                raise
        return self._document(url, await self._render(got.response.url), ("rendered in the browser",))

    async def _check_robots(self, url: str) -> None:
        try:
            rules = (await self._get(robots_url(url), {})).response
        except SuyuanError:
            # Without readable rules everything is allowed.
            return
        if rules.status == 200 and not is_allowed(decode(rules.body, rules.headers.get("content-type", "")), url):
            raise ROBOTS(where=domain_of(url))

    def _confirmed(self, kept: Document) -> Document:
        """The archived document, which the server confirmed as unchanged."""
        document = replace(kept, fetched_at=_now(), from_archive=True)
        if self._archive is not None:
            self._archive.put(document)
        return document

    def _is_fresh(self, kept: Document) -> bool:
        try:
            age = datetime.now(UTC) - datetime.fromisoformat(kept.fetched_at)
        except ValueError:
            return False
        return age < timedelta(seconds=self._settings.fresh_seconds)

    def _document(self, url: str, response: Response, notes: tuple[str, ...]) -> Document:
        where = domain_of(response.url) or response.url
        kind = kind_of(response.headers.get("content-type", ""), response.body)
        if kind == "html" and response.status != 200:
            # A challenge page has status 403 or 503, but its content is more informative than its status.
            html = decode(response.body, response.headers.get("content-type", ""))
            error = interstitial_error(html, extract(html, response.url).text, where)
            if error and error.detail_code == "captcha_required":
                raise error
        _check_status(response, where)
        base = Document(
            url=url,
            final_url=response.url,
            title="",
            text="",
            content_type=response.headers.get("content-type", "").split(";")[0].strip().lower() or kind,
            fetched_at=_now(),
            status=response.status,
            etag=response.headers.get("etag", ""),
            last_modified=response.headers.get("last-modified", ""),
            notes=notes,
        )
        document = _convert(kind, base, response, where)
        if not document.text.strip():
            raise EMPTY_TEXT(where=where)
        return document


def _convert(kind: str, base: Document, response: Response, where: str) -> Document:
    content_type = response.headers.get("content-type", "")
    if kind == "pdf":
        title, text = pdf_text(response.body, where)
        return replace(base, title=title, text=text)
    if not kind:
        raise UNSUPPORTED_TYPE(where=where, kind=base.content_type or Text("fetch.detail.unknown_type"))
    text = decode(response.body, content_type)
    if kind == "html":
        return _convert_html(base, text, where)
    if kind == "xml":
        title, text = feed_text(text)
        return replace(base, title=title, text=text)
    return replace(base, text=json_text(text) if kind == "json" else text)


def _convert_html(base: Document, html: str, where: str) -> Document:
    found = extract(html, base.final_url)
    if error := interstitial_error(html, found.text, where):
        raise error
    return replace(
        base,
        title=found.title,
        text=found.text,
        author=found.author,
        site_name=found.site_name,
        published_at=found.published_at,
        language=found.language,
        canonical_url=found.canonical_url,
        links=found.links,
    )


def _check_status(response: Response, where: str) -> None:
    status = response.status
    if status < 300:
        return
    if status in (404, 410):
        raise NOT_FOUND(where=response.url, status=status)
    if status == 401:
        raise LOGIN_WALL(where=where)
    if status == 403:
        raise FORBIDDEN(engine=where)
    if status == 429:
        raise RATE_LIMITED(engine=where)
    if status >= 500:
        raise UPSTREAM_BROKEN(engine=where, status=status)
    raise BAD_STATUS(engine=where, status=status)


def _conditions(kept: Document | None) -> dict[str, str]:
    """The headers of a conditional request."""
    if kept is None:
        return {}
    conditions = {"If-None-Match": kept.etag, "If-Modified-Since": kept.last_modified}
    return {name: value for name, value in conditions.items() if value}


def _refresh_target(response: Response) -> str:
    """The target of a page that only redirects by meta refresh; empty for other pages."""
    if response.status != 200 or len(response.body) > 4000:
        return ""
    found = _REFRESH.search(response.text)
    return urljoin(response.url, found[1].strip()) if found else ""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
