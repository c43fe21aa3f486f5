"""Tool providers: ``execute("web.search", args)`` gives ``{"items": …}``, or raises one of our errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from ..client import AsyncClient
from ..config.load import backend_from_environment, load_settings
from ..config.settings import Settings
from ..core.causes.asked import BAD_ARGUMENT, UNKNOWN_TOOL
from ..core.page import SearchPage
from ..core.query import SearchQuery
from ..core.views import items_view, results_view
from ..messages.catalog import Text
from ..pages.passages import select
from ..tools.specs import WEB_FETCH, WEB_SEARCH, web_fetch_contract, web_search_contract

# Other names for the same argument.
_SAME = {"max_results": "count", "locale": "lang", "time_range": "freshness", "site_filter": "allowed_domains"}


class BuiltinProvider:
    """The tools of a house, with the plan of its settings (``auto`` where nothing is configured)."""

    engines = ""

    def __init__(self, settings: Settings | None = None, *, engines: str = "") -> None:
        self._client: AsyncClient = AsyncClient(settings)
        self.engines = engines or self.engines

    def schemas(self) -> dict[str, dict[str, Any]]:
        """The JSON Schemas of the arguments, by tool."""
        return {WEB_SEARCH.dotted: web_search_contract(), WEB_FETCH.dotted: web_fetch_contract()}

    def execute(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run a tool synchronously."""
        return self._client.search_service.run_sync(self.aexecute(tool, arguments))

    async def aexecute(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run a tool."""
        known = self.schemas()
        if tool not in known:
            raise UNKNOWN_TOOL(name=tool, known=", ".join(known))
        given = _checked_all(arguments, known[tool]["properties"])
        if tool == WEB_FETCH.dotted:
            return await self._fetched(given)
        query = _query_of(given, self._client.settings.search.max_results)
        return items_view(await self._client.search_service.search(query, engines=self.engines))

    async def _fetched(self, given: dict[str, Any]) -> dict[str, Any]:
        url = given.get("url", "")
        document = await self._client.fetcher.fetch(
            url, fresh=given.get("fresh", False), render=given.get("render", False)
        )
        item = document.as_dict()
        chosen = select(document.text, given.get("question", ""), given.get("max_tokens", 100_000))
        item["text"] = "\n\n".join(passage.text for passage in chosen.passages) if chosen.cut else document.text
        item["passages"] = [{"id": p.id, "start": p.start, "end": p.end, "heading": p.heading} for p in chosen.passages]
        item["tokens"], item["total_tokens"] = chosen.tokens, chosen.total_tokens
        return {"items": [item]}

    def close(self) -> None:
        """Close what was opened by synchronous calls."""
        self._client.close_sync()

    async def aclose(self) -> None:
        """Close what was opened."""
        await self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class WebProvider(BuiltinProvider):
    """The provider that is built from the bare environment: ``WEB_SEARCH_BACKEND``, else the stub."""

    engines = "stub"

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Build it by ``WEB_SEARCH_BACKEND``; unset means ``stub``, and an unknown name is a warning and ``stub``."""
        settings = load_settings(environ)
        name, _ = backend_from_environment(environ)
        return cls(settings, engines=name)


class StubProvider(BuiltinProvider):
    """Fixed results, whatever is configured; nothing ever leaves the machine."""

    def __init__(self) -> None:
        super().__init__(Settings(), engines="stub")


def web_search(query: str, *, settings: Settings | None = None, engines: str = "") -> dict[str, Any]:
    """Search once: ``{"query", "results": [{title, url, snippet, source}]}``, ten results."""
    client = AsyncClient(settings)
    try:
        page: SearchPage = client.search_service.search_sync(query, engines=engines)
        return results_view(page)
    finally:
        client.close_sync()


def _checked_all(arguments: Mapping[str, Any], allowed: dict[str, Any]) -> dict[str, Any]:
    given = {}
    for name, value in arguments.items():
        if name not in allowed:
            raise BAD_ARGUMENT(name=name, why=Text("input.detail.unknown_argument", {"known": ", ".join(allowed)}))
        if value is not None:
            given[name] = _checked(name, value, allowed[name])
    return given


def _query_of(arguments: dict[str, Any], count: int) -> SearchQuery:
    given: dict[str, Any] = {"count": count, **{_SAME.get(name, name): value for name, value in arguments.items()}}
    text = given.pop("query", "")
    for name in ("allowed_domains", "blocked_domains"):
        if isinstance(given.get(name), str):
            given[name] = tuple(part for part in given[name].split(",") if part.strip())
    return SearchQuery(text, **given)


def _checked(name: str, value: Any, schema: dict[str, Any]) -> Any:
    kinds: dict[str, Any] = {"string": str, "integer": int, "boolean": bool, "array": (list, tuple)}
    wanted = [schema["type"]] if "type" in schema else [choice["type"] for choice in schema["oneOf"]]
    fits = any(
        isinstance(value, kinds[kind]) and not (kind == "integer" and isinstance(value, bool)) for kind in wanted
    )
    # The number of results has an error of its own, which says what it may be.
    if not fits and name != "max_results":
        types = {"wanted": " / ".join(wanted), "given": type(value).__name__}
        raise BAD_ARGUMENT(name=name, why=Text("input.detail.wrong_type", types))
    return value
