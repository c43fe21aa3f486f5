"""The library as a search engine: finds the user's own documents, without a network."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..core.causes.library import LIBRARY_EMPTY
from ..core.query import SearchQuery
from ..core.result import LIBRARY, Details, SearchResult
from .archive_engine import MIN_COVERAGE, plain_snippet
from .document_parts import page_at
from .library import Library
from .page_archive import ArchiveHit


class LibraryEngine:
    """Finds documents of the library that cover the query well enough."""

    name = LIBRARY
    title = "Library (own documents)"
    live_web = False
    local = True

    base_url = ""

    def __init__(self, library: Callable[[], Library]) -> None:
        # Whose library it is is known only when it is asked.
        self._library = library

    async def search(self, query: SearchQuery, num_results: int) -> Sequence[SearchResult]:
        """Return at most ``num_results`` documents; raises ``LIBRARY_EMPTY`` where nothing was added."""
        library = self._library()
        if not library.exists():
            raise LIBRARY_EMPTY(engine=self.name)
        hits = await library.search(query.text, num_results)
        return [await self._result(hit) for hit in hits if hit.coverage >= MIN_COVERAGE]

    async def _result(self, hit: ArchiveHit) -> SearchResult:
        document, page = hit.document, page_at(hit.document, hit.start)
        url = f"{document.final_url}#page={page}" if page else document.final_url
        details = Details(file=await self._library().path_of(document), page=page, cut=document.cut)
        return SearchResult(document.title, url, plain_snippet(hit.snippet), LIBRARY, details=details)
