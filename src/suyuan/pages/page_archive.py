"""``PageArchive``: what an archive of pages does, be it a file of this machine or a database that many share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from ..core.document import Document


@dataclass(frozen=True, slots=True)
class ArchiveHit:
    """A document that a search of the archive found, and the share of the query words that it contains."""

    document: Document
    coverage: float
    snippet: str
    start: int = 0
    """Where in the text the snippet was found."""


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """One entry of the list of archived documents."""

    id: int
    url: str
    title: str
    fetched_at: str
    size: int


class PageArchive(Protocol):
    """The documents that one person has read; safe for threads. Every failure is a cause."""

    def put_all(self, documents: Iterable[tuple[Document, str]]) -> None:
        """Store documents, each with the words of its text, all or none."""

    def pin(self, documents: Iterable[Document]) -> bool:
        """Make these the pages that are never removed."""

    def get(self, url: str) -> Document | None:
        """The latest version of the page at ``url``."""

    def version(self, sha256: str) -> Document | None:
        """The document with exactly this text."""

    def by_number(self, number: int) -> Document | None:
        """The document with this number."""

    def newest(self, limit: int = 50) -> list[ArchiveEntry]:
        """The latest documents."""

    def export(self) -> Iterator[Document]:
        """All documents, oldest first."""

    def search(self, question: str, limit: int = 10, *, guides: bool = False) -> list[ArchiveHit]:
        """The documents that match ``question``, best first."""

    def forget(self, url: str) -> int:
        """Remove all versions of the page at ``url``."""

    def tidy(self) -> bool:
        """Do one small step of keeping within the limits; return whether there may be more to do."""

    def prune(self) -> int:
        """Remove everything that is too old or too much."""

    def cited_count(self) -> int:
        """How many documents are kept because answers cite them."""

    def check(self) -> str:
        """``ok``, or what is wrong."""

    def __len__(self) -> int: ...

    def close(self) -> None:
        """Close it."""
