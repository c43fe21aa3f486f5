"""溯源 suyuan: web search that says what happened, and answers that can be traced to their sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Loaded when first used: `import suyuan` costs next to nothing.
_HOMES = {
    "SearchQuery": ".contract.types",
    "SearchResult": ".contract.types",
    "SearchPage": ".contract.types",
    "Attempt": ".contract.types",
    "Freshness": ".contract.freshness",
    "SearchEngine": ".contract.engine",
    "Engine": ".contract.engine",
    "SuyuanError": ".contract.errors",
    "SearchService": ".search.service",
    "Settings": ".config.settings",
    "load_settings": ".config.load",
    "open_house": ".wiring",
    "build_house": ".wiring",
}

__all__ = [
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
    "build_house",
    "load_settings",
    "open_house",
]

if TYPE_CHECKING:
    from .config.load import load_settings
    from .config.settings import Settings
    from .contract.engine import Engine, SearchEngine
    from .contract.errors import SuyuanError
    from .contract.freshness import Freshness
    from .contract.types import Attempt, SearchPage, SearchQuery, SearchResult
    from .search.service import SearchService
    from .wiring import build_house, open_house


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'suyuan' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value
