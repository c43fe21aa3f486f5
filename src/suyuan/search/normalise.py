"""From what an engine found to what callers get: real addresses, each page once, ranked from 1."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from ..contract.address import is_page, page_key
from ..contract.types import SearchQuery, SearchResult


def normalise(results: Iterable[SearchResult], query: SearchQuery) -> tuple[SearchResult, ...]:
    """Drop what is no page or outside the asked domains, keep each page once, and write the ranks."""
    filtered = query.allowed_domains or query.blocked_domains
    kept: dict[str, SearchResult] = {}
    for result in results:
        if is_page(result.url) and (not filtered or _wanted(result.source, query)):
            kept.setdefault(page_key(result.url), result)
    return tuple(result.ranked(rank) for rank, result in enumerate(islice(kept.values(), query.count), 1))


def _wanted(domain: str, query: SearchQuery) -> bool:
    if query.allowed_domains and not any(_within(domain, name) for name in query.allowed_domains):
        # Baidu hides the page behind a link of its own: only Baidu itself can have applied the filter.
        return domain == "baidu.com"
    return not any(_within(domain, name) for name in query.blocked_domains)


def _within(domain: str, name: str) -> bool:
    return domain == name or domain.endswith("." + name)
