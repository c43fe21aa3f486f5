"""``Client``: the client for synchronous callers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self, Unpack

from .client import AsyncClient
from .config.settings import Settings
from .core.errors import SuyuanError
from .core.query import SearchOptions, SearchQuery
from .core.result import SearchPage

if TYPE_CHECKING:
    from .chat.events import Answer
    from .chat.session import AskParams
    from .core.document import Document
    from .research.report import Research
    from .research.request import ResearchParams


class Client:
    """:class:`AsyncClient` for synchronous callers, on an event loop in a thread of its own."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._async = AsyncClient(settings)
        self._run = self._async.bridge.run

    @property
    def settings(self) -> Settings:
        """The settings that this client was made with."""
        return self._async.settings

    def search(self, query: SearchQuery | str, **options: Unpack[SearchOptions]) -> SearchPage:
        """See :meth:`AsyncClient.search`."""
        return self._run(self._async.search(query, **options))

    def search_many(
        self, queries: Iterable[SearchQuery | str], **options: Unpack[SearchOptions]
    ) -> list[SearchPage | SuyuanError]:
        """See :meth:`AsyncClient.search_many`."""
        return self._run(self._async.search_many(queries, **options))

    def read(
        self, url: str, *, question: str = "", max_tokens: int = 4000, fresh: bool = False, render: bool = False
    ) -> Document:
        """See :meth:`AsyncClient.read`."""
        return self._run(self._async.read(url, question=question, max_tokens=max_tokens, fresh=fresh, render=render))

    def ask(self, question: str, **params: Unpack[AskParams]) -> Answer:
        """See :meth:`AsyncClient.ask`."""
        return self._run(self._async.ask(question, **params))

    def research(self, question: str, **params: Unpack[ResearchParams]) -> Research:
        """See :meth:`AsyncClient.research`."""
        return self._run(self._async.research(question, **params))

    def close(self) -> None:
        """Close what was opened."""
        self._async.close_sync()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
