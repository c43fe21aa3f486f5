"""``Recall``: what the chat answers from when no engine could: pages that were read before, the product's guides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..core.errors import SuyuanError
from ..core.query import SearchQuery
from ..core.result import ARCHIVE, GUIDES, Attempt, SearchPage
from ..guides.documents import about_product
from ..pages.archive_engine import ArchiveEngine
from ..pages.async_archive import AsyncArchive
from ..search.normalize import matching, ranked, unique


@dataclass(frozen=True, slots=True)
class Recall:
    """Searches the archive for the chat; the guides answer only questions about the product."""

    archive: Callable[[], AsyncArchive | None]

    async def search(self, query: SearchQuery, error: SuyuanError) -> SearchPage | None:
        """A page of what is known about ``query``, with the receipts of the search that failed; None for nothing."""
        archive = self.archive()
        if archive is None:
            return None
        names = (GUIDES, ARCHIVE) if about_product(query.text) else (ARCHIVE,)
        try:
            found = [one for name in names for one in await ArchiveEngine(archive, name).search(query, query.count)]
        except SuyuanError:
            # The failure of the search is what matters.
            return None
        results = ranked(unique(matching(found, query)), query.count)
        own = [Attempt(name, "ok", count) for name in names if (count := sum(r.engine == name for r in results))]
        return SearchPage(query, results, (*error.attempts, *own), 0) if results else None
