"""``Web``: what research needs of a client: to search, and to read a page."""

from __future__ import annotations

from typing import Protocol

from ..core.document import Document
from ..core.query import SearchQuery
from ..core.result import SearchPage


class Web(Protocol):
    """Searches and reads; :class:`AsyncClient` does."""

    async def search(self, query: SearchQuery | str, *, engines: str = "", max_wait: float = 0.0) -> SearchPage:
        """Search."""

    async def read(self, url: str, *, fresh: bool = False) -> Document:
        """Read a page."""
