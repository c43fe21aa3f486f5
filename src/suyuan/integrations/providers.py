"""Tool providers: ``execute("web.search", arguments)`` gives ``{"items": …}`` or raises a ``SuyuanError``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from ..config.load import backend_from_environment, load_settings
from ..config.settings import Settings
from ..core.causes.asked import BAD_ARGUMENT, UNKNOWN_TOOL
from ..core.query import SearchQuery
from ..core.views import items_view, results_view
from ..messages.catalog import Text
from ..pages.passages import select
from ..shared import acquire, default_client, release, release_async
from ..tools.research_spec import RESEARCH, research_contract
from ..tools.specs import WEB_FETCH, WEB_SEARCH, web_fetch_contract, web_search_contract

# Other names for the same argument.
_ALIASES = {"max_results": "count", "locale": "lang", "time_range": "freshness", "site_filter": "allowed_domains"}
_TYPES: dict[str, type | tuple[type, ...]] = {"string": str, "integer": int, "boolean": bool, "array": (list, tuple)}


class BuiltinProvider:
    """The tools by the settings (plan ``auto`` where nothing is configured), on a client that the process shares."""

    engines = ""

    def __init__(self, settings: Settings | None = None, *, engines: str = "") -> None:
        self._client = acquire(settings or load_settings())
        self.engines = engines or self.engines

    def schemas(self) -> dict[str, dict[str, Any]]:
        """The JSON Schemas of the arguments, by tool."""
        return {
            WEB_SEARCH.dotted: web_search_contract(),
            WEB_FETCH.dotted: web_fetch_contract(),
            RESEARCH.dotted: research_contract(),
        }

    def execute(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run a tool synchronously."""
        return self._client.bridge.run(self.aexecute(tool, arguments))

    async def aexecute(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run a tool."""
        known = self.schemas()
        if tool not in known:
            raise UNKNOWN_TOOL(name=tool, known=", ".join(known))
        given = _checked(arguments, known[tool]["properties"])
        if tool == WEB_FETCH.dotted:
            return await self._fetch(given)
        if tool == RESEARCH.dotted:
            from .research_report import research_report

            return await research_report(self._client, self.aexecute, self.engines, given)
        depth, max_tokens = given.pop("depth", "results"), given.pop("max_tokens", None)
        query = _query(given, self._client.settings.search.max_results)
        page = await self._client.search(query, engines=self.engines, depth=depth, max_tokens=max_tokens)
        return items_view(page)

    async def _fetch(self, given: dict[str, Any]) -> dict[str, Any]:
        fresh, render = given.get("fresh", False), given.get("render", False)
        document = await self._client.read(given.get("url", ""), fresh=fresh, render=render)
        item = document.as_dict()
        chosen = select(document.text, given.get("question", ""), given.get("max_tokens", 100_000))
        item["text"] = "\n\n".join(passage.text for passage in chosen.passages) if chosen.cut else document.text
        item["passages"] = [{"id": p.id, "start": p.start, "end": p.end, "heading": p.heading} for p in chosen.passages]
        item["tokens"], item["total_tokens"] = chosen.tokens, chosen.total_tokens
        return {"items": [item]}

    def close(self) -> None:
        """Give the client back; the last user closes it."""
        release(self._client)

    async def aclose(self) -> None:
        """Like :meth:`close`, for asynchronous callers."""
        await release_async(self._client)

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
        name, _ = backend_from_environment(environ)
        return cls(load_settings(environ), engines=name)


class StubProvider(BuiltinProvider):
    """Fixed results, whatever is configured; it never uses the network."""

    def __init__(self) -> None:
        super().__init__(Settings(), engines="stub")


def web_search(query: str, *, settings: Settings | None = None, engines: str = "") -> dict[str, Any]:
    """Search once: ``{"query", "results": [{title, url, snippet, source}]}``, ten results."""
    client = acquire(settings) if settings else default_client()
    try:
        return results_view(client.bridge.run(client.search(query, engines=engines)))
    finally:
        if settings:
            release(client)


def _checked(arguments: Mapping[str, Any], properties: dict[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in arguments.items() if value is not None}
    for name, value in given.items():
        if name not in properties:
            raise BAD_ARGUMENT(name=name, why=Text("input.detail.unknown_argument", {"known": ", ".join(properties)}))
        schema = properties[name]
        kinds = [schema["type"]] if "type" in schema else [choice["type"] for choice in schema["oneOf"]]
        # The number of results has an error of its own, which says what it may be.
        if name != "max_results" and not any(_is_a(value, kind) for kind in kinds):
            types = {"wanted": " / ".join(kinds), "given": type(value).__name__}
            raise BAD_ARGUMENT(name=name, why=Text("input.detail.wrong_type", types))
    return given


def _is_a(value: Any, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and not (kind == "integer" and isinstance(value, bool))


def _query(arguments: dict[str, Any], count: int) -> SearchQuery:
    given: dict[str, Any] = {"count": count, **{_ALIASES.get(name, name): value for name, value in arguments.items()}}
    return SearchQuery(given.pop("query", ""), **given)
