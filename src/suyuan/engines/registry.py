"""The engines by name: the built-in ones, then those of installed packages (entry points ``suyuan.engines``)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..core.causes.asked import UNKNOWN_ENGINE
from ..core.causes.engine import ENGINE_BUG
from ..core.engine import EngineSettings, SearchEngine

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "suyuan.engines"

BUILT_IN = {
    "stub": "Stub", "searxng": "SearXNG", "brave": "Brave", "bocha": "Bocha", "ddg_html": "DuckDuckGo",
    "baidu_html": "Baidu", "bing_html": "Bing", "google": "Google", "ddg_news": "DdgNews", "bing_news": "BingNews",
    "ddg_images": "DdgImages", "bing_images": "BingImages", "brave_html": "BraveHtml", "yahoo": "Yahoo",
    "so360": "So360", "sogou": "Sogou", "mojeek": "Mojeek", "startpage": "Startpage", "ecosia": "Ecosia",
    "wikipedia": "Wikipedia", "wikidata": "Wikidata", "openalex": "OpenAlex", "crossref": "Crossref",
    "arxiv": "Arxiv", "pubmed": "PubMed", "semantic_scholar": "SemanticScholar", "stackexchange": "StackExchange",
    "github": "GitHub", "hackernews": "HackerNews", "gdelt": "Gdelt", "openlibrary": "OpenLibrary",
    "marginalia": "Marginalia", "tavily": "Tavily", "exa": "Exa", "serper": "Serper", "firecrawl": "Firecrawl",
    "jina": "Jina", "kagi": "Kagi", "google_cse": "GoogleCse", "serpapi": "SerpApi",
}  # fmt: skip
"""The class of each engine, in the module of its name."""

NEED_KEY = frozenset(
    {"brave", "bocha", "tavily", "exa", "serper", "firecrawl", "jina", "kagi", "google_cse", "serpapi"}
)
"""The engines that cannot be used without a key, which is known without importing them."""

ALIASES = {
    "duck-duck-scrape": "ddg_html", "duckduckgo": "ddg_html", "ddg": "ddg_html", "baidu": "baidu_html",
    "bing": "bing_html", "searx": "searxng", "brave_search": "brave", "360": "so360", "360search": "so360",
    "stackoverflow": "stackexchange", "hn": "hackernews", "google_pse": "google_cse", "s2": "semantic_scholar",
}  # fmt: skip

Factory = Callable[[EngineSettings | None], SearchEngine]


def names() -> tuple[str, ...]:
    """The names of all engines, the built-in ones first."""
    return (*BUILT_IN, *(name for name in _installed() if name not in BUILT_IN))


def canonical(name: str) -> str:
    """The name of the engine that ``name`` means, which may be an alias known from other products."""
    name = name.strip()
    return name if name in BUILT_IN or name in _installed() else ALIASES.get(name.lower(), name)


def load(name: str) -> Factory:
    """The class or function that makes the engine ``name``; only this imports the engine."""
    name = canonical(name)
    if name in BUILT_IN:
        factory: Any = getattr(import_module(f".{name}", __package__), BUILT_IN[name])
        return factory  # type: ignore[no-any-return]
    entry = _installed().get(name)
    if entry is None:
        raise UNKNOWN_ENGINE(name=name, known=", ".join(names()))
    try:
        loaded: Any = entry.load()
    except Exception as error:
        # A third-party package: whatever its import raises is a failure of that engine.
        raise ENGINE_BUG(engine=name, what=f"{entry.value} cannot be imported: {error}") from error
    return loaded  # type: ignore[no-any-return]


@cache
def _installed() -> dict[str, EntryPoint]:
    if not any(map(_may_have_engines, sys.path)):
        return {}
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _may_have_engines(folder: str) -> bool:
    """Whether a package in ``folder`` names an engine: loading importlib.metadata takes longer than many a search."""
    try:
        entries = list(os.scandir(folder or "."))
    except OSError:
        # A zip archive, or nothing at all.
        return os.path.isfile(folder)
    return any(_names_engines(entry.path) for entry in entries if entry.name.endswith((".dist-info", ".egg-info")))


def _names_engines(package: str) -> bool:
    try:
        with open(os.path.join(package, "entry_points.txt"), "rb") as file:
            return GROUP.encode() in file.read()
    except OSError:
        return False
