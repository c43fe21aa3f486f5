"""From what an engine found to what callers get: real addresses, each page once, ranked from 1."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, islice

from ..core.query import SearchQuery
from ..core.result import SearchResult
from ..core.urls import is_page, page_key, within

_HIDDEN = re.compile(r"https?://www\.baidu\.com/link\?")


def matching(results: Iterable[SearchResult], query: SearchQuery) -> tuple[SearchResult, ...]:
    """What is a page, and in the asked domains."""
    filtered = query.allowed_domains or query.blocked_domains
    return tuple(result for result in results if is_page(result.url) and (not filtered or _in_domains(result, query)))


def unique(*lists: Iterable[SearchResult]) -> tuple[SearchResult, ...]:
    """Each page once."""
    kept: dict[str, SearchResult] = {}
    for result in chain(*lists):
        kept.setdefault(page_key(result.url), result)
    return tuple(kept.values())


def ranked(results: Iterable[SearchResult], most: int) -> tuple[SearchResult, ...]:
    """The first ``most`` of ``results``, with their ranks."""
    return tuple(result.ranked(rank) for rank, result in enumerate(islice(results, most), 1))


def _in_domains(result: SearchResult, query: SearchQuery) -> bool:
    domain = result.source
    if any(within(domain, name) for name in query.blocked_domains):
        return False
    # Baidu hides the page behind a link of its own: only Baidu itself can have applied the filter.
    hidden = result.engine == "baidu_html" and _HIDDEN.match(result.url)
    return not query.allowed_domains or bool(hidden) or any(within(domain, name) for name in query.allowed_domains)
