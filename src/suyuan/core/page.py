"""``SearchPage``: the results of a search and the receipts of its engines."""

from __future__ import annotations

from dataclasses import dataclass

from .query import SearchQuery
from .receipt import Attempt
from .result import SearchResult


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The answer to a search: results ranked from 1, and the receipt of every engine that was asked."""

    query: SearchQuery
    results: tuple[SearchResult, ...]
    attempts: tuple[Attempt, ...]
    took_ms: int
    cached: bool = False

    @property
    def engine(self) -> str:
        """The engine, or engines joined by ``+``, that the results came from."""
        return "+".join(dict.fromkeys(a.engine for a in self.attempts if a.outcome in ("ok", "empty")))
