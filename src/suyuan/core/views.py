"""The three published shapes of a search page, each named after its contract; all read the same values."""

from __future__ import annotations

from typing import Any

from .failure import Failure
from .result import Attempt, SearchPage

# The provider names of the published provider interface, where they differ from ours.
PROVIDER_IDS = {"ddg_html": "duck-duck-scrape"}


def items_view(page: SearchPage, lang: str = "en") -> dict[str, Any]:
    """``{"items": […], "provider_meta": …, "errors": […]}``: the shape of the ``web.search`` tool."""
    items = []
    for r in page.results:
        item: dict[str, Any] = {
            "title": r.title,
            "url": r.url,
            "snippet": r.snippet,
            "provider": r.engine,
            "rank": r.rank,
            "source": r.source,
            "published_at": r.published_at,
        }
        if r.summary:
            item["summary"] = r.summary
        if r.fetched_at:
            item["fetched_at"] = r.fetched_at
        if r.details:
            item["details"] = r.details.as_dict(lang)
        if r.reading:
            item |= r.reading.as_dict(lang)
        items.append(item)
    request_id = next((a.request_id for a in page.attempts if a.request_id), page.query.trace_id)
    return {
        "items": items,
        "provider_meta": {
            "provider_name": page.engine,
            "latency_ms": page.took_ms,
            "request_id": request_id,
            "trace_id": page.query.trace_id,
            "cached": page.cached,
            "degraded": page.degraded,
            "from_archive": page.from_archive,
            "relevance": {a.engine: a.relevance for a in page.attempts if a.relevance is not None},
        },
        "errors": [_error(a.failure, a.engine, lang) for a in page.attempts if a.failure],
        **page.extras.as_dict(),
    }


def results_view(page: SearchPage, lang: str = "en") -> dict[str, Any]:
    """``{"query", "results": [{title, url, snippet, source}]}``: the JSON shape of the agent's tool."""
    results = [{"title": r.title, "url": r.url, "snippet": r.snippet, "source": r.source} for r in page.results]
    # The published shape has no other fields; results that are not from the web must be marked all the same.
    return {"query": page.query.text, "results": results, **(_marks(page) if page.from_archive else {})}


def provider_view(page: SearchPage, lang: str = "en") -> dict[str, Any]:
    """``{"query", "provider", "results", "count", "tookMs", "cached"}``: the shape of the provider interface."""
    results = []
    for r in page.results:
        item = {"title": r.title, "url": r.url, "description": r.snippet, "siteName": r.source}
        if r.published_at:
            item["published"] = r.published_at
        results.append(item)
    provider = "+".join(PROVIDER_IDS.get(name, name) for name in page.engine.split("+"))
    return {
        "query": page.query.text,
        "provider": provider,
        "results": results,
        "count": len(results),
        "tookMs": page.took_ms,
        "cached": page.cached,
        **_marks(page),
    }


def _marks(page: SearchPage) -> dict[str, bool]:
    """What a reader must know about a page that is not as good as usual; nothing for others."""
    marks = {"degraded": page.degraded, "from_archive": page.from_archive}
    return {name: True for name, holds in marks.items() if holds}


VIEWS = {"items": items_view, "results": results_view, "provider": provider_view}


def receipt(attempts: tuple[Attempt, ...], lang: str = "en") -> list[dict[str, Any]]:
    """What each engine did, in the order in which they were asked; a failed search has a receipt too."""
    return [
        {
            "engine": a.engine,
            "outcome": a.outcome,
            "count": a.count,
            "latency_ms": a.latency_ms,
            **(a.failure.published(lang) if a.failure else _NO_FAILURE),
            "unsupported_params": list(a.unsupported_params),
            "notes": list(a.notes),
            "relevance": a.relevance,
        }
        for a in attempts
    ]


_NO_FAILURE = dict.fromkeys(("code", "detail_code", "message", "hint", "retryable", "retry_after"))


def _error(failure: Failure, engine: str, lang: str) -> dict[str, Any]:
    published = failure.published(lang)
    return {"type": published.pop("code"), **published, "provider": engine}
