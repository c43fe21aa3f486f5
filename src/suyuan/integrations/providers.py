"""Tool providers: ``execute("web.search", arguments)`` gives ``{"items": …}`` or raises a ``SuyuanError``."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from ..client import AsyncClient
from ..config.engine_settings import api_key_variable
from ..config.load import DEFAULT_PLAN, backend_from_environment, load_settings
from ..config.settings import ConfigProblem, Settings
from ..core.causes.asked import BAD_ARGUMENT, UNKNOWN_ENGINE, UNKNOWN_TOOL
from ..core.engine import EngineSettings
from ..core.query import SearchQuery
from ..core.secret import Secret
from ..core.views import items_view, provider_view, results_view
from ..engines.registry import canonical, names
from ..messages.catalog import Text
from ..pages.passages import select
from ..shared import acquire, default_client, release, release_async
from ..tools.research_spec import RESEARCH, research_contract
from ..tools.specs import WEB_FETCH, WEB_SEARCH, web_fetch_contract, web_search_contract

# Other names for the same argument.
_ALIASES = {"max_results": "count", "locale": "lang", "time_range": "freshness", "site_filter": "allowed_domains"}
_NUMBER = {"type": "number"}
_PROVIDER_PARAMS: dict[str, Any] = {
    "query": {"type": "string"},
    "count": {"type": "integer"},
    "apiKey": {"type": "string"},
    "timeoutSeconds": _NUMBER,
    "cacheTtlMinutes": _NUMBER,
    "country": {"type": "string"},
    "freshness": {"type": "string"},
}
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str, "integer": int, "number": (int, float), "boolean": bool, "array": (list, tuple),
}  # fmt: skip


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
        question, most = given.get("question", ""), given.get("max_tokens", 100_000)
        chosen = await asyncio.to_thread(select, document.text, question, most)
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
    _fallback: ConfigProblem | None = None
    """Why the stub stands in for the backend that was asked for."""

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Build it by ``WEB_SEARCH_BACKEND``: an engine or a plan; unset means ``stub``.

        A name that nobody knows is a warning and ``stub``; each answer then says so in its ``provider_meta``.
        """
        plan, problem = backend_from_environment(environ)
        # The plan is decided, and reported, once: the default of the configuration is not asked here.
        provider = cls(load_settings(environ, overrides={DEFAULT_PLAN: plan}), engines=plan)
        provider._fallback = problem
        return provider

    async def aexecute(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run a tool."""
        answer = await super().aexecute(tool, arguments)
        if self._fallback is not None and "provider_meta" in answer:
            answer["provider_meta"]["fallback"] = str(self._fallback)
        return answer


class StubProvider(BuiltinProvider):
    """Fixed results, whatever is configured; it never uses the network."""

    def __init__(self) -> None:
        super().__init__(Settings(), engines="stub")


class WebSearchProvider:
    """One engine in the form of the provider interface: ``id``, ``is_available`` and ``search``.

    The result is ``{"query", "provider", "results", "count", "tookMs", "cached"}``, and each of the results ``{"title",
    "url", "description", "siteName"}``.
    Its clients are those that the process shares, and closed at exit, or by ``close``.
    """

    def __init__(self, id: str, settings: Settings | None = None) -> None:
        self.id = id
        """The engine as it was asked for, such as ``brave`` or ``duck-duck-scrape``."""
        self._name = canonical(id)
        self._settings = settings or load_settings()
        self._clients: dict[str, AsyncClient] = {}
        """By the key that a search was made with."""

    def is_available(self, options: Mapping[str, Any] | None = None) -> bool:
        """Whether the engine can be asked: it needs no key, or ``options`` or the configuration have one."""
        key = (options or {}).get("apiKey") or self._own.api_key
        return bool(key) or not api_key_variable(self._name)

    async def search(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Search for ``query``; a failure raises a ``SuyuanError``.

        The others are ``count``, ``apiKey``, ``timeoutSeconds``, ``cacheTtlMinutes``, ``country`` and ``freshness``.
        """
        given = _checked(params, _PROVIDER_PARAMS)
        usual = self._settings.search
        query = SearchQuery(
            given.get("query", ""),
            count=given.get("count", usual.max_results),
            country=given.get("country", ""),
            freshness=given.get("freshness") or None,
        )
        service = self._client(given.get("apiKey", "")).search_service.with_limits(
            seconds=given.get("timeoutSeconds", usual.seconds),
            cache_seconds=60 * given.get("cacheTtlMinutes", usual.cache_minutes),
        )
        page = await service.search(query, engines=self._name)
        return {**provider_view(page), "provider": self.id}

    def search_sync(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Like :meth:`search`, for synchronous callers."""
        return self._client("").bridge.run(self.search(params))

    def close(self) -> None:
        """Give the clients back; the last user closes them."""
        while self._clients:
            release(self._clients.popitem()[1])

    def _client(self, key: str) -> AsyncClient:
        if key not in self._clients:
            engine = self._own
            if key:
                engine = replace(engine, api_key=Secret(key))
            engines = {**self._settings.engines, self._name: engine}
            self._clients[key] = acquire(replace(self._settings, engines=engines))
        return self._clients[key]

    @property
    def _own(self) -> EngineSettings:
        return self._settings.engines.get(self._name, EngineSettings())


def get_web_search_provider(id: str, *, settings: Settings | None = None) -> WebSearchProvider:
    """The provider of that id: an engine of ``suyuan engines``, or ``duck-duck-scrape`` for DuckDuckGo."""
    if canonical(id) not in names():
        raise UNKNOWN_ENGINE(name=id, known=", ".join(("duck-duck-scrape", *names())))
    return WebSearchProvider(id, settings)


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
    return isinstance(value, _TYPES[kind]) and not (kind in ("integer", "number") and isinstance(value, bool))


def _query(arguments: dict[str, Any], count: int) -> SearchQuery:
    given: dict[str, Any] = {"count": count, **{_ALIASES.get(name, name): value for name, value in arguments.items()}}
    return SearchQuery(given.pop("query", ""), **given)
