"""``Document``: a page that was read, as Markdown, with the address, time and hash of the reading."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from .urls import domain_of


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document's text: ``text == document.text[start:end]``; the id depends on the words alone."""

    id: str
    start: int
    end: int
    text: str
    heading: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The published shape of a passage."""
        return {"id": self.id, "start": self.start, "end": self.end, "heading": self.heading, "text": self.text}


@dataclass(frozen=True, slots=True)
class Document:
    """The main text of a page, and where and when it was read."""

    url: str
    """As it was asked for."""
    final_url: str
    """Where it was found, after all redirects."""
    title: str
    text: str
    content_type: str
    fetched_at: str
    """ISO 8601, UTC."""
    canonical_url: str = ""
    author: str = ""
    site_name: str = ""
    published_at: str | None = None
    language: str = ""
    status: int = 200
    links: tuple[tuple[str, str], ...] = ()
    etag: str = ""
    last_modified: str = ""
    notes: tuple[str, ...] = ()
    from_archive: bool = False
    private: bool = False
    """Whether it is a document of the user: its text must not reach an engine."""
    passages: tuple[Passage, ...] = ()
    """The passages that matter for the question, where one was asked."""

    @property
    def sha256(self) -> str:
        """The hash of the text: two readings with the same hash read the same."""
        return hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()

    @property
    def source(self) -> str:
        """The domain of the page."""
        return domain_of(self.final_url)

    def as_dict(self) -> dict[str, Any]:
        """The published shape of a document."""
        return {
            "url": self.url,
            "final_url": self.final_url,
            "canonical_url": self.canonical_url or None,
            "title": self.title,
            "text": self.text,
            "content_type": self.content_type,
            "author": self.author or None,
            "site_name": self.site_name or None,
            "published_at": self.published_at,
            "language": self.language or None,
            "fetched_at": self.fetched_at,
            "sha256": self.sha256,
            "status": self.status,
            "from_archive": self.from_archive,
            "notes": list(self.notes),
        }
