"""Stores the documents that were read in SQLite, with full-text search for Chinese and English."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from ..core.causes.archive import ARCHIVE_INDEXING
from ..core.document import Cut, Document, pieces
from ..core.kept_files import Kind
from ..core.notices import Notices
from . import archive_index
from .address import address_key
from .archive_file import ArchiveFile
from .archive_search import asked_words, find_parts, make_hit
from .archive_tidying import ArchiveTidying, Cited, remove_documents
from .page_archive import ArchiveEntry, ArchiveHit
from .stored_document import document_from_json, document_to_json

T = TypeVar("T")

_STEPS_BEHIND_A_DOCUMENT = 5
_INDEX_SECONDS = 2.0
"""How long a search goes on with an index that is being made again, before it answers."""
# All documents except the product's own pages.
_NOT_PINNED = "page NOT IN (SELECT page FROM pinned)"


class Archive:
    """The archive in one file; safe for threads and for processes that are killed. Every failure is a cause.

    Of a damaged file everything that can be read is kept, and a notice says what was done.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        max_bytes: int = 512 * 1024 * 1024,
        max_days: int = 365,
        notices: Notices | None = None,
        cited: Cited = lambda since: (),
        kind: Kind = "archive",
    ) -> None:
        self.path = str(path)
        self._lock = threading.RLock()
        kept_notices = notices or Notices(None if self.path == ":memory:" else Path(path).parent)
        self._file = ArchiveFile(path, kept_notices, kind)
        limits = {"max_bytes": max_bytes, "max_days": max_days}
        self._tidying = ArchiveTidying(self._file, path, kept_notices, **limits, cited=cited)
        self.run(lambda db: None)

    def run(self, work: Callable[[sqlite3.Connection], T], *, write: bool = False) -> T:
        """Do ``work`` in one transaction."""
        with self._lock:
            return self._file.run(work, write=write)

    def put(self, document: Document, parts: Sequence[tuple[int, int]] = ()) -> int:
        """Store a document and return its number; the same text of a page is stored once, with its latest time.

        The ``parts`` of a long text are found each by itself.
        """
        number = self.run(lambda db: put_document(db, document, parts=parts), write=True)
        for _ in range(_STEPS_BEHIND_A_DOCUMENT):
            if not self.tidy():
                break
        return number

    def put_all(self, documents: Iterable[tuple[Document, str]]) -> None:
        """Store documents, each with the words of its text, in one transaction."""
        self.run(lambda db: [put_document(db, document, index) for document, index in documents], write=True)

    def tidy(self, now: datetime | None = None) -> bool:
        """Do one small step of what keeps the archive within its limits; return whether there may be more to do."""
        with self._lock:
            return self._tidying.step(now)

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
                "SELECT id, document FROM documents WHERE page = ? ORDER BY fetched_at DESC LIMIT 1",
                row[0] if row else key,
            )

        return self.run(work)

    def version(self, sha256: str) -> Document | None:
        """The document with exactly this text, even if the page has changed since."""
        return self.run(lambda db: _one(db, "SELECT id, document FROM documents WHERE sha256 = ? LIMIT 1", sha256))

    def by_number(self, number: int) -> Document | None:
        """The document with this number."""
        return self.run(lambda db: _one(db, "SELECT id, document FROM documents WHERE id = ?", number))

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
        asked = asked_words(question)
        if not asked:
            return []
        whole = self._go_on_indexing()
        found = self.run(lambda db: find_parts(db, asked, limit, guides=guides))
        if not found and not whole:
            percent = int(100 * self.run(archive_index.indexed_share))
            raise ARCHIVE_INDEXING(where=self.path, percent=percent)
        hits = []
        for part in found:
            # It may have been removed since.
            if (document := self.by_number(part.document)) is not None:
                hits.append(make_hit(document, part.first, part.last or len(document.text), question, asked))
        return hits

    def _go_on_indexing(self) -> bool:
        """Work on an index that is being made again, for a while; return whether it is whole."""
        deadline = time.monotonic() + _INDEX_SECONDS
        while not self.run(archive_index.is_whole):
            if time.monotonic() > deadline or not self.tidy():
                return self.run(archive_index.is_whole)
        return True

    def forget(self, url: str) -> int:
        """Remove all versions of the page at ``url``; return their number."""
        page = address_key(url)
        return self.run(lambda db: remove_documents(db, "page = ?", [(page,)]), write=True)

    def prune(self, now: datetime | None = None) -> int:
        """Remove everything that is too old or too much, however long it takes; return the number of documents."""
        before = self._tidying.removed
        while self.tidy(now):
            pass
        with self._lock:
            self._file.shrink()
            self._tidying.tell()
        return self._tidying.removed - before

    def check(self) -> str:
        """Look through the whole file and repair what is damaged; ``ok``, or the problem that is left."""
        with self._lock:
            found = self._file.check()
        if found == "ok" and self.run(archive_index.is_whole) and self.run(archive_index.indexed_share) != 1.0:
            self.run(archive_index.mark_unindexed, write=True)
        return found

    def cited_count(self) -> int:
        """How many documents are kept because answers cite them, as far as that is known."""
        return self.run(lambda db: int(db.execute("SELECT count(*) FROM cited").fetchone()[0]))

    def __len__(self) -> int:
        query = f"SELECT count(*) FROM documents WHERE {_NOT_PINNED}"
        return self.run(lambda db: int(db.execute(query).fetchone()[0]))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._tidying.tell()
            self._file.finish()


def _one(db: sqlite3.Connection, query: str, value: str | int) -> Document | None:
    row = db.execute(query, (value,)).fetchone()
    if row is None:
        return None
    document = document_from_json(row[1])
    cut = db.execute("SELECT cut FROM cuts WHERE document = ?", (row[0],)).fetchone()
    return document if cut is None else replace(document, cut=Cut(**json.loads(cut[0])))


def _replace_pinned(db: sqlite3.Connection, old: set[str], wanted: Mapping[str, Document]) -> None:
    remove_documents(db, "page = ?", [(page,) for page in old])
    db.execute("DELETE FROM pinned")
    for page, document in wanted.items():
        _insert(db, page, document)
        db.execute("INSERT OR REPLACE INTO addresses VALUES (?, ?)", (page, page))
        db.execute("INSERT INTO pinned VALUES (?)", (page,))


def put_document(
    db: sqlite3.Connection, document: Document, index: str = "", parts: Sequence[tuple[int, int]] = ()
) -> int:
    """Store a document in the caller's transaction, and return its number."""
    page, sha256 = address_key(document.final_url), document.sha256
    row = db.execute("SELECT id FROM documents WHERE page = ? AND sha256 = ?", (page, sha256)).fetchone()
    is_latest = True
    if row:
        number = int(row[0])
        values = (document.fetched_at, _to_json(document), number, document.fetched_at)
        # An older reading, as from a file, does not take the place of a later one.
        same = "UPDATE documents SET fetched_at = ?, document = ? WHERE id = ? AND fetched_at <= ?"
        is_latest = db.execute(same, values).rowcount > 0
    else:
        number = _insert(db, page, document, index, parts)
    if is_latest:
        db.execute("DELETE FROM cuts WHERE document = ?", (number,))
    if is_latest and document.cut is not None:
        db.execute("INSERT INTO cuts VALUES (?, ?)", (number, json.dumps(document.cut.as_dict())))
    # Only addresses that were really requested: what a page says about its address proves nothing.
    for address in {address_key(document.url), page}:
        db.execute("INSERT OR REPLACE INTO addresses VALUES (?, ?)", (address, page))
    return number


def _to_json(document: Document) -> str:
    """The document without what has a table of its own."""
    return document_to_json(replace(document, cut=None))


def _insert(
    db: sqlite3.Connection, page: str, document: Document, index: str = "", parts: Sequence[tuple[int, int]] = ()
) -> int:
    size = sum(len(piece.encode("utf-8", "replace")) for piece in pieces(document.text))
    values = (page, document.sha256, document.fetched_at, document.title, size, _to_json(document))
    cursor = db.execute(
        "INSERT INTO documents (page, sha256, fetched_at, title, size, document) VALUES (?, ?, ?, ?, ?, ?)", values
    )
    number = int(cursor.lastrowid or 0)
    archive_index.add_parts(db, number, document, index, parts)
    return number
