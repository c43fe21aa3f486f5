"""溯源 Suyuan: web search that reports what happened, and answers that can be traced to their sources.

    page = suyuan.search("what is a bloom filter", count=5)
    document = suyuan.read("https://example.com/", question="who made it?")
    answer = suyuan.ask("how long is the longest bridge?")

These functions share one client, which is closed at exit. :class:`Client` and :class:`AsyncClient` have their own.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

# Not from ``typing``: ``python -m suyuan`` still looks for modules in the working directory when it comes here.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from .api import ask, read, search, search_many
    from .chat.events import Answer, Citation
    from .chat.session import PastTurn
    from .citations.linker import LinkedAnswer
    from .citations.processor import CitationProcessor
    from .citations.registry import Source
    from .client import AsyncClient
    from .config.load import load_settings
    from .config.settings import Settings
    from .core.document import Document, Passage
    from .core.engine import Engine, EngineSettings, SearchEngine
    from .core.errors import (
        AuthError,
        BadGateway,
        InvalidInput,
        NetworkError,
        SuyuanError,
        Timeout,
        ToolNotFound,
        WebBlocked,
        WebParseError,
        WebProviderError,
    )
    from .core.freshness import Freshness
    from .core.query import QueryText, SearchOptions, SearchParams, SearchQuery
    from .core.result import Attempt, EngineResults, SearchPage, SearchResult
    from .core.secret import Secret
    from .core.wire import Request, Response
    from .integrations.providers import web_search
    from .search.service import SearchService
    from .sync_client import Client

__version__ = "0.2.0"

# Loaded when first used: `import suyuan` costs next to nothing.
_MODULES = {
    ".chat.events": ("Answer", "Citation"),
    ".chat.session": ("PastTurn",),
    ".citations.linker": ("LinkedAnswer",),
    ".citations.processor": ("CitationProcessor",),
    ".citations.registry": ("Source",),
    ".client": ("AsyncClient",),
    ".config.load": ("load_settings",),
    ".config.settings": ("Settings",),
    ".core.document": ("Document", "Passage"),
    ".core.engine": ("Engine", "EngineSettings", "SearchEngine"),
    ".core.errors": (
        "AuthError", "BadGateway", "InvalidInput", "NetworkError", "SuyuanError", "Timeout", "ToolNotFound",
        "WebBlocked", "WebParseError", "WebProviderError",
    ),
    ".core.freshness": ("Freshness",),
    ".core.query": ("QueryText", "SearchOptions", "SearchParams", "SearchQuery"),
    ".core.result": ("Attempt", "EngineResults", "SearchPage", "SearchResult"),
    ".core.secret": ("Secret",),
    ".core.wire": ("Request", "Response"),
    ".integrations.providers": ("web_search",),
    ".search.service": ("SearchService",),
    ".sync_client": ("Client",),
    ".api": ("ask", "read", "search_many"),
}  # fmt: skip
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "Answer", "AsyncClient", "Attempt", "AuthError", "BadGateway", "Citation", "CitationProcessor", "Client",
    "Document", "Engine", "EngineResults", "EngineSettings", "PastTurn", "Freshness", "InvalidInput",
    "LinkedAnswer", "NetworkError", "Passage", "QueryText", "Request", "Response", "SearchEngine", "SearchOptions",
    "SearchPage", "SearchParams", "SearchQuery", "SearchResult", "SearchService", "Secret", "Settings", "Source",
    "SuyuanError", "Timeout", "ToolNotFound", "WebBlocked", "WebParseError", "WebProviderError", "__version__",
    "ask", "load_settings", "read", "search", "search_many", "web_search",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'suyuan' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _CallablePackage(ModuleType):
    """``suyuan.search`` is a folder and a function; whichever is imported first, it can be called."""

    def __call__(self, *args: Any, **keywords: Any) -> SearchPage:
        result: SearchPage = import_module(".api", __name__).search(*args, **keywords)
        return result


import_module(".search", __name__).__class__ = _CallablePackage
