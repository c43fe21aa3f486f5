"""Brave's web search API."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from ...core.query import SearchQuery
from ...core.result import SearchResult
from ..orjson_response import OrjsonResponse
from .shared import ForeignCall

router = APIRouter(prefix="/res/v1", tags=["brave"])

_SAFE = {"off": 0, "moderate": 1, "strict": 2}
_SNIPPET_TOKENS = 600
_KNOWN = ("q", "count", "offset", "country", "search_lang", "safesearch", "freshness", "extra_snippets")
# What asks for nothing that would be done otherwise.
_USUAL = ("ui_lang", "text_decorations", "spellcheck", "units", "result_filter")


@router.get("/web/search")
async def search(
    request: Request,
    q: Annotated[str, Query(max_length=2000)],
    count: Annotated[int, Query(ge=1, le=20)] = 20,
    offset: Annotated[int, Query(ge=0, le=9)] = 0,
    country: str = "",
    search_lang: str = "",
    safesearch: str = "",
    freshness: str = "",
    extra_snippets: bool = False,
) -> Response:
    """Search; ``extra_snippets`` reads the pages, and gives the passages that answer."""
    call = ForeignCall(request)
    query = SearchQuery(
        q,
        country="" if country.upper() == "ALL" else country,
        lang=search_lang,
        safe=_SAFE.get(safesearch, 0),
        freshness=freshness or None,  # type: ignore[arg-type]
        page=offset + 1,
    )
    depth, tokens = ("passages", _SNIPPET_TOKENS * 5) if extra_snippets else ("results", None)
    page = await call.search(query, count, depth=depth, max_tokens=tokens, pages=5)  # type: ignore[arg-type]
    lost = [name for name in request.query_params if name not in (*_KNOWN, *_USUAL)]
    results = [_result(result) for result in page.results]
    content = {
        "type": "search",
        "query": {"original": q, "more_results_available": len(results) >= count},
        "mixed": {"type": "mixed", "main": [{"type": "web", "index": at, "all": False} for at in range(len(results))]},
        "web": {"type": "search", "results": results, "family_friendly": bool(query.safe)},
        "suyuan": call.said(lost),
    }
    return OrjsonResponse(content)


def _result(result: SearchResult) -> dict[str, Any]:
    parts = urlsplit(result.url)
    item: dict[str, Any] = {
        "type": "search_result",
        "title": result.title,
        "url": result.url,
        "description": result.snippet,
        "is_source_local": False,
        "is_source_both": False,
        "profile": {"name": result.source, "url": result.url, "long_name": result.source},
        "meta_url": {"scheme": parts.scheme, "netloc": parts.netloc, "hostname": parts.hostname, "path": parts.path},
    }
    if result.published_at:
        item["page_age"] = item["age"] = result.published_at
    if result.reading:
        item["extra_snippets"] = [passage.text for passage in result.reading.passages]
        if result.reading.error:
            item["read_error"] = result.reading.error.published()
    return item
