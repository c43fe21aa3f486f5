"""The archive as a search engine: finds pages that were read before, without a network."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ..core.query import SearchQuery
from ..core.result import ARCHIVE, GUIDES, Details, SearchResult
from .async_archive import AsyncArchive
from .page_archive import ArchiveHit

# A page with less than half of the words of the query does not answer it.
MIN_COVERAGE = 0.5
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
# A snippet is one line: headings stand in the middle of it.
_MARKUP = re.compile(r"`+|\*\*|(?:^|(?<=\s))#{1,6}\s+")


class ArchiveEngine:
    """Finds archived pages that cover the query well enough; as ``guides``, the product's own pages."""

    title = "Archive (offline)"
    live_web = False
    local = True

    base_url = ""

    def __init__(self, archive: AsyncArchive | Callable[[], AsyncArchive | None], name: str = ARCHIVE) -> None:
        self.name = name
        # Whose archive it is may be known only when it is asked.
        self._archive = archive if callable(archive) else lambda: archive

    async def search(self, query: SearchQuery, num_results: int) -> Sequence[SearchResult]:
        """Return at most ``num_results`` pages of the archive."""
        archive = self._archive()
        hits = await archive.search(query.text, num_results, guides=self.name == GUIDES) if archive else []
        return [self._result(hit) for hit in hits if hit.coverage >= MIN_COVERAGE]

    def _result(self, hit: ArchiveHit) -> SearchResult:
        found = hit.document
        return SearchResult(
            found.title,
            found.final_url,
            plain_snippet(hit.snippet),
            self.name,
            published_at=found.published_at,
            details=Details(cut=found.cut) if found.cut else None,
            fetched_at=found.fetched_at,
        )


def plain_snippet(text: str) -> str:
    """A snippet without Markdown, as other engines return it."""
    return _MARKUP.sub("", _LINK.sub(r"\1", text))
