"""Joining the results of several engines by reciprocal rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..core.result import SearchResult
from ..core.urls import page_key

# Small, so that the first places count: on public rank-aggregation data 10 is a little better than the customary 60.
K = 10


def fuse(lists: Sequence[Sequence[SearchResult]]) -> tuple[SearchResult, ...]:
    """Merge ranked lists: a page found by several engines rises, and keeps the best text that any of them had."""
    scores: dict[str, float] = {}
    merged: dict[str, SearchResult] = {}
    for results in lists:
        seen: set[str] = set()
        for rank, result in enumerate(results, 1):
            key = page_key(result.url)
            if key in seen:
                continue
            seen.add(key)
            scores[key] = scores.get(key, 0.0) + 1 / (K + rank)
            merged[key] = _joined(merged[key], result) if key in merged else result
    # sorted() is stable: pages with equal scores stay in the order in which the engines were named.
    return tuple(merged[key] for key in sorted(scores, key=lambda key: -scores[key]))


def _joined(first: SearchResult, other: SearchResult) -> SearchResult:
    return replace(
        first,
        title=first.title or other.title,
        snippet=first.snippet or other.snippet,
        summary=first.summary or other.summary,
        published_at=first.published_at or other.published_at,
        details=first.details or other.details,
        also_from=tuple(dict.fromkeys((*first.also_from, other.engine))),
    )
