"""Firecrawl's API, version 2: scrape, search and map."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import unquote

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from ...core.document import Document
from ...core.errors import SuyuanError
from ...core.failure import Failure
from ...core.query import SearchQuery
from ...core.result import SearchResult
from ...core.wire import Response as PageResponse
from ...pages.crawl import MOST_PAGES, CrawlLimits
from ...pages.fetch import Fetcher
from ...pages.page_links import page_links
from ...text.words import words
from ..orjson_response import OrjsonResponse
from ..sse import while_connected
from .countries import country_code
from .crawls import CrawlJob, Crawls
from .shared import ForeignCall, Wanted, document_of

router = APIRouter(prefix="/v2", tags=["firecrawl"])

MOST_RESULTS = 30
_MAP_PAGES = 50
_MAP_SECONDS = 60.0
TEXT_FORMATS = ("markdown", "html", "links")
_FOCUSES = {"github": "code", "research": "academic", "developer": "code"}
# What clients send by themselves; it asks for nothing that would be done otherwise. Certificates are always checked.
USUAL = (
    "origin", "integration", "skipTlsVerification", "removeBase64Images", "blockAds", "storeInCache", "fastMode",
    "minAge", "ignoreInvalidURLs", "deduplicateSimilarURLs",
)  # fmt: skip
_PERIODS = {"h": "day", "d": "day", "w": "week", "m": "month", "y": "year"}
_DATES = re.compile(r"cd_(min|max):(\d{1,2})/(\d{1,2})/(\d{4})")


class ScrapeOptions(Wanted):
    """What is wanted of a page."""

    formats: list[str | dict[str, Any]] = Field(["markdown"], max_length=20, fail_fast=True)
    only_main_content: bool = Field(True, alias="onlyMainContent")
    wait_for: int = Field(0, alias="waitFor", ge=0)
    timeout: int | None = Field(None, ge=1, le=300_000, description="Milliseconds.")
    max_age: int | None = Field(
        None, alias="maxAge", description="0: the page is asked for even where it was just read."
    )

    @property
    def kinds(self) -> list[str]:
        """The formats by their names."""
        return _names(self.formats)

    def left_out(self, possible: Sequence[str] = (*TEXT_FORMATS, "rawHtml")) -> list[str]:
        """The parameters that have no effect here."""
        lost = [f"formats={kind}" for kind in self.kinds if kind not in possible]
        if not self.only_main_content:
            lost.append("onlyMainContent=false")
        return [*lost, *self.not_honoured(ignored=(*USUAL, "url"))]


class Scrape(ScrapeOptions):
    """A page to read."""

    url: str = Field(max_length=4000)


@router.post("/scrape")
async def scrape(request: Request, body: Scrape) -> Response:
    """Read a page."""
    call, seen, lost = ForeignCall(request), list[PageResponse](), body.left_out()
    # What the archive has is enough unless something else than the text is wanted.
    watch = seen.append if {"rawHtml", "links"} & set(body.kinds) else None
    seconds = body.timeout / 1000 if body.timeout else None
    document = await call.document(
        body.url, seconds=seconds, fresh=body.max_age == 0, render=body.wait_for > 0, seen=watch
    )
    # Clients keep only what is in the data.
    data = {**await page_data(call.client.fetcher, document, body, seen[-1] if seen else None), **warning(lost)}
    return answered(call, lost, data=data)


def answered(call: ForeignCall, lost: Sequence[str], said: Mapping[str, Any] | None = None, **content: Any) -> Response:
    """An answer in Firecrawl's form, with what of the request had no effect."""
    return OrjsonResponse({"success": True, **content, **warning(lost), "suyuan": call.said(lost, **(said or {}))})


def warning(lost: Sequence[str]) -> dict[str, str]:
    """What of a request had no effect, in a sentence."""
    return {"warning": f"Not honoured: {', '.join(lost)}."} if lost else {}


async def page_data(
    fetcher: Fetcher, document: Document, wanted: ScrapeOptions, response: PageResponse | None = None
) -> dict[str, Any]:
    """A page in the formats that are wanted; raises a cause where one of them cannot be made of it."""
    made: dict[str, Any] = {}
    for kind in wanted.kinds:
        if kind == "markdown":
            made[kind] = document.text
        elif kind == "html":
            made[kind] = await fetcher.in_form(document, "html")
        elif kind == "links":
            linked = await asyncio.to_thread(page_links, response) if response else None
            made[kind] = [url for _, url in document.links] if linked is None else linked
        elif kind == "rawHtml" and response:
            made[kind] = await fetcher.in_form(response, "source")
    return {**made, "metadata": _metadata(document)}


def _metadata(document: Document) -> dict[str, Any]:
    known = {
        "title": document.title,
        "language": document.language,
        "author": document.author,
        "ogSiteName": document.site_name,
        "publishedTime": document.published_at,
        "sourceURL": document.url,
        "url": document.final_url,
        "statusCode": document.status,
        "contentType": document.content_type,
        "cacheState": "hit" if document.from_archive else "miss",
        "cachedAt": document.fetched_at,
        "sha256": document.sha256,
        "cut": document.cut.published() if document.cut else None,
        "creditsUsed": 0,
    }
    return {name: value for name, value in known.items() if value not in (None, "")}


class FirecrawlSearch(Wanted):
    """A search, and what is wanted of the pages that it finds."""

    query: str
    limit: int = Field(5, ge=1, le=100)
    sources: list[str | dict[str, Any]] = Field(["web"], max_length=5, fail_fast=True)
    categories: list[str | dict[str, Any]] = Field([], max_length=5, fail_fast=True)
    tbs: str = Field("", max_length=200)
    location: str = ""
    country: str = ""
    lang: str = ""
    include_domains: list[str] = Field([], alias="includeDomains", max_length=100, fail_fast=True)
    exclude_domains: list[str] = Field([], alias="excludeDomains", max_length=100, fail_fast=True)
    timeout: int | None = Field(None, ge=1, le=300_000)
    scrape_options: ScrapeOptions | None = Field(None, alias="scrapeOptions")

    def search_query(self, source: str) -> SearchQuery:
        """The search that is wanted of one kind of source."""
        focus = next((_FOCUSES[name] for name in _names(self.categories) if name in _FOCUSES), "")
        return SearchQuery(
            self.query,
            lang=self.lang,
            country=country_code(self.country or self.location.rpartition(",")[2]),
            freshness=_freshness(self.tbs),  # type: ignore[arg-type]
            allowed_domains=tuple(self.include_domains),
            blocked_domains=tuple(self.exclude_domains),
            focus="news" if source == "news" else focus,
            budget_ms=min(self.timeout, 120_000) if self.timeout else None,
        )

    def left_out(self) -> list[str]:
        """The parameters that have no effect here."""
        lost = [f"sources={name}" for name in _names(self.sources) if name not in ("web", "news")]
        lost += [f"categories={name}" for name in _names(self.categories) if name not in _FOCUSES]
        if self.limit > MOST_RESULTS:
            lost.append(f"limit above {MOST_RESULTS}")
        if self.tbs and _freshness(self.tbs) is None:
            lost.append("tbs")
        if self.scrape_options:
            lost += [f"scrapeOptions.{name}" for name in self.scrape_options.left_out(("markdown", "html"))]
        return [*lost, *self.not_honoured(ignored=USUAL)]


def _names(given: Sequence[str | dict[str, Any]]) -> list[str]:
    return [each if isinstance(each, str) else str(each.get("type", "")) for each in given]


def _freshness(tbs: str) -> str | None:
    """Google's way to say how old results may be: ``qdr:w``, or ``cdr:1,cd_min:1/2/2026,cd_max:…``."""
    if (found := re.search(r"qdr:([hdwmy])", tbs)) is not None:
        return _PERIODS[found[1]]
    dates = {which: f"{year}-{int(month):02}-{int(day):02}" for which, month, day, year in _DATES.findall(tbs)}
    return f"{dates.get('min', '')}..{dates.get('max', '')}" if dates else None


@router.post("/search")
async def search(request: Request, body: FirecrawlSearch) -> Response:
    """Search, and read the pages where ``scrapeOptions`` has formats."""
    call, lost = ForeignCall(request), body.left_out()
    wanted = body.scrape_options if body.scrape_options and body.scrape_options.formats else None
    data: dict[str, list[dict[str, Any]]] = {}
    failed: list[tuple[str, SuyuanError]] = []
    for source in dict.fromkeys(name for name in _names(body.sources) if name in ("web", "news")):
        try:
            page = await call.search(
                body.search_query(source),
                min(body.limit, MOST_RESULTS),
                depth="pages" if wanted else "results",
                max_tokens=100_000 if wanted else None,
            )
            fetcher = call.client.fetcher
            data[source] = [await _found(fetcher, result, source, wanted) for result in page.results]
        except SuyuanError as error:
            failed.append((source, error))
    if failed and not data:
        raise failed[0][1]
    lost += [f"sources={source} ({error.message})" for source, error in failed]
    return answered(call, lost, data=data, id=call.id, creditsUsed=0)


async def _found(fetcher: Fetcher, result: SearchResult, source: str, wanted: ScrapeOptions | None) -> dict[str, Any]:
    text = (
        {"snippet": result.snippet, "date": result.published_at}
        if source == "news"
        else {"description": result.snippet}
    )
    item: dict[str, Any] = {"url": result.url, "title": result.title, "position": result.rank, **text}
    reading = result.reading
    if wanted is None or reading is None:
        return item
    document = document_of(result, reading)
    if not reading.error:
        made = await page_or_error(fetcher, document, wanted)
        return {**item, **made, "metadata": {**made["metadata"], "description": result.snippet}}
    return {**item, **_unread(document, reading.error)}


async def page_or_error(fetcher: Fetcher, document: Document, wanted: ScrapeOptions) -> dict[str, Any]:
    """One page among others in the formats that are wanted, or why these cannot be made of it."""
    try:
        return await page_data(fetcher, document, wanted)
    except SuyuanError as error:
        return _unread(document, error.failure)


def _unread(document: Document, failure: Failure) -> dict[str, Any]:
    # Clients take an item with a format for a document, and drop what a document has no field for.
    metadata = {"title": document.title, "sourceURL": document.url, "error": failure.message()}
    return {"markdown": None, "metadata": metadata, "read_error": failure.published()}


class Map(Wanted):
    """A site whose addresses are wanted."""

    url: str = Field(max_length=4000)
    search: str = Field("", max_length=500)
    sitemap: Literal["include", "skip", "only"] = "include"
    ignore_query: bool = Field(True, alias="ignoreQueryParameters")
    subdomains: bool = Field(False, alias="includeSubdomains")
    limit: int = Field(5000, ge=1, le=100_000)
    timeout: int | None = Field(None, ge=1, le=300_000)

    def left_out(self) -> list[str]:
        """The parameters that have no effect here."""
        return self.not_honoured(known=("subdomains",), ignored=USUAL)


@router.post("/map")
async def map_site(request: Request, body: Map) -> Response:
    """The addresses of a site, from its pages and its sitemap."""
    call, lost = ForeignCall(request), body.left_out()
    crawls: Crawls = request.app.state.crawls
    depth = 0 if body.sitemap == "only" else 2
    limits = CrawlLimits(
        pages=min(body.limit, _MAP_PAGES), depth=depth, breadth=MOST_PAGES, sitemap=body.sitemap != "skip"
    )
    job = crawls.begin(body.url, limits=limits, texts=False)
    try:
        seconds = min(body.timeout / 1000 if body.timeout else _MAP_SECONDS, _MAP_SECONDS)
        await while_connected(request, crawls.wait(job, seconds))
    finally:
        crawls.forget(job)
    links = [{"url": url} for url in _addresses(job, body)[: body.limit]]
    return answered(call, lost, {"complete": job.crawl.done}, links=links, id=call.id)


def _addresses(job: CrawlJob, body: Map) -> list[str]:
    found = list(job.crawl.found.values())
    if body.ignore_query:
        found = list(dict.fromkeys(url.partition("?")[0] for url in found))
    wanted = set(words(body.search))
    return sorted(found, key=lambda url: -len(wanted & _words_of(url))) if wanted else found


def _words_of(url: str) -> set[str]:
    """The words of an address, which are joined by other marks than those of a text."""
    return set(words(re.sub(r"[\W_]+", " ", unquote(url))))
