"""溯源 suyuan: web search that says what happened, and answers that can be traced to their sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Loaded when first used: `import suyuan` costs next to nothing.
_HOMES = {
    "SearchQuery": ".core.query",
    "SearchResult": ".core.result",
    "SearchPage": ".core.page",
    "Attempt": ".core.receipt",
    "Freshness": ".core.freshness",
    "SearchEngine": ".core.engine",
    "Engine": ".core.engine",
    "SuyuanError": ".core.errors",
    "SearchService": ".search.service",
    "Settings": ".config.settings",
    "load_settings": ".config.load",
    "AsyncClient": ".client",
}

__all__ = [
    "AsyncClient",
    "Attempt",
    "Engine",
    "Freshness",
    "SearchEngine",
    "SearchPage",
    "SearchQuery",
    "SearchResult",
    "SearchService",
    "Settings",
    "SuyuanError",
    "__version__",
    "load_settings",
]

if TYPE_CHECKING:
    from .client import AsyncClient
    from .config.load import load_settings
    from .config.settings import Settings
    from .core.engine import Engine, SearchEngine
    from .core.errors import SuyuanError
    from .core.freshness import Freshness
    from .core.page import SearchPage
    from .core.query import SearchQuery
    from .core.receipt import Attempt
    from .core.result import SearchResult
    from .search.service import SearchService


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'suyuan' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value
