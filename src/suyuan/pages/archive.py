"""Stores the documents that were read in SQLite, with full-text search for Chinese and English."""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from ..core.causes.archive import ARCHIVE_DAMAGED
from ..core.document import Document
from ..core.errors import SuyuanError
from ..text.keywords import content_words
from ..text.sentences import sentence_ends
from ..text.words import words
from .address import address_key
from .archive_file import ArchiveFile
from .page_archive import ArchiveEntry, ArchiveHit
from .passages import cut, rank

log = logging.getLogger("suyuan.pages")
T = TypeVar("T")

_MERGED_PAGES = -1000
# All documents except the product's own pages.
_NOT_PINNED = "page NOT IN (SELECT page FROM pinned)"


class Archive:
    """The archive in one file; safe for threads and for processes that are killed.

    Every failure is a cause. A file that is damaged is set aside and begun anew; ``notice`` then says so.
    """

    def __init__(self, path: Path | str, *, max_bytes: int = 512 * 1024 * 1024, max_days: int = 365) -> None:
        self.path = str(path)
        self.notice: SuyuanError | None = None
        self._max_bytes = max_bytes
        self._max_days = max_days
        self._lock = threading.Lock()
        self._file = ArchiveFile(path)
        self.run(lambda db: None)

    def run(self, work: Callable[[sqlite3.Connection], T], *, write: bool = False) -> T:
        """Do ``work`` in one transaction; a damaged file is replaced, and the work is done in the new one."""
        with self._lock:
            try:
                return self._file.run(work, write=write)
            except SuyuanError as error:
                if error.detail_code != ARCHIVE_DAMAGED.detail_code:
                    raise
                log.warning("%s", error.message)
                self.notice = error
            return self._file.run(work, write=write)

    def put(self, document: Document, parts: Sequence[tuple[int, int]] = ()) -> int:
        """Store a document and return its number; the same text of a page is stored once, with its latest time.

        The ``parts`` of a long text are found each by itself.
        """
        return self._store(lambda db: _put(db, document, parts=parts))

    def put_all(self, documents: Iterable[tuple[Document, str]]) -> None:
        """Store documents, each with the words of its text, in one transaction."""
        self._store(lambda db: [_put(db, document, index) for document, index in documents])

    def _store(self, work: Callable[[sqlite3.Connection], T]) -> T:
        result = self.run(work, write=True)
        if self._size() > self._max_bytes and self._size(shrink=True) > self._max_bytes:
            self.prune()
        return result

    def pin(self, documents: Iterable[Document]) -> bool:
        """Make these the pages that are never removed, each in one version; return whether anything was written."""
        wanted = {address_key(document.final_url): document for document in documents}
        known = {(page, document.sha256) for page, document in wanted.items()}

        def pinned(db: sqlite3.Connection) -> list[tuple[str, str]]:
            query = "SELECT p.page, d.sha256 FROM pinned p LEFT JOIN documents d ON d.page = p.page"
            return db.execute(query).fetchall()

        def work(db: sqlite3.Connection) -> bool:
            # Another process may have done the same in the meantime.
            rows = pinned(db)
            if set(rows) == known:
                return False
            _replace_pinned(db, {row[0] for row in rows} | set(wanted), wanted)
            return True

        return set(self.run(pinned)) != known and self.run(work, write=True)

    def get(self, url: str) -> Document | None:
        """The latest version of the page at ``url``, or at the address it redirects to."""
        key = address_key(url)

        def work(db: sqlite3.Connection) -> Document | None:
            row = db.execute("SELECT page FROM addresses WHERE address = ?", (key,)).fetchone()
            return _one(
                db,
                "SELECT document FROM documents WHERE page = ? ORDER BY fetched_at DESC LIMIT 1",
                row[0] if row else key,
            )

        return self.run(work)

    def version(self, sha256: str) -> Document | None:
        """The document with exactly this text, even if the page has changed since."""
        return self.run(lambda db: _one(db, "SELECT document FROM documents WHERE sha256 = ? LIMIT 1", sha256))

    def by_number(self, number: int) -> Document | None:
        """The document with this number."""
        return self.run(lambda db: _one(db, "SELECT document FROM documents WHERE id = ?", number))

    def newest(self, limit: int = 50) -> list[ArchiveEntry]:
        """The latest documents."""
        query = (
            f"SELECT id, page, title, fetched_at, size FROM documents WHERE {_NOT_PINNED} "
            "ORDER BY fetched_at DESC LIMIT ?"
        )
        return [ArchiveEntry(*row) for row in self.run(lambda db: db.execute(query, (limit,)).fetchall())]

    def export(self) -> Iterator[Document]:
        """All documents, oldest first."""
        query = f"SELECT id FROM documents WHERE {_NOT_PINNED} ORDER BY fetched_at, id"
        for (number,) in self.run(lambda db: db.execute(query).fetchall()):
            if (document := self.by_number(number)) is not None:
                yield document

    def search(self, question: str, limit: int = 10, *, guides: bool = False) -> list[ArchiveHit]:
        """The pages that were read, or the product's ``guides``, that match ``question``: best first, each once."""
        asked = content_words(question) or words(question)
        if not asked:
            return []
        match = " OR ".join(f'"{word}"' for word in asked if '"' not in word)
        query = (
            "SELECT d.document, p.first, p.last FROM fulltext f JOIN parts p ON p.id = f.rowid "
            "JOIN documents d ON d.id = p.document WHERE fulltext MATCH ? "
            f"AND {'NOT ' if guides else ''}({_NOT_PINNED}) ORDER BY bm25(fulltext, 4.0, 1.0) LIMIT ?"
        )
        rows = self.run(lambda db: db.execute(query, (match, limit * 3)).fetchall())
        hits: dict[str, ArchiveHit] = {}
        for text, first, last in rows:
            document = document_from_json(text)
            if (key := address_key(document.final_url)) not in hits:
                hits[key] = make_hit(document, first, last or len(document.text), question, asked)
            if len(hits) == limit:
                break
        return list(hits.values())

    def forget(self, url: str) -> int:
        """Remove all versions of the page at ``url``; return their number."""
        page = address_key(url)

        def work(db: sqlite3.Connection) -> int:
            db.execute("DELETE FROM addresses WHERE page = ?", (page,))
            return _drop(db, "page = ?", page)

        return self.run(work, write=True)

    def prune(self, now: datetime | None = None) -> int:
        """Remove documents that are too old, then the oldest ones until the size fits; return their number."""
        oldest = ((now or datetime.now(UTC)) - timedelta(days=self._max_days)).isoformat()

        def remove_old(db: sqlite3.Connection) -> int:
            return _drop(db, f"{_NOT_PINNED} AND fetched_at < ?", oldest)

        def remove_oldest(db: sqlite3.Connection) -> int:
            # A tenth at a time, since the size is known only after the removal.
            count = db.execute(f"SELECT count(*) FROM documents WHERE {_NOT_PINNED}").fetchone()[0]
            which = f"id IN (SELECT id FROM documents WHERE {_NOT_PINNED} ORDER BY fetched_at, id LIMIT ?)"
            return _drop(db, which, max(1, count // 10)) if count else 0

        removed = self.run(remove_old, write=True)
        # Some room is made, so that not every new document removes another one.
        limit = self._max_bytes if self._size(shrink=True) <= self._max_bytes else self._max_bytes * 0.9
        while self._size(shrink=True) > limit and (more := self.run(remove_oldest, write=True)):
            removed += more
        if removed:
            unused = "DELETE FROM addresses WHERE page NOT IN (SELECT page FROM documents)"
            self.run(lambda db: db.execute(unused), write=True)
        return removed

    def _size(self, *, shrink: bool = False) -> int:
        with self._lock:
            if shrink:
                self._file.shrink()
            return self._file.disk_bytes

    def check(self) -> str:
        """``ok``, or the problem that SQLite finds in the file."""
        return self.run(lambda db: str(db.execute("PRAGMA quick_check").fetchone()[0]))

    def __len__(self) -> int:
        query = f"SELECT count(*) FROM documents WHERE {_NOT_PINNED}"
        return self.run(lambda db: int(db.execute(query).fetchone()[0]))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()


def _one(db: sqlite3.Connection, query: str, value: str | int) -> Document | None:
    row = db.execute(query, (value,)).fetchone()
    return document_from_json(row[0]) if row else None


def _replace_pinned(db: sqlite3.Connection, old: set[str], wanted: Mapping[str, Document]) -> None:
    for page in old:
        _drop(db, "page = ?", page)
    db.execute("DELETE FROM pinned")
    for page, document in wanted.items():
        _insert(db, page, document)
        db.execute("INSERT OR REPLACE INTO addresses VALUES (?, ?)", (page, page))
        db.execute("INSERT INTO pinned VALUES (?)", (page,))


def _drop(db: sqlite3.Connection, which: str, value: str | int) -> int:
    rows = f"SELECT p.id FROM parts p WHERE p.document IN (SELECT id FROM documents WHERE {which})"
    db.execute(f"DELETE FROM fulltext WHERE rowid IN ({rows})", (value,))
    db.execute(f"DELETE FROM parts WHERE id IN ({rows})", (value,))
    # The index only notes what was deleted until its parts are merged; a bounded piece of that work is done here.
    db.execute("INSERT INTO fulltext (fulltext, rank) VALUES ('merge', ?)", (_MERGED_PAGES,))
    return db.execute(f"DELETE FROM documents WHERE {which}", (value,)).rowcount


def _put(db: sqlite3.Connection, document: Document, index: str = "", parts: Sequence[tuple[int, int]] = ()) -> int:
    page, sha256 = address_key(document.final_url), document.sha256
    row = db.execute("SELECT id FROM documents WHERE page = ? AND sha256 = ?", (page, sha256)).fetchone()
    if row:
        number = int(row[0])
        values = (document.fetched_at, document_to_json(document), number)
        db.execute("UPDATE documents SET fetched_at = ?, document = ? WHERE id = ?", values)
    else:
        number = _insert(db, page, document, index, parts)
    # Only addresses that were really requested: what a page says about its address proves nothing.
    for address in {address_key(document.url), page}:
        db.execute("INSERT OR REPLACE INTO addresses VALUES (?, ?)", (address, page))
    return number


def _insert(
    db: sqlite3.Connection, page: str, document: Document, index: str = "", parts: Sequence[tuple[int, int]] = ()
) -> int:
    size = len(document.text.encode("utf-8", "replace"))
    values = (page, document.sha256, document.fetched_at, document.title, size, document_to_json(document))
    cursor = db.execute(
        "INSERT INTO documents (page, sha256, fetched_at, title, size, document) VALUES (?, ?, ?, ?, ?, ?)", values
    )
    number = int(cursor.lastrowid or 0)
    title = " ".join(words(document.title))
    for first, last in parts or ((0, 0),):
        row = db.execute("INSERT INTO parts (document, first, last) VALUES (?, ?, ?)", (number, first, last)).lastrowid
        body = " ".join(words(document.text[first:last])) if last else index or " ".join(words(document.text))
        db.execute("INSERT INTO fulltext (rowid, title, body) VALUES (?, ?, ?)", (row, title, body))
    return number


def make_hit(document: Document, first: int, last: int, question: str, asked: list[str]) -> ArchiveHit:
    """A document that was found by this part of its text."""
    part = replace(document, text=document.text[first:last])
    snippet, start = _snippet(part, question)
    return ArchiveHit(document, _coverage(asked, part), snippet, first + start)


def document_to_json(document: Document) -> str:
    """A document as archives store it."""
    # The passages depend on a question, and so are not a part of the page.
    names = [name for name in Document.__slots__ if name not in ("from_archive", "passages")]
    return json.dumps({name: getattr(document, name) for name in names}, ensure_ascii=False)


def document_from_json(text: str) -> Document:
    """A document that an archive has stored."""
    data = json.loads(text)
    data["links"] = tuple((name, url) for name, url in data["links"])
    data["notes"] = tuple(data["notes"])
    return Document(**data, from_archive=True)


def _coverage(asked: list[str], document: Document) -> float:
    """The share of the query words in the document; single characters of longer Chinese words are not counted."""
    present = set(words(f"{document.title} {document.text}"))
    pairs = "".join(word for word in asked if len(word) > 1)
    whole = [word for word in asked if len(word) > 1 or word not in pairs]
    return sum(word in present for word in whole) / len(whole)


def _snippet(document: Document, question: str) -> tuple[str, int]:
    """The text from the sentence of the best passages that has most words of the question, and where it starts."""
    asked = set(content_words(question))
    best, at, most = document.text[:1000], 0, 0
    for _, passage in rank(cut(document.text), question)[:5]:
        for start, end in pairwise([0, *sentence_ends(passage.text)]):
            if (common := len(asked.intersection(words(passage.text[start:end])))) > most:
                best, at, most = passage.text[start:], passage.start + start, common
    return " ".join(best.split())[:300], at
