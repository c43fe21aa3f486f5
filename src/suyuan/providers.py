"""Tool providers: ``execute("web.search", args)`` gives ``{"items": …}``, or raises one of our errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from .config.load import backend_from_environment, load_settings
from .config.settings import Settings
from .contract.causes import BAD_ARGUMENT, UNKNOWN_TOOL
from .contract.types import SearchPage, SearchQuery
from .contract.views import items_view, results_view
from .tools.specs import WEB_SEARCH, web_search_contract
from .wiring import House, build_house

# Other names for the same argument.
_SAME = {"max_results": "count", "locale": "lang", "time_range": "freshness", "site_filter": "allowed_domains"}


class BuiltinProvider:
    """The tools of a house, with the plan of its settings (``auto`` where nothing is configured)."""

    engines = ""

    def __init__(self, settings: Settings | None = None, *, engines: str = "") -> None:
        self._house: House = build_house(settings)
        self.engines = engines or self.engines

    def schemas(self) -> dict[str, dict[str, Any]]:
        """The JSON Schemas of the arguments, by tool."""
        return {WEB_SEARCH.dotted: web_search_contract()}

    def execute(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run a tool synchronously."""
        query = self._query(tool, arguments)
        return items_view(self._house.search.search_sync(query, engines=self.engines))

    async def aexecute(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Run a tool."""
        query = self._query(tool, arguments)
        return items_view(await self._house.search.search(query, engines=self.engines))

    def close(self) -> None:
        """Close what was opened by synchronous calls."""
        self._house.close_sync()

    async def aclose(self) -> None:
        """Close what was opened."""
        await self._house.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def _query(self, tool: str, arguments: Mapping[str, Any]) -> SearchQuery:
        known = self.schemas()
        if tool not in known:
            raise UNKNOWN_TOOL(name=tool, known=", ".join(known))
        return _query_of(arguments, self._house.settings.search.max_results)


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
    house = build_house(settings)
    try:
        page: SearchPage = house.search.search_sync(query, engines=engines)
        return results_view(page)
    finally:
        house.close_sync()


def _query_of(arguments: Mapping[str, Any], count: int) -> SearchQuery:
    allowed = web_search_contract()["properties"]
    given: dict[str, Any] = {"count": count}
    for name, value in arguments.items():
        if name not in allowed:
            raise BAD_ARGUMENT(name=name, why=f"there is no such argument; there are: {', '.join(allowed)}")
        if value is not None:
            given[_SAME.get(name, name)] = _checked(name, value, allowed[name])
    text = given.pop("query", "")
    for name in ("allowed_domains", "blocked_domains"):
        if isinstance(given.get(name), str):
            given[name] = tuple(part for part in given[name].split(",") if part.strip())
    return SearchQuery(text, **given)


def _checked(name: str, value: Any, schema: dict[str, Any]) -> Any:
    kinds = {"string": str, "integer": int, "boolean": bool, "array": (list, tuple)}
    wanted = [schema["type"]] if "type" in schema else [choice["type"] for choice in schema["oneOf"]]
    fits = any(isinstance(value, kinds[kind]) and not (kind == "integer" and isinstance(value, bool)) for kind in wanted)  # type: ignore[arg-type]
    # The number of results has an error of its own, which says what it may be.
    if not fits and name != "max_results":
        raise BAD_ARGUMENT(name=name, why=f"must be of type {' or '.join(wanted)}, not {type(value).__name__}")
    return value
