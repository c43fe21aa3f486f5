"""Everything that an engine is written with, for the engines here and those of other packages.

``JsonEngine`` and ``PageEngine`` are the base classes for APIs and for result pages; ``Engine`` is that of both.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..core.causes.engine import (
    API_SAID_NO,
    CAPTCHA,
    CONSENT,
    FORBIDDEN,
    JAVASCRIPT_SHELL,
    KEY_REJECTED,
    QUOTA_SPENT,
    RATE_LIMITED,
    SOFT_BLOCK,
    UNREADABLE,
    UPSTREAM_BROKEN,
)
from ..core.engine import Engine, EngineSettings, Exchange
from ..core.freshness import Freshness
from ..core.http_status import check_status, is_challenge, redirect_domain, retry_after
from ..core.query import SearchQuery
from ..core.result import Details, EngineResults, SearchResult
from ..core.secret import Secret
from ..core.setting import InvalidValue, Setting, ValueKind, choice, flag, http_url, names, number, text, whole
from ..core.wire import Request, Response
from ..text.dates import read_date
from .json_kit import JsonEngine, day_of, error_text, json_object, number_of, parse_rows, plain_text, texts, value_at
from .query_kit import COUNTRIES, OneRequestEngine, is_ordinary, locale, query_text, site_operators, skipped

if TYPE_CHECKING:
    from .html_kit import attribute, distinct, first, has_class, parse_html, text_of
    from .page_kit import PageEngine

# Read when they are first used, because the HTML parser takes time to load and engines with an API do not need it.
_IN = {"PageEngine": "page_kit"} | dict.fromkeys(
    ("attribute", "distinct", "first", "has_class", "parse_html", "text_of"), "html_kit"
)

__all__ = [
    "API_SAID_NO", "CAPTCHA", "CONSENT", "COUNTRIES", "FORBIDDEN", "JAVASCRIPT_SHELL", "KEY_REJECTED",
    "QUOTA_SPENT", "RATE_LIMITED", "SOFT_BLOCK", "UNREADABLE", "UPSTREAM_BROKEN", "Details", "Engine",
    "EngineResults", "EngineSettings", "Exchange", "Freshness", "InvalidValue", "JsonEngine", "OneRequestEngine",
    "PageEngine", "Request", "Response", "SearchQuery", "SearchResult", "Secret", "Setting", "ValueKind",
    "attribute", "check_status", "choice", "day_of", "distinct", "error_text", "first", "flag", "has_class", "http_url",
    "is_challenge", "is_ordinary", "json_object", "locale", "names", "number", "number_of", "parse_html",
    "parse_rows", "plain_text", "query_text", "read_date", "redirect_domain", "retry_after", "site_operators",
    "skipped", "text", "text_of", "texts", "value_at", "whole",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_IN[name]}", __package__), name)
