"""Tavily's API: search, extract, map, crawl and usage."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from ...chat.answering import begin_answer
from ...chat.events import Answer
from ...citations.markers import without_markers
from ...core.causes.web import NO_CRAWL
from ...core.document import Document
from ...core.errors import SuyuanError
from ...core.page_reading import Depth
from ...core.person import current_person
from ...core.query import SearchQuery
from ...core.result import SearchResult
from ...pages.crawl import MOST_DEPTH, MOST_PAGES, CrawlLimits, PathPatterns
from ...search.relevance import shares
from ..error_forms import told
from ..orjson_response import OrjsonResponse
from ..sse import while_connected
from .countries import country_code
from .crawls import CrawlJob, Crawls, too_long
from .shared import MOST_URLS, ForeignCall, Wanted, best_text, document_of, passages_text

router = APIRouter(tags=["tavily"])

MOST_RESULTS = 20
# Tokens of one chunk; Tavily's has at most 500 characters.
_CHUNK_TOKENS = 170
_RAW_TOKENS = 100_000
_TOPICS = {"general": "", "news": "news", "finance": ""}
_COUNTED = ("search", "extract", "crawl", "map", "research")
FOR_NOBODY = ("api_key", "use_cache", "session_id", "client_name", "project_id", "human_id")


class TavilySearch(Wanted):
    """A search of a Tavily client."""

    query: str
    search_depth: Literal["basic", "advanced", "fast", "ultra-fast"] = "basic"
    topic: Literal["general", "news", "finance"] = "general"
    time_range: str = ""
    start_date: str = ""
    end_date: str = ""
    days: int | None = Field(None, ge=0)
    max_results: int = Field(5, ge=0, le=MOST_RESULTS)
    chunks_per_source: int = Field(3, ge=1, le=3)
    include_domains: list[str] = Field([], max_length=300, fail_fast=True)
    exclude_domains: list[str] = Field([], max_length=150, fail_fast=True)
    include_answer: bool | Literal["basic", "advanced"] = False
    include_raw_content: bool | Literal["markdown", "text"] = False
    include_usage: bool = False
    exact_match: bool = False
    country: str = ""
    language: str = ""
    timeout: float | None = Field(None, ge=0)

    def search_query(self) -> SearchQuery:
        """The search that is wanted."""
        text = f'"{self.query}"' if self.exact_match and '"' not in self.query else self.query
        return SearchQuery(
            text,
            country=country_code(self.country),
            lang=self.language,
            freshness=self._freshness(),  # type: ignore[arg-type]
            allowed_domains=tuple(self.include_domains),
            blocked_domains=tuple(self.exclude_domains),
            focus=_TOPICS[self.topic],
            budget_ms=min(round(self.timeout * 1000), 120_000) if self.timeout else None,
        )

    def _freshness(self) -> str | None:
        if self.start_date or self.end_date:
            return f"{self.start_date}..{self.end_date}"
        if self.time_range:
            return self.time_range
        # Clients send it with every search; it is for news only.
        if self.days and self.topic == "news":
            return f"{date.today() - timedelta(days=min(self.days, 36_500))}.."
        return None

    def left_out(self) -> list[str]:
        """The parameters that have no effect here."""
        lost = ["country"] if self.country and not country_code(self.country) else []
        if self.topic == "finance":
            lost.append("topic=finance")
        return [*lost, *self.not_honoured(ignored=FOR_NOBODY)]

    @property
    def depth(self) -> Depth:
        """What has to be read for it."""
        if self.include_raw_content:
            return "pages"
        return "passages" if self.search_depth == "advanced" else "results"

    def chunks(self) -> int:
        """The tokens of what is sent of each page."""
        return self.chunks_per_source * _CHUNK_TOKENS


async def search(request: Request) -> Response:
    """Search; ``POST /search`` with JSON leads here, other requests to that path are SearXNG's."""
    body = await TavilySearch.of(request)
    call = ForeignCall(request)
    query, most = body.search_query(), max(1, body.max_results)
    tokens = None if body.depth == "results" else body.chunks() * most if body.depth == "passages" else _RAW_TOKENS
    if body.include_answer:
        await begin_answer(searches=True)
    answering = asyncio.create_task(_answer(call, body.query, query)) if body.include_answer else None
    try:
        page = await call.search(query, most, depth=body.depth, max_tokens=tokens)
        answer = await answering if answering else None
    finally:
        if answering:
            answering.cancel()
    results = page.results[: body.max_results]
    scores = shares(page.query.text, results)
    found = await asyncio.gather(*(_result(call, *each, body) for each in zip(results, scores, strict=True)))
    said: dict[str, Any] = {"answer": _about(answer, call.lang)} if answer else {}
    content = {
        "query": body.query,
        "follow_up_questions": None,
        "answer": _answer_text(answer) if answer else None,
        "images": [],
        "results": found,
    }
    return _answered(call, body, content, **said)


def _answered(
    call: ForeignCall,
    body: TavilySearch | Extract | Site,
    content: dict[str, Any],
    lost: Sequence[str] = (),
    **said: Any,
) -> Response:
    """An answer in Tavily's form, with what of the request had no effect."""
    content |= {"response_time": call.seconds, "request_id": call.id}
    if body.include_usage:
        content["usage"] = {"credits": 0}
    return OrjsonResponse({**content, "suyuan": call.said([*body.left_out(), *lost], **said)})


async def _result(call: ForeignCall, result: SearchResult, score: float, body: TavilySearch) -> dict[str, Any]:
    reading = result.reading
    item: dict[str, Any] = {
        "title": result.title,
        "url": result.url,
        "content": passages_text(result),
        "score": round(score, 4),
        "raw_content": None,
    }
    if result.published_at:
        item["published_date"] = result.published_at
    error = reading.error if reading else None
    if body.include_raw_content and reading and reading.text:
        item["raw_content"] = reading.text
        if body.search_depth == "advanced":
            item["content"] = await best_text(reading.text, body.query, body.chunks())
        if body.include_raw_content == "text":
            try:
                item["raw_content"] = await call.client.fetcher.in_form(document_of(result, reading), "plain")
            except SuyuanError as failed:
                error = failed.failure
    if error:
        item["read_error"] = error.published()
    return item


async def _answer(call: ForeignCall, question: str, query: SearchQuery) -> Answer:
    """The answer of the configured model, from searches with the same filters."""
    await call.request.app.state.preloader.wait()
    answer = await call.client.ask(question, within=query)
    call.request.app.state.metrics.count_event(answer)
    return answer


def _answer_text(answer: Answer) -> str | None:
    """The text without its citation markers, whose numbers are not those of the results."""
    return None if answer.failure and not answer.text else without_markers(answer.text).strip()


def _about(answer: Answer, lang: str) -> dict[str, Any]:
    failure = answer.failure.published(lang) if answer.failure else None
    sources = [{"number": each.number, "title": each.title, "url": each.url} for each in answer.sources]
    return {
        "model": answer.model,
        "unverified": answer.unverified,
        "failure": failure,
        "text": answer.text,
        "sources": sources,
    }


class Extract(Wanted):
    """Pages to read."""

    urls: Annotated[list[str], Field(max_length=1000, fail_fast=True)] | str = Field(min_length=1)
    extract_depth: Literal["basic", "advanced"] = "basic"
    format: Literal["markdown", "text"] = "markdown"
    query: str = ""
    chunks_per_source: int = Field(3, ge=1, le=5)
    timeout: float | None = Field(None, ge=0.1, le=120)
    include_usage: bool = False

    def left_out(self) -> list[str]:
        """The parameters that have no effect here."""
        too_many = [f"urls after the first {MOST_URLS}"] if len(self.urls) > MOST_URLS else []
        return [*(too_many if isinstance(self.urls, list) else []), *self.not_honoured(ignored=FOR_NOBODY)]


@router.post("/extract")
async def extract(request: Request, body: Extract) -> Response:
    """Read up to twenty pages."""
    call = ForeignCall(request)
    urls = [body.urls] if isinstance(body.urls, str) else body.urls
    read = await call.documents(urls[:MOST_URLS], seconds=body.timeout)
    results, failed = [], []
    texts = await asyncio.gather(*(_content(call, each, body, body.query) for each in read))
    for url, document, text in zip(urls, read, texts, strict=False):
        if isinstance(document, Document) and isinstance(text, str):
            cut = {"cut": document.cut.published(call.lang)} if document.cut else {}
            results.append({"url": url, "title": document.title, "raw_content": text, "images": [], **cut})
        elif isinstance(text, SuyuanError):
            failed.append(_failed(url, text, call.lang))
    return _answered(call, body, {"results": results, "failed_results": failed})


async def _content(
    call: ForeignCall, document: Document | SuyuanError, body: Extract | Site, question: str
) -> str | SuyuanError:
    """What is wanted of a page, or why there is none."""
    if isinstance(document, SuyuanError):
        return document
    if question:
        text = await best_text(document.text, question, body.chunks_per_source * _CHUNK_TOKENS)
        document = replace(document, text=text)
    try:
        return await call.client.fetcher.in_form(document, "plain") if body.format == "text" else document.text
    except SuyuanError as error:
        return error


def _failed(url: str, error: SuyuanError, lang: str) -> dict[str, Any]:
    published = error.as_dict(lang)
    return {"url": url, "error": told(published), **{name: published[name] for name in ("code", "detail_code", "hint")}}


class Site(Wanted):
    """A site to crawl, or to map; ``resume`` goes on with one that ran out of time."""

    url: str = Field(max_length=4000)
    max_depth: int = Field(1, ge=1, le=MOST_DEPTH)
    max_breadth: int = Field(20, ge=1, le=MOST_PAGES)
    limit: int = Field(50, ge=1)
    instructions: str = ""
    select_paths: list[str] = Field([], max_length=20, fail_fast=True)
    exclude_paths: list[str] = Field([], max_length=20, fail_fast=True)
    format: Literal["markdown", "text"] = "markdown"
    extract_depth: str = ""
    chunks_per_source: int = Field(3, ge=1, le=5)
    timeout: float = Field(150, ge=1, le=150)
    include_usage: bool = False
    allow_external: bool = False
    resume: str = Field("", max_length=64, description="The id that an answer which is not complete has given.")

    def limits(self, *, sitemap: bool = False) -> CrawlLimits:
        """How far it goes."""
        return CrawlLimits(
            pages=min(self.limit, MOST_PAGES),
            depth=self.max_depth,
            breadth=self.max_breadth,
            include=PathPatterns(self.select_paths),
            exclude=PathPatterns(self.exclude_paths),
            sitemap=sitemap,
        )

    def left_out(self) -> list[str]:
        """The parameters that have no effect here: other hosts are never read."""
        lost = [f"limit above {MOST_PAGES}"] if self.limit > MOST_PAGES else []
        return [*lost, *self.not_honoured(known=("allow_external",), ignored=FOR_NOBODY)]


@router.post("/map")
async def map_site(request: Request, body: Site) -> Response:
    """The addresses of a site, from its pages and its sitemap."""
    call = ForeignCall(request)
    job = await _crawled(call, body, texts=False)
    urls = list(job.crawl.found.values())[: body.limit]
    return _site_answer(call, body, job, urls)


@router.post("/crawl")
async def crawl_site(request: Request, body: Site) -> Response:
    """The pages of a site; with ``instructions`` only what they say to them."""
    call = ForeignCall(request)
    job = await _crawled(call, body, texts=True)
    read = [(page.url, page.document or page.error) for page in job.crawl.pages]
    texts = await asyncio.gather(*(_content(call, each, body, body.instructions) for _, each in read if each))
    both = list(zip((url for url, _ in read), texts, strict=True))
    results = [{"url": url, "raw_content": text, "favicon": None} for url, text in both if isinstance(text, str)]
    failed = [{"url": url, **text.as_dict(call.lang)} for url, text in both if isinstance(text, SuyuanError)]
    return _site_answer(call, body, job, results, failed=failed)


async def _crawled(call: ForeignCall, body: Site, *, texts: bool) -> CrawlJob:
    """The crawl of ``body``, as far as its time allowed; a client that leaves pauses it."""
    crawls: Crawls = call.request.app.state.crawls
    if body.resume:
        job = await crawls.get(body.resume)
        if texts and not job.texts:
            # That was a map, which has read no texts.
            raise NO_CRAWL(id=job.id)
    else:
        job = crawls.begin(body.url, limits=body.limits(sitemap=not texts), texts=texts)
    await while_connected(call.request, crawls.wait(job, body.timeout))
    return job


def _site_answer(call: ForeignCall, body: Site, job: CrawlJob, results: list[Any], **more: Any) -> Response:
    done = job.crawl.done
    if done:
        crawls: Crawls = call.request.app.state.crawls
        crawls.forget(job)
    more |= {"complete": done and not job.crawl.cut, "resume": None if done else job.id, "left": job.crawl.waiting}
    return _answered(call, body, {"base_url": job.crawl.url, "results": results}, too_long(job.crawl), **more)


@router.get("/usage")
async def usage(request: Request) -> Response:
    """What was used since the server started; somebody with an account sees the own searches of this day."""
    counts = await _counts(request)
    used = counts.total()
    key = {f"{name}_usage": counts[name] for name in _COUNTED}
    return OrjsonResponse(
        {
            "key": {"usage": used, "limit": None, **key},
            "account": {"current_plan": "suyuan", "plan_usage": used, "plan_limit": None, "paygo_usage": 0,
                        "paygo_limit": None, **key},
        }
    )  # fmt: skip


async def _counts(request: Request) -> Counter[str]:
    """The requests of Tavily's paths that were answered, by their name; those of all people are for administrators."""
    person, accounts = current_person.get(), request.app.state.accounts
    if accounts is not None and not person.may("admin"):
        used = await accounts.in_store(lambda people: people.used(person.id))
        return Counter({"search": int(used["searches"])})
    found = Counter[str]()
    for family in request.app.state.metrics.requests.collect():
        for sample in family.samples:
            name = str(sample.labels.get("path", "")).lstrip("/")
            answered = sample.labels.get("method") == "POST" and sample.labels.get("status") == "200"
            if answered and sample.name.endswith("_total") and name in _COUNTED:
                found[name] += int(sample.value)
    return found
