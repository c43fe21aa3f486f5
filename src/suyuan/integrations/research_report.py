"""The tool ``research_report``: a research job whose pages are read by the tool ``web.fetch``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import fields
from typing import Any

from ..client import AsyncClient
from ..core.document import Document
from ..core.query import SearchQuery
from ..core.result import SearchPage
from ..research.report import Research
from ..research.service import ResearchService
from ..store.research import ResearchStore

Execute = Callable[[str, Mapping[str, Any]], Awaitable[dict[str, Any]]]
_DOCUMENT = {field.name for field in fields(Document)} - {"passages"}
_LIMITS = {"max_pages": "pages", "max_searches": "searches", "max_seconds": "seconds"}


class ToolWeb:
    """A web whose pages come from ``web.fetch`` of a tool provider."""

    def __init__(self, client: AsyncClient, execute: Execute, engines: str) -> None:
        self._client = client
        self._execute = execute
        self._engines = engines

    async def search(self, query: SearchQuery | str, *, engines: str = "", max_wait: float = 0.0) -> SearchPage:
        """Search with the engines of the provider."""
        return await self._client.search(query, engines=engines or self._engines, max_wait=max_wait)

    async def read(self, url: str, *, fresh: bool = False) -> Document:
        """Read a page with the tool."""
        item = (await self._execute("web.fetch", {"url": url, "fresh": fresh}))["items"][0]
        known = {name: value for name, value in item.items() if name in _DOCUMENT and value is not None}
        return Document(**{**known, "notes": tuple(known.get("notes", ()))})


async def research_report(
    client: AsyncClient, execute: Execute, engines: str, given: Mapping[str, Any]
) -> dict[str, Any]:
    """The report: ``{"report", "sources", "fetch_summaries": [{url, final_url, title, status, error}], …}``."""
    store = ResearchStore(client.settings.store_address or "sqlite://")
    service = ResearchService(store, ToolWeb(client, execute, engines), client.settings.research)
    try:
        job = await service.create(str(given.get("question") or ""), _options(given))
        research = Research.of(await service.wait(job.id)).as_dict()
    finally:
        await service.close()
    names = ("id", "state", "report", "sources", "fetch_summaries", "claims", "disagreements", "notices")
    why = {"failure": research["failure"]} if "failure" in research else {}
    return {**{name: research.get(name, []) for name in names}, **why}


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "depth": given.get("depth") or "quick",
        "lang": given.get("lang") or "",
        "scope": {name: given[name] for name in ("focus", "freshness") if given.get(name)},
        "budget": {limit: given[name] for name, limit in _LIMITS.items() if given.get(name)},
    }
