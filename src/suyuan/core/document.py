"""``Document``: a page that was read, as Markdown, with the address, time and hash of the reading."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..messages.catalog import text
from ..text.shown_address import shown_address
from ..text.visible import shown_line, shown_text
from .urls import domain_of

PIECE = 1_000_000
"""So many characters of a text are worked on at once: other threads wait for as long as that takes."""


def pieces(text: str) -> Iterator[str]:
    """A text of any length in pieces of ``PIECE`` characters."""
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


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
class Cut:
    """How much of a document was read where a limit held: ``read`` of ``total`` units."""

    unit: str
    """``pages``, ``chapters``, ``entries``, ``characters`` (of the text or its source) or ``bytes`` (of its XML)."""
    read: int
    total: int

    def as_dict(self) -> dict[str, Any]:
        """The stored shape of a cut."""
        return {"unit": self.unit, "read": self.read, "total": self.total}

    def message(self, lang: str = "en") -> str:
        """How much was read, in words: the one wording for every place that shows it."""
        return text(lang, f"cut.{self.unit}", read=f"{self.read:,}", total=f"{self.total:,}", n=self.total)

    def published(self, lang: str = "en") -> dict[str, Any]:
        """The published shape of a cut."""
        return {**self.as_dict(), "message": self.message(lang)}


def cut_from(data: Mapping[str, Any] | None) -> Cut | None:
    """Read what ``as_dict`` has written of a document that was cut; None of another."""
    return Cut(str(data["unit"]), int(data["read"]), int(data["total"])) if data else None


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
    cut: Cut | None = None
    """Set where only a part of it was read: what is missing is said wherever the document is shown."""
    passages: tuple[Passage, ...] = ()
    """The passages that matter for the question, where one was asked."""

    @property
    def sha256(self) -> str:
        """The hash of the text: two readings with the same hash read the same."""
        digest = hashlib.sha256()
        for piece in pieces(self.text):
            digest.update(piece.encode("utf-8", "replace"))
        return digest.hexdigest()

    def shown(self) -> Document:
        """The same document with texts and addresses that can be shown as they are."""
        return replace(
            self,
            url=shown_address(self.url) or self.url,
            final_url=shown_address(self.final_url) or self.final_url,
            canonical_url=shown_address(self.canonical_url),
            title=shown_line(self.title),
            text=shown_text(self.text),
            author=shown_line(self.author),
            site_name=shown_line(self.site_name),
            links=tuple((shown_line(title), url) for title, link in self.links if (url := shown_address(link))),
        )

    @property
    def source(self) -> str:
        """The domain of the page."""
        return domain_of(self.final_url)

    def as_dict(self, lang: str = "en") -> dict[str, Any]:
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
            "cut": self.cut.published(lang) if self.cut else None,
        }
