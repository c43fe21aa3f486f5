"""``suyuan.search``, ``search_many``, ``read`` and ``ask``: methods of one client, closed at exit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Unpack

from .core.document import Document
from .core.errors import SuyuanError
from .core.query import SearchOptions, SearchQuery
from .core.result import SearchPage
from .shared import default_client

if TYPE_CHECKING:
    from .chat.events import Answer
    from .chat.session import AskParams


def search(query: SearchQuery | str, **options: Unpack[SearchOptions]) -> SearchPage:
    """See :meth:`AsyncClient.search`."""
    client = default_client()
    return client.bridge.run(client.search(query, **options))


def search_many(
    queries: Iterable[SearchQuery | str], **options: Unpack[SearchOptions]
) -> list[SearchPage | SuyuanError]:
    """See :meth:`AsyncClient.search_many`."""
    client = default_client()
    return client.bridge.run(client.search_many(queries, **options))


def read(
    url: str, *, question: str = "", max_tokens: int = 4000, fresh: bool = False, render: bool = False
) -> Document:
    """See :meth:`AsyncClient.read`."""
    client = default_client()
    return client.bridge.run(client.read(url, question=question, max_tokens=max_tokens, fresh=fresh, render=render))


def ask(question: str, **params: Unpack[AskParams]) -> Answer:
    """See :meth:`AsyncClient.ask`."""
    client = default_client()
    return client.bridge.run(client.ask(question, **params))
