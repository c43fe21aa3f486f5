"""SearXNG's search API, for its clients; a failure is an error, never an empty list."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ..client import AsyncClient
from ..core.causes.asked import BAD_ARGUMENT
from ..core.causes.web import SEARCH_LOOP
from ..core.errors import SuyuanError
from ..core.query import SearchQuery
from ..core.result import SearchPage
from ..core.views import receipt
from ..messages.catalog import Text
from .orjson_response import OrjsonResponse
from .sse import while_connected

router = APIRouter()

_PERIODS = ("", "day", "week", "month", "year")
_PARAMETERS: list[dict[str, Any]] = [
    {"name": name, "in": "query", "required": name == "q", "description": about, "schema": {"type": "string"}}
    for name, about in {
        "q": "The query.",
        "format": "json, else a redirect to the page.",
        "language": "A language tag, all or auto.",
        "time_range": "day, week, month or year.",
        "pageno": "1: there is only one page.",
        "engines": "Engines, separated by commas; their results are merged.",
    }.items()
]


@router.post("/search", include_in_schema=False)
@router.get("/search", tags=["searxng"], response_class=OrjsonResponse, openapi_extra={"parameters": _PARAMETERS})
async def search(request: Request) -> Response:
    """Search as in SearXNG; if no engine answers, the response is an error that says why."""
    params = await _params(request)
    if params.get("format", "html") != "json":
        return _redirect(params)
    client: AsyncClient = request.app.state.client
    query = _query(params)
    if _page_number(params) > 1:
        return OrjsonResponse(_view(params["q"], None, [["suyuan", "only one page of results"]]))
    if _is_this_server(client, request):
        raise SEARCH_LOOP(url=str(request.base_url))
    metrics = request.app.state.metrics
    plan = "+".join(part.strip() for part in params.get("engines", "").split(",") if part.strip())
    try:
        page = await while_connected(request, client.search_service.search(query, engines=plan))
    except SuyuanError as error:
        metrics.count_search(receipt(error.attempts))
        raise
    if not page.cached:
        metrics.count_search(receipt(page.attempts))
    return OrjsonResponse(_view(params["q"], page, _unresponsive(page)))


class RootSearchMiddleware:
    """Routes searches that clients send to ``/``, as SearXNG accepts them, to ``/search``."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] == "http" and scope["path"] == "/":
            wanted = parse_qs(scope["query_string"].decode("latin-1")).get("format", [""])[0]
            if wanted not in ("", "html") or scope["method"] == "POST":
                scope = {**scope, "path": "/search", "raw_path": b"/search"}
        await self._app(scope, receive, send)


async def _params(request: Request) -> dict[str, str]:
    params = dict(request.query_params)
    if request.method == "POST":
        form = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
        params.update({name: values[0] for name, values in form.items()})
    return params


def _redirect(params: dict[str, str]) -> Response:
    if params.get("format", "html") != "html":
        raise BAD_ARGUMENT(name="format", why=Text("server.detail.only_format"))
    return RedirectResponse(f"/?q={quote(params.get('q', ''), safe='')}", 303)


def _query(params: dict[str, str]) -> SearchQuery:
    period = params.get("time_range", "")
    if period not in _PERIODS:
        raise BAD_ARGUMENT(name="time_range", why=Text("server.detail.only_periods"))
    params.setdefault("q", "")
    if "\ufffd" in params["q"]:
        raise BAD_ARGUMENT(name="q", why=Text("server.detail.only_utf8"))
    return SearchQuery(params["q"], lang=params.get("language", ""), freshness=period or None)  # type: ignore[arg-type]


def _page_number(params: dict[str, str]) -> int:
    value = params.get("pageno") or "1"
    if not (value.isascii() and value.isdigit() and int(value[:6]) >= 1):
        raise BAD_ARGUMENT(name="pageno", why=Text("server.detail.only_page"))
    return int(value[:6])


def _is_this_server(client: AsyncClient, request: Request) -> bool:
    """Whether the configured SearXNG is this server: every search would then search itself."""
    own = client.settings.engines.get("searxng")
    return bool(own and own.base_url) and urlsplit(own.base_url if own else "").netloc == request.url.netloc


def _view(q: str, page: SearchPage | None, unresponsive: list[list[str]]) -> dict[str, Any]:
    results = [
        {
            "title": result.title,
            "url": result.url,
            "content": result.snippet,
            "engine": result.engine,
            "engines": [result.engine, *(name for name in result.also_from if name != result.engine)],
            "score": round(1 / result.rank, 4),
            "positions": [result.rank],
            "category": "general",
            "template": "default.html",
            "publishedDate": result.published_at,
        }
        for result in (page.results if page else ())
    ]
    return {
        "query": q,
        "number_of_results": len(results),
        "results": results,
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": unresponsive,
    }


def _unresponsive(page: SearchPage) -> list[list[str]]:
    """The engines that failed, each with its reason."""
    return [[attempt.engine, attempt.detail_code or attempt.outcome] for attempt in page.attempts if attempt.code]
