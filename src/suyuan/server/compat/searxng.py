"""SearXNG's search API, for its clients; a failure is an error, never an empty list."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ...client import AsyncClient
from ...core.causes.asked import BAD_ARGUMENT
from ...core.causes.web import SEARCH_LOOP
from ...core.query import MAX_PAGE, SearchQuery
from ...core.result import Attempt
from ...engines.registry import canonical
from ...messages.catalog import Text
from ..error_forms import is_json
from . import tavily
from .searxng_formats import FORMATS, SearxngResults
from .shared import ForeignCall

router = APIRouter()

MOST_RESULTS = 30
_PERIODS = ("", "None", "day", "week", "month", "year")
_SAFE = ("", "0", "1", "2")
# The categories of SearXNG that are kinds of sources here.
_CATEGORIES = {"general": "", "news": "news", "science": "academic", "it": "code", "social media": "discussions"}
_PARAMETERS: list[dict[str, Any]] = [
    {"name": name, "in": "query", "required": name == "q", "description": about, "schema": {"type": "string"}}
    for name, about in {
        "q": "The query.",
        "format": "json, csv or rss, else a redirect to the page.",
        "language": "A language tag, all or auto.",
        "time_range": "day, week, month or year.",
        "pageno": "The page; engines without further pages are named in unresponsive_engines.",
        "engines": "Engines, separated by commas; their results are merged. Unknown ones are skipped.",
        "categories": "general, news, science, it or social media; others are named in unresponsive_engines.",
        "safesearch": "0, 1 or 2; engines that cannot apply it are named in unresponsive_engines.",
    }.items()
]


@router.post("/search", include_in_schema=False)
async def post_search(request: Request) -> Response:
    """Search by a form as in SearXNG, or by JSON as in Tavily."""
    return await (tavily.search(request) if is_json(request) else search(request))


@router.get("/search", tags=["searxng"], openapi_extra={"parameters": _PARAMETERS})
async def search(request: Request) -> Response:
    """Search as in SearXNG, up to 30 merged results; if no engine answers, the response is an error that says why."""
    params = await _params(request)
    write = FORMATS.get(params.get("format", "html"))
    if write is None:
        return _redirect(params)
    client: AsyncClient = request.app.state.client
    if (number := _page_number(params)) > MAX_PAGE:
        return write(SearxngResults(params["q"], None, [["suyuan", f"no page after {MAX_PAGE}"]], number))
    query, plan, remarks = _read(params, client)
    if _is_this_server(client, request):
        raise SEARCH_LOOP(url=str(request.base_url))
    page = await ForeignCall(request).counted(query, MOST_RESULTS, plan)
    return write(SearxngResults(params["q"], page, [*remarks, *_unresponsive(page.attempts)], query.page))


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
    params.setdefault("q", "")
    return params


def _redirect(params: dict[str, str]) -> Response:
    if params.get("format", "html") != "html":
        raise BAD_ARGUMENT(name="format", why=Text("server.detail.only_format"))
    return RedirectResponse(f"/?q={quote(params['q'], safe='')}", 303)


def _read(params: dict[str, str], client: AsyncClient) -> tuple[SearchQuery, str, list[list[str]]]:
    """The query and the plan of a request, and what of it is not done."""
    period = params.get("time_range", "")
    if period not in _PERIODS:
        raise BAD_ARGUMENT(name="time_range", why=Text("server.detail.only_periods"))
    if params.get("safesearch", "") not in _SAFE:
        raise BAD_ARGUMENT(name="safesearch", why=Text("server.detail.only_safe"))
    if "\ufffd" in params["q"]:
        raise BAD_ARGUMENT(name="q", why=Text("server.detail.only_utf8"))
    categories = _parts(params.get("categories", ""))
    fresh = None if period in ("", "None") else period
    query = SearchQuery(
        params["q"],
        lang=params.get("language", ""),
        freshness=fresh,  # type: ignore[arg-type]
        page=_page_number(params),
        safe=int(params.get("safesearch") or 0),
        focus=_CATEGORIES.get(categories[0], "") if len(categories) == 1 else "",
    )
    names, unknown = _engines(params.get("engines", ""), client)
    remarks = [[name, "unknown engine: skipped"] for name in unknown]
    if not query.focus:
        others = [name for name in categories if name != "general"]
        remarks += [["suyuan", f"category {name} is not searched, only general"] for name in others]
    return query, "+".join(names), remarks


def _engines(value: str, client: AsyncClient) -> tuple[list[str], list[str]]:
    """The engines that are known, and the names that are not: these are skipped, as in SearXNG."""
    names = _parts(value)
    known = [name for name in names if canonical(name) in client.engines]
    return known, [name for name in names if name not in known]


def _parts(value: str) -> list[str]:
    return [part.strip()[:100] for part in value.split(",") if part.strip()][:50]


def _page_number(params: dict[str, str]) -> int:
    value = params.get("pageno") or "1"
    if not (value.isascii() and value.isdigit() and int(value[:6]) >= 1):
        raise BAD_ARGUMENT(name="pageno", why=Text("server.detail.only_page"))
    return int(value[:6])


def _is_this_server(client: AsyncClient, request: Request) -> bool:
    """Whether an engine is configured with the address of this server: every search would then search itself."""
    addresses = (own.base_url for own in client.settings.engines.values())
    return any(urlsplit(address).netloc == request.url.netloc for address in addresses)


def _unresponsive(attempts: tuple[Attempt, ...]) -> list[list[str]]:
    """The engines that failed, each with its reason, and those that could not leave out adult content."""
    failed = [[attempt.engine, attempt.detail_code or attempt.outcome] for attempt in attempts if attempt.code]
    unsafe = [attempt.engine for attempt in attempts if "safe" in attempt.unsupported_params]
    return [*failed, *([name, "safesearch is not applied"] for name in unsafe)]
