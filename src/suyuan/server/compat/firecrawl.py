"""Firecrawl's API, version 2: scrape, search, map, and crawl with its status."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from markdown_it import MarkdownIt
from pydantic import Field

from ...core.document import Document
from ...core.errors import SuyuanError
from ...core.query import SearchQuery
from ...core.result import SearchResult
from ...core.wire import Response as PageResponse
from ...pages.crawl import MOST_DEPTH, MOST_PAGES, CrawledPage, CrawlLimits, path_patterns
from ...pages.decode import decode
from ...pages.page_links import page_links
from ...text.words import words
from ..errors import failure, status_of
from ..orjson_response import OrjsonResponse
from ..sse import while_connected
from .countries import country_code
from .crawls import CrawlJob, Crawls
from .shared import Exchange, Wanted

router = APIRouter(prefix="/v2", tags=["firecrawl"])

MOST_RESULTS = 30
_PAGES_PER_ANSWER = 50
_MAP_PAGES = 50
_MAP_SECONDS = 60.0
_TEXT_FORMATS = ("markdown", "html", "links")
_FOCUSES = {"github": "code", "research": "academic", "developer": "code"}
# What clients send by themselves; it asks for nothing that would be done otherwise. Certificates are always checked.
_USUAL = (
    "origin", "integration", "skipTlsVerification", "removeBase64Images", "blockAds", "storeInCache", "fastMode",
    "minAge", "ignoreInvalidURLs",
)  # fmt: skip
_PERIODS = {"h": "day", "d": "day", "w": "week", "m": "month", "y": "year"}
_DATES = re.compile(r"cd_(min|max):(\d{1,2})/(\d{1,2})/(\d{4})")


class ScrapeOptions(Wanted):
    """What is wanted of a page."""

    formats: list[str | dict[str, Any]] = Field(["markdown"], max_length=20)
    only_main_content: bool = Field(True, alias="onlyMainContent")
    wait_for: int = Field(0, alias="waitFor", ge=0)
    timeout: int | None = Field(None, ge=1, le=300_000, description="Milliseconds.")
    max_age: int | None = Field(
        None, alias="maxAge", description="0: the page is asked for even where it was just read."
    )

    @property
    def kinds(self) -> list[str]:
        """The formats by their names."""
        return [each if isinstance(each, str) else str(each.get("type", "")) for each in self.formats]

    def left_out(self, possible: Sequence[str] = (*_TEXT_FORMATS, "rawHtml")) -> list[str]:
        """The parameters that have no effect here."""
        lost = [f"formats={kind}" for kind in self.kinds if kind not in possible]
        if not self.only_main_content:
            lost.append("onlyMainContent=false")
        return [*lost, *self.not_honoured(ignored=(*_USUAL, "url"))]


class Scrape(ScrapeOptions):
    """A page to read."""

    url: str = Field(max_length=4000)


@router.post("/scrape")
async def scrape(request: Request, body: Scrape) -> Response:
    """Read a page."""
    exchange, seen = Exchange(request), list[PageResponse]()
    # What the archive has is enough unless something else than the text is wanted.
    watch = seen.append if {"rawHtml", "links"} & set(body.kinds) else None
    fetching = exchange.client.fetcher.fetch(body.url, fresh=body.max_age == 0, render=body.wait_for > 0, seen=watch)
    try:
        document = await while_connected(request, fetching)
    except SuyuanError as error:
        return _failed(request, error)
    lost = body.left_out()
    content = {"success": True, "data": _document(document, body, seen[-1] if seen else None)}
    return OrjsonResponse({**content, **_warning(lost), "suyuan": exchange.said(lost)})


def _failed(request: Request, error: SuyuanError) -> Response:
    """A failure; 502 becomes 500, since the clients repeat a request for a 502 three times."""
    status = status_of(error.code, error.detail_code)
    return failure(request, error, 500 if status == 502 else status)


def _warning(lost: Sequence[str]) -> dict[str, str]:
    return {"warning": f"Not honoured: {', '.join(lost)}."} if lost else {}


def _document(document: Document, wanted: ScrapeOptions, response: PageResponse | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for kind in wanted.kinds:
        if kind == "markdown":
            made[kind] = document.text
        elif kind == "html":
            made[kind] = MarkdownIt("commonmark").enable("table").render(document.text)
        elif kind == "links":
            made[kind] = page_links(response) if response else [url for _, url in document.links]
        elif kind == "rawHtml" and response:
            made[kind] = decode(response.body, response.headers.get("content-type", ""))
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
        "creditsUsed": 0,
    }
    return {name: value for name, value in known.items() if value not in (None, "")}


class Search(Wanted):
    """A search, and what is wanted of the pages that it finds."""

    query: str
    limit: int = Field(5, ge=1, le=100)
    sources: list[str | dict[str, Any]] = Field(["web"], max_length=5)
    categories: list[str | dict[str, Any]] = Field([], max_length=5)
    tbs: str = Field("", max_length=200)
    location: str = ""
    country: str = ""
    lang: str = ""
    include_domains: list[str] = Field([], alias="includeDomains", max_length=100)
    exclude_domains: list[str] = Field([], alias="excludeDomains", max_length=100)
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
        return [*lost, *self.not_honoured(ignored=_USUAL)]


def _names(given: Sequence[str | dict[str, Any]]) -> list[str]:
    return [each if isinstance(each, str) else str(each.get("type", "")) for each in given]


def _freshness(tbs: str) -> str | None:
    """Google's way to say how old results may be: ``qdr:w``, or ``cdr:1,cd_min:1/2/2026,cd_max:…``."""
    if (found := re.search(r"qdr:([hdwmy])", tbs)) is not None:
        return _PERIODS[found[1]]
    dates = {which: f"{year}-{int(month):02}-{int(day):02}" for which, month, day, year in _DATES.findall(tbs)}
    return f"{dates.get('min', '')}..{dates.get('max', '')}" if dates else None


@router.post("/search")
async def search(request: Request, body: Search) -> Response:
    """Search, and read the pages where ``scrapeOptions`` has formats."""
    exchange, lost = Exchange(request), body.left_out()
    wanted = body.scrape_options if body.scrape_options and body.scrape_options.formats else None
    data: dict[str, list[dict[str, Any]]] = {}
    try:
        for source in dict.fromkeys(name for name in _names(body.sources) if name in ("web", "news")):
            page = await exchange.search(
                body.search_query(source),
                min(body.limit, MOST_RESULTS),
                depth="pages" if wanted else "results",
                max_tokens=100_000 if wanted else None,
            )
            data[source] = [_found(result, source, wanted) for result in page.results]
    except SuyuanError as error:
        return _failed(request, error)
    content = {"success": True, "data": data, "id": exchange.id, "creditsUsed": 0}
    return OrjsonResponse({**content, **_warning(lost), "suyuan": exchange.said(lost)})


def _found(result: SearchResult, source: str, wanted: ScrapeOptions | None) -> dict[str, Any]:
    text = (
        {"snippet": result.snippet, "date": result.published_at}
        if source == "news"
        else {"description": result.snippet}
    )
    item: dict[str, Any] = {"url": result.url, "title": result.title, "position": result.rank, **text}
    reading = result.reading
    if wanted is None or reading is None:
        return item
    if reading.error:
        # Clients take an item with a format for a document, and drop what a document has no field for.
        metadata = {"title": result.title, "sourceURL": result.url, "error": reading.error.message()}
        return {**item, "markdown": None, "metadata": metadata, "read_error": reading.error.published()}
    document = Document(result.url, reading.final_url, reading.title or result.title, reading.text, "", reading.read_at)
    made = _document(document, wanted)
    return {**item, **made, "metadata": {**made["metadata"], "description": result.snippet}}


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
        lost = ["includeSubdomains"] if self.subdomains else []
        return [*lost, *self.not_honoured(ignored=_USUAL)]


@router.post("/map")
async def map_site(request: Request, body: Map) -> Response:
    """The addresses of a site, from its pages and its sitemap."""
    exchange, lost = Exchange(request), body.left_out()
    crawls: Crawls = request.app.state.crawls
    depth = 0 if body.sitemap == "only" else 2
    limits = CrawlLimits(
        pages=min(body.limit, _MAP_PAGES), depth=depth, breadth=MOST_PAGES, sitemap=body.sitemap != "skip"
    )
    job = crawls.begin(body.url, limits, texts=False)
    try:
        seconds = min(body.timeout / 1000 if body.timeout else _MAP_SECONDS, _MAP_SECONDS)
        await while_connected(request, job.crawl.run(seconds))
        job.crawl.check_start()
    except SuyuanError as error:
        return _failed(request, error)
    finally:
        crawls.forget(job)
    links = _addresses(job, body)[: body.limit]
    content = {"success": True, "links": [{"url": url} for url in links], "id": exchange.id}
    return OrjsonResponse({**content, **_warning(lost), "suyuan": exchange.said(lost, complete=job.crawl.done)})


def _addresses(job: CrawlJob, body: Map) -> list[str]:
    found = list(job.crawl.found.values())
    if body.ignore_query:
        found = list(dict.fromkeys(url.partition("?")[0] for url in found))
    wanted = set(words(body.search))
    return sorted(found, key=lambda url: -len(wanted & set(words(url)))) if wanted else found


class Crawl(Wanted):
    """A site to read."""

    url: str = Field(max_length=4000)
    limit: int = Field(MOST_PAGES, ge=1)
    include_paths: list[str] = Field([], alias="includePaths", max_length=20)
    exclude_paths: list[str] = Field([], alias="excludePaths", max_length=20)
    depth: int | None = Field(None, alias="maxDiscoveryDepth", ge=0)
    sitemap: Literal["include", "skip", "only"] = "include"
    entire: bool = Field(False, alias="crawlEntireDomain")
    external: bool = Field(False, alias="allowExternalLinks")
    subdomains: bool = Field(False, alias="allowSubdomains")
    ignore_robots: bool = Field(False, alias="ignoreRobotsTxt")
    scrape_options: ScrapeOptions = Field(
        default_factory=lambda: ScrapeOptions.model_validate({}), alias="scrapeOptions"
    )

    def limits(self) -> CrawlLimits:
        """How far it goes."""
        return CrawlLimits(
            pages=min(self.limit, MOST_PAGES),
            depth=min(MOST_DEPTH if self.depth is None else self.depth, MOST_DEPTH),
            breadth=MOST_PAGES,
            include=path_patterns(self.include_paths),
            exclude=path_patterns(self.exclude_paths),
            below=not self.entire,
            sitemap=self.sitemap != "skip",
        )

    def left_out(self) -> list[str]:
        """The parameters that have no effect here."""
        refused = {
            "allowExternalLinks": self.external,
            "allowSubdomains": self.subdomains,
            "ignoreRobotsTxt": self.ignore_robots,
        }
        lost = [name for name, wanted in refused.items() if wanted]
        if self.limit > MOST_PAGES and "limit" in self.model_fields_set:
            lost.append(f"limit above {MOST_PAGES}")
        lost += [f"scrapeOptions.{name}" for name in self.scrape_options.left_out(_TEXT_FORMATS)]
        return [*lost, *self.not_honoured(ignored=_USUAL)]


@router.post("/crawl")
async def start_crawl(request: Request, body: Crawl) -> Response:
    """Start to read a site; the answer names the address of its status."""
    crawls: Crawls = request.app.state.crawls
    lost = body.left_out()
    job = crawls.begin(body.url, body.limits(), options=body.scrape_options.model_dump(by_alias=True), lost=lost)
    try:
        crawls.run(job)
    except SuyuanError:
        crawls.forget(job)
        raise
    return OrjsonResponse({"success": True, "id": job.id, "url": _status_url(request, job), **_warning(lost)})


@router.get("/crawl/active")
async def active_crawls(request: Request) -> Response:
    """The crawls that are reading now."""
    crawls: Crawls = request.app.state.crawls
    found = [
        {"id": job.id, "teamId": "suyuan", "url": job.crawl.url, "created_at": _time(job.created)}
        for job in crawls.running_of()
    ]
    return OrjsonResponse({"success": True, "crawls": found})


@router.get("/crawl/{id}")
async def crawl_status(request: Request, id: str, skip: int = Query(0, ge=0), resume: bool = False) -> Response:
    """How far a crawl is, with its pages; ``resume`` goes on with one that was cancelled."""
    crawls: Crawls = request.app.state.crawls
    job = await crawls.get(id)
    if not job.crawl.done and not job.elsewhere and (resume or not job.cancelled):
        # One of an earlier process, or one that ran out of time, goes on; if others must end first, the next time.
        with contextlib.suppress(SuyuanError):
            crawls.run(job)
    read = [page for page in job.crawl.pages if page.document is not None]
    shown = read[skip : skip + _PAGES_PER_ANSWER]
    after = skip + len(shown)
    more = after < len(read)
    options = ScrapeOptions.model_validate(job.wanted.get("options", {}))
    return OrjsonResponse(
        {
            "success": True,
            "status": job.status,
            "total": len(job.crawl.pages) + job.crawl.waiting,
            "completed": len(read),
            "creditsUsed": 0,
            "expiresAt": _time(job.expires),
            "next": f"{_status_url(request, job)}?skip={after}" if more else None,
            "data": [_document(page.document, options) for page in shown if page.document],
            **_warning(job.wanted.get("lost", ())),
        }
    )


@router.get("/crawl/{id}/errors")
async def crawl_errors(request: Request, id: str) -> Response:
    """The pages of a crawl that could not be read, and those that robots.txt forbids."""
    crawls: Crawls = request.app.state.crawls
    failed = [page for page in (await crawls.get(id)).crawl.pages if page.error is not None]
    robots = [page.url for page in failed if _is_robots(page)]
    rows = [
        {
            "id": str(at),
            "timestamp": _time(time.time()),
            "url": page.url,
            "error": page.error.message,
            **page.error.as_dict(),
        }
        for at, page in enumerate(failed)
        if page.error and not _is_robots(page)
    ]
    return OrjsonResponse({"errors": rows, "robotsBlocked": robots})


def _is_robots(page: CrawledPage) -> bool:
    return page.error is not None and page.error.detail_code == "robots"


@router.delete("/crawl/{id}")
async def cancel_crawl(request: Request, id: str) -> Response:
    """Stop a crawl; what was read stays."""
    crawls: Crawls = request.app.state.crawls
    job = await crawls.get(id)
    if job.status == "completed":
        return OrjsonResponse({"success": False, "error": "The crawl has already been completed."}, 409)
    await crawls.cancel(job)
    return OrjsonResponse({"success": True, "status": "cancelled"})


def _status_url(request: Request, job: CrawlJob) -> str:
    return f"{request.base_url}v2/crawl/{job.id}"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
