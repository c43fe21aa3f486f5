"""Stores the documents that were read in SQLite, with full-text search for Chinese and English."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from ..core.document import Document
from ..core.urls import page_key
from ..text.keywords import content_words
from ..text.sentences import sentence_ends
from ..text.words import words
from .passages import cut, rank

_SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY,
    page TEXT NOT NULL,              -- the key of the final address
    sha256 TEXT NOT NULL,            -- of the text: both versions of a changed page are stored
    fetched_at TEXT NOT NULL,
    title TEXT NOT NULL,
    size INTEGER NOT NULL,
    document TEXT NOT NULL,          -- the whole document as JSON
    UNIQUE (page, sha256)
);
CREATE INDEX IF NOT EXISTS by_time ON documents (fetched_at);
CREATE TABLE IF NOT EXISTS addresses (
    address TEXT PRIMARY KEY,        -- the key of any address that leads to the page
    page TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS pinned (
    page TEXT PRIMARY KEY            -- the product's own pages, which are never removed
);
CREATE VIRTUAL TABLE IF NOT EXISTS fulltext USING fts5 (title, body, tokenize='unicode61');
"""
# All documents except the product's own pages.
_NOT_PINNED = "page NOT IN (SELECT page FROM pinned)"


@dataclass(frozen=True, slots=True)
class ArchiveHit:
    """A document that a search of the archive found, and the share of the query words that it contains."""

    document: Document
    coverage: float
    snippet: str


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """One entry of the list of archived documents."""

    id: int
    url: str
    title: str
    fetched_at: str
    size: int


class Archive:
    """The archive in one file; safe for threads and for processes that are killed."""

    def __init__(self, path: Path | str, *, max_bytes: int = 512 * 1024 * 1024, max_days: int = 365) -> None:
        self.path = str(path)
        self._max_bytes = max_bytes
        self._max_days = max_days
        self._lock = threading.Lock()
        if path != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, check_same_thread=False, timeout=10.0)
        # A commit is written to the log before put() returns; a kill loses only uncommitted documents.
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        with self._db:
            self._db.executescript(_SCHEMA)

    def put(self, document: Document, index: str = "") -> int:
        """Store a document and return its number; the same text of a page is stored once, with its latest time."""
        page = page_key(document.final_url)
        stored = replace(document, from_archive=False)
        with self._lock, self._db:
            row = self._db.execute(
                "SELECT id FROM documents WHERE page = ? AND sha256 = ?", (page, document.sha256)
            ).fetchone()
            if row:
                self._db.execute(
                    "UPDATE documents SET fetched_at = ?, document = ? WHERE id = ?",
                    (document.fetched_at, _to_json(stored), row[0]),
                )
                number = int(row[0])
            else:
                number = self._insert(page, stored, index)
            for address in {page_key(document.url), page, page_key(document.canonical_url or document.final_url)}:
                self._db.execute("INSERT OR REPLACE INTO addresses VALUES (?, ?)", (address, page))
            return number

    def pin(self, documents: Iterable[Document]) -> bool:
        """Make these the pages that are never removed, each in one version; return whether anything was written."""
        wanted = {page_key(document.final_url): document for document in documents}
        with self._lock:
            rows = self._db.execute(
                "SELECT p.page, d.sha256 FROM pinned p LEFT JOIN documents d ON d.page = p.page"
            ).fetchall()
        if set(rows) == {(page, document.sha256) for page, document in wanted.items()}:
            return False
        try:
            with self._lock, self._db:
                # Another process may do the same now.
                self._db.execute("BEGIN IMMEDIATE")
                self._replace_pinned({row[0] for row in rows} | set(wanted), wanted)
        except sqlite3.OperationalError:
            # Another process has locked the file: the next start will write them.
            return False
        return True

    def get(self, url: str) -> Document | None:
        """The latest version of the page at ``url``, or at the address it redirects to."""
        key = page_key(url)
        with self._lock:
            row = self._db.execute("SELECT page FROM addresses WHERE address = ?", (key,)).fetchone()
            found = self._db.execute(
                "SELECT document FROM documents WHERE page = ? ORDER BY fetched_at DESC LIMIT 1",
                (row[0] if row else key,),
            ).fetchone()
        return _from_json(found[0]) if found else None

    def version(self, sha256: str) -> Document | None:
        """The document with exactly this text, even if the page has changed since."""
        with self._lock:
            row = self._db.execute("SELECT document FROM documents WHERE sha256 = ? LIMIT 1", (sha256,)).fetchone()
        return _from_json(row[0]) if row else None

    def by_number(self, number: int) -> Document | None:
        """The document with this number."""
        with self._lock:
            row = self._db.execute("SELECT document FROM documents WHERE id = ?", (number,)).fetchone()
        return _from_json(row[0]) if row else None

    def newest(self, limit: int = 50) -> list[ArchiveEntry]:
        """The latest documents."""
        with self._lock:
            rows = self._db.execute(
                f"SELECT id, page, title, fetched_at, size FROM documents WHERE {_NOT_PINNED} "
                "ORDER BY fetched_at DESC LIMIT ?",
                (limit,),
            ).fetchall()
        return [ArchiveEntry(*row) for row in rows]

    def export(self) -> Iterator[Document]:
        """All documents, oldest first."""
        with self._lock:
            rows = self._db.execute(f"SELECT id FROM documents WHERE {_NOT_PINNED} ORDER BY fetched_at, id").fetchall()
        for (number,) in rows:
            if (document := self.by_number(number)) is not None:
                yield document

    def search(self, question: str, limit: int = 10) -> list[ArchiveHit]:
        """The documents that match ``question``, best first, each page once."""
        asked = content_words(question) or words(question)
        if not asked:
            return []
        match = " OR ".join(f'"{word}"' for word in asked if '"' not in word)
        with self._lock:
            rows = self._db.execute(
                "SELECT d.document FROM fulltext f JOIN documents d ON d.id = f.rowid WHERE fulltext MATCH ? "
                "ORDER BY bm25(fulltext, 4.0, 1.0) LIMIT ?",
                (match, limit * 3),
            ).fetchall()
        hits: dict[str, ArchiveHit] = {}
        for row in rows:
            document = _from_json(row[0])
            if (key := page_key(document.final_url)) not in hits:
                hits[key] = ArchiveHit(document, _coverage(asked, document), _snippet(document, question))
            if len(hits) == limit:
                break
        return list(hits.values())

    def prune(self, now: datetime | None = None) -> int:
        """Remove documents that are too old, then the oldest ones until the size fits; return their number."""
        oldest = ((now or datetime.now(UTC)) - timedelta(days=self._max_days)).isoformat()
        with self._lock, self._db:
            rows = self._db.execute(
                f"SELECT id FROM documents WHERE {_NOT_PINNED} AND fetched_at < ?", (oldest,)
            ).fetchall()
            total = self._db.execute(f"SELECT coalesce(sum(size), 0) FROM documents WHERE {_NOT_PINNED}").fetchone()[0]
            for number, size in self._db.execute(
                f"SELECT id, size FROM documents WHERE {_NOT_PINNED} ORDER BY fetched_at"
            ).fetchall():
                if total <= self._max_bytes:
                    break
                rows.append((number,))
                total -= size
            removed = dict.fromkeys(rows)
            for (number,) in removed:
                self._drop("id = ?", number)
            self._db.execute("DELETE FROM addresses WHERE page NOT IN (SELECT page FROM documents)")
        return len(removed)

    def check(self) -> str:
        """``ok``, or the problem that SQLite finds in the file."""
        with self._lock:
            return str(self._db.execute("PRAGMA quick_check").fetchone()[0])

    def __len__(self) -> int:
        with self._lock:
            return int(self._db.execute(f"SELECT count(*) FROM documents WHERE {_NOT_PINNED}").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def _replace_pinned(self, old: set[str], wanted: Mapping[str, Document]) -> None:
        for page in old:
            self._drop("page = ?", page)
        self._db.execute("DELETE FROM pinned")
        for page, document in wanted.items():
            self._insert(page, replace(document, from_archive=False))
            self._db.execute("INSERT OR REPLACE INTO addresses VALUES (?, ?)", (page, page))
            self._db.execute("INSERT INTO pinned VALUES (?)", (page,))

    def _drop(self, which: str, value: str | int) -> None:
        self._db.execute(f"DELETE FROM fulltext WHERE rowid IN (SELECT id FROM documents WHERE {which})", (value,))
        self._db.execute(f"DELETE FROM documents WHERE {which}", (value,))

    def _insert(self, page: str, document: Document, index: str = "") -> int:
        size = len(document.text.encode("utf-8", "replace"))
        values = (page, document.sha256, document.fetched_at, document.title, size, _to_json(document))
        cursor = self._db.execute(
            "INSERT INTO documents (page, sha256, fetched_at, title, size, document) VALUES (?, ?, ?, ?, ?, ?)", values
        )
        number = int(cursor.lastrowid or 0)
        row = (number, " ".join(words(document.title)), index or " ".join(words(document.text)))
        self._db.execute("INSERT INTO fulltext (rowid, title, body) VALUES (?, ?, ?)", row)
        return number


def _to_json(document: Document) -> str:
    # The passages depend on a question, and so are not a part of the page.
    names = [name for name in Document.__slots__ if name not in ("from_archive", "passages")]
    return json.dumps({name: getattr(document, name) for name in names}, ensure_ascii=False)


def _from_json(text: str) -> Document:
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


def _snippet(document: Document, question: str) -> str:
    """The text from the sentence of the best passages that has most words of the question."""
    asked = set(content_words(question))
    best, most = document.text[:1000], 0
    for _, passage in rank(cut(document.text), question)[:5]:
        for start, end in pairwise([0, *sentence_ends(passage.text)]):
            if (common := len(asked.intersection(words(passage.text[start:end])))) > most:
                best, most = passage.text[start:], common
    return " ".join(best.split())[:300]
