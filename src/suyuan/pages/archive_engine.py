"""The archive as a search engine: what was read before, without a network."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from ..core.query import SearchQuery
from ..core.result import SearchResult
from .archive import Archive

# A page that shares less than half of the question's words is not an answer to it.
_LEAST = 0.5


_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKUP = re.compile(r"`+|\*\*|^#{1,6}\s+", re.M)


class ArchiveEngine:
    """Finds pages that were read, where they cover the question well enough."""

    name = "archive"
    title = "Archive (offline)"

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.base_url = archive.path

    async def search(self, query: SearchQuery, num_results: int) -> Sequence[SearchResult]:
        """Return at most ``num_results`` pages of the archive."""
        hits = await asyncio.to_thread(self._archive.search, query.text, num_results)
        found = [(hit.document, _plain(hit.snippet)) for hit in hits if hit.coverage >= _LEAST]
        return [SearchResult(d.title, d.final_url, text, self.name, published_at=d.published_at) for d, text in found]


def _plain(text: str) -> str:
    """A snippet as other engines give it: the archive holds Markdown."""
    return _MARKUP.sub("", _LINK.sub(r"\1", text))
