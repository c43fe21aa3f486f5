"""Firecrawl's API, version 2: crawls and batches of pages, with their status."""

from __future__ import annotations

import asyncio
import contextlib
import time
from datetime import UTC, datetime
from typing import Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import Field

from ...core.causes.network import BAD_URL
from ...core.causes.page import ROBOTS
from ...core.errors import SuyuanError
from ...messages.catalog import Text
from ...pages.crawl import MOST_DEPTH, MOST_PAGES, CrawlLimits, PathPatterns, is_page_address
from ..orjson_response import OrjsonResponse
from .crawls import Crawls, too_long
from .firecrawl import TEXT_FORMATS, USUAL, ScrapeOptions, page_or_error, warning
from .shared import Wanted

router = APIRouter(prefix="/v2", tags=["firecrawl"])

_PAGES_PER_ANSWER = 50


class CrawlOptions(Wanted):
    """A site to read."""

    url: str = Field(max_length=4000)
    limit: int = Field(MOST_PAGES, ge=1)
    include_paths: list[str] = Field([], alias="includePaths", max_length=20, fail_fast=True)
    exclude_paths: list[str] = Field([], alias="excludePaths", max_length=20, fail_fast=True)
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
            include=PathPatterns(self.include_paths),
            exclude=PathPatterns(self.exclude_paths),
            below=not self.entire,
            sitemap=self.sitemap != "skip",
        )

    def left_out(self) -> list[str]:
        """The parameters that have no effect here."""
        lost = [f"scrapeOptions.{name}" for name in self.scrape_options.left_out(TEXT_FORMATS)]
        if self.limit > MOST_PAGES and "limit" in self.model_fields_set:
            lost.append(f"limit above {MOST_PAGES}")
        return [*self.not_honoured(known=("external", "subdomains", "ignore_robots"), ignored=USUAL), *lost]


@router.post("/crawl")
async def start_crawl(request: Request, body: CrawlOptions) -> Response:
    """Start to read a site; the answer names the address of its status."""
    return _started(request, [body.url], body.limits(), body.scrape_options.model_dump(by_alias=True), body.left_out())


class Batch(ScrapeOptions):
    """Pages to read, of any sites."""

    urls: list[str] = Field(min_length=1, max_length=MOST_PAGES, fail_fast=True)
    ignore_invalid: bool = Field(True, alias="ignoreInvalidURLs")


@router.post("/batch/scrape")
async def start_batch(request: Request, body: Batch) -> Response:
    """Start to read pages; the answer names the address of their status, and the addresses that are none."""
    invalid = [url for url in body.urls if not is_page_address(url)]
    urls = [url for url in body.urls if url not in invalid]
    if invalid and (not body.ignore_invalid or not urls):
        raise BAD_URL(url=invalid[0][:120], why=Text("network.reason.invalid"))
    limits = CrawlLimits(pages=len(urls), depth=0, listed=True)
    options = body.model_dump(by_alias=True, include=set(ScrapeOptions.model_fields))
    return _started(request, urls, limits, options, body.left_out(TEXT_FORMATS), invalidURLs=invalid)


def _started(
    request: Request, urls: list[str], limits: CrawlLimits, options: dict[str, Any], lost: list[str], **more: Any
) -> Response:
    crawls: Crawls = request.app.state.crawls
    job = crawls.begin(*urls, limits=limits, options=options, lost=lost)
    crawls.run(job)
    return OrjsonResponse(
        {"success": True, "id": job.id, "url": f"{_own_url(request)}/{job.id}", **more, **warning(lost)}
    )


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
@router.get("/batch/scrape/{id}")
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
    options, fetcher = ScrapeOptions.model_validate(job.wanted.get("options", {})), request.app.state.client.fetcher
    return OrjsonResponse(
        {
            "success": True,
            "status": job.status,
            "total": len(job.crawl.pages) + job.crawl.waiting,
            "completed": len(read),
            "creditsUsed": 0,
            "expiresAt": _time(job.expires),
            "next": f"{_own_url(request)}?skip={after}" if more else None,
            "data": await asyncio.gather(
                *(page_or_error(fetcher, each.document, options) for each in shown if each.document)
            ),
            **warning([*job.wanted.get("lost", ()), *too_long(job.crawl)]),
        }
    )


@router.get("/crawl/{id}/errors")
@router.get("/batch/scrape/{id}/errors")
async def crawl_errors(request: Request, id: str) -> Response:
    """The pages of a crawl that could not be read, and those that robots.txt forbids."""
    crawls: Crawls = request.app.state.crawls
    failed = [(page.url, page.error) for page in (await crawls.get(id)).crawl.pages if page.error is not None]
    robots = [url for url, error in failed if error.detail_code == ROBOTS.detail_code]
    rows = [
        {"id": str(at), "timestamp": _time(time.time()), "url": url, "error": error.message, **error.as_dict()}
        for at, (url, error) in enumerate(failed)
        if url not in robots
    ]
    return OrjsonResponse({"errors": rows, "robotsBlocked": robots})


@router.delete("/crawl/{id}")
@router.delete("/batch/scrape/{id}")
async def cancel_crawl(request: Request, id: str) -> Response:
    """Stop a crawl; what was read stays."""
    crawls: Crawls = request.app.state.crawls
    job = await crawls.get(id)
    if job.status == "completed":
        return OrjsonResponse({"success": False, "error": "The crawl has already been completed."}, 409)
    await crawls.cancel(job)
    return OrjsonResponse({"success": True, "status": "cancelled"})


def _own_url(request: Request) -> str:
    """The address of a request as its client knows it, without parameters."""
    return f"{request.base_url}v2/{request.url.path.partition('/v2/')[2]}"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
