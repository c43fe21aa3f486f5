"""The full-text index of the archive: rows are added, dropped, and made again from the documents."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ..core.document import Document
from ..text.words import words
from .archive_schema import create_index
from .stored_document import document_from_json

_INDEX_TABLES = ("data", "idx", "content", "docsize", "config")
_UNINDEXED = "unindexed_below"
"""The name in ``meta`` of the row under which all parts must still be indexed; missing in a whole index."""
_DROPPED = "dropped"
"""The number in ``meta`` of the documents that were removed since the index was merged."""
_MERGING = "merging"
"""Is in ``meta`` while the index is being merged."""
_MUCH = 0.5
_MERGED_PAGES = 64
_MOST_LEVELS = 1000


def add_parts(
    db: sqlite3.Connection, number: int, document: Document, index: str, parts: Sequence[tuple[int, int]]
) -> None:
    """Index a document, as a whole or in parts; ``index`` has the words of the whole text, where they are known."""
    title = _joined_words(document.title)
    for first, last in parts or ((0, 0),):
        row = db.execute("INSERT INTO parts (document, first, last) VALUES (?, ?, ?)", (number, first, last)).lastrowid
        body = index if index and not last else _body(document, first, last)
        db.execute("INSERT INTO fulltext (rowid, title, body) VALUES (?, ?, ?)", (row, title, body))


def drop_parts(db: sqlite3.Connection, documents: str, values: Sequence[str | int]) -> None:
    """Remove the parts of the documents that the query ``documents`` names by number."""
    rows = f"SELECT p.id FROM parts p WHERE p.document IN ({documents})"
    # A row that is not indexed yet cannot be removed from the index.
    indexed = f"SELECT id FROM fulltext_docsize WHERE id IN ({rows})"
    db.execute(f"DELETE FROM fulltext WHERE rowid IN ({indexed})", values)
    db.execute(f"DELETE FROM parts WHERE id IN ({rows})", values)


def note_dropped(db: sqlite3.Connection, count: int) -> None:
    """Count the documents that were removed: the index only notes that they are gone, until it is merged."""
    db.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + ?", (_DROPPED, count, count))


def needs_merging(db: sqlite3.Connection) -> bool:
    """Whether much of the index is about removed documents, or it is being merged."""
    counted = dict(db.execute("SELECT name, value FROM meta WHERE name IN (?, ?)", (_DROPPED, _MERGING)))
    if _MERGING in counted or _DROPPED not in counted:
        return _MERGING in counted
    documents: int = db.execute("SELECT count(*) FROM documents").fetchone()[0]
    return bool(counted[_DROPPED] >= _MUCH * documents)


def merge_step(db: sqlite3.Connection) -> None:
    """Merge a bounded piece of the index."""
    if db.execute("SELECT 1 FROM meta WHERE name = ?", (_MERGING,)).fetchone() is not None:
        before = db.total_changes
        db.execute("INSERT INTO fulltext (fulltext, rank) VALUES ('merge', ?)", (_MERGED_PAGES,))
        # The command itself is one change.
        if db.total_changes - before <= 1:
            db.execute("DELETE FROM meta WHERE name = ?", (_MERGING,))
        return
    db.execute("DELETE FROM meta WHERE name = ?", (_DROPPED,))
    if levels(db) > _MOST_LEVELS:
        begin_anew(db)
        return
    # A negative number begins to merge everything. Each time SQLite adds a level, of which it takes two thousand.
    db.execute("INSERT INTO fulltext (fulltext, rank) VALUES ('merge', ?)", (-_MERGED_PAGES,))
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, 1)", (_MERGING,))


def levels(db: sqlite3.Connection) -> int:
    """How many levels the index has, by its description in the file format of FTS5."""
    described: bytes = db.execute("SELECT block FROM fulltext_data WHERE id = 10").fetchone()[0]
    # After four bytes that change, and in newer files four that name the format, stands a number of variable length.
    at = 8 if described[4:8] == b"\xff\x00\x00\x01" else 4
    number = described[at] & 0x7F
    while described[at] & 0x80:
        at += 1
        number = number << 7 | described[at] & 0x7F
    return number


def begin_anew(db: sqlite3.Connection) -> None:
    """Replace the index by an empty one, which :func:`index_more` fills; the present one may be of no use at all."""
    # SQLite drops only an index that it can open, but the tables that it consists of in any case.
    db.execute("PRAGMA writable_schema=ON")
    db.execute("DELETE FROM sqlite_master WHERE name = 'fulltext'")
    db.execute("PRAGMA writable_schema=RESET")
    for part in _INDEX_TABLES:
        db.execute(f"DROP TABLE IF EXISTS fulltext_{part}")
    create_index(db)
    mark_unindexed(db)


def mark_unindexed(db: sqlite3.Connection) -> None:
    """Note that no part is indexed."""
    last = db.execute("SELECT max(id) FROM parts").fetchone()[0]
    if last is not None:
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_UNINDEXED, last + 1))


def is_whole(db: sqlite3.Connection) -> bool:
    """Whether every part is indexed."""
    return db.execute("SELECT 1 FROM meta WHERE name = ?", (_UNINDEXED,)).fetchone() is None


def indexed_share(db: sqlite3.Connection) -> float:
    """How much of the archive is indexed, from 0 to 1."""
    parts = db.execute("SELECT count(*) FROM parts").fetchone()[0]
    indexed = db.execute("SELECT count(*) FROM fulltext_docsize").fetchone()[0]
    return indexed / parts if parts else 1.0


def index_more(db: sqlite3.Connection, count: int) -> None:
    """Index the newest parts that are not indexed yet."""
    below = db.execute("SELECT value FROM meta WHERE name = ?", (_UNINDEXED,)).fetchone()
    if below is None:
        return
    query = (
        "SELECT p.id, p.first, p.last, d.document FROM parts p JOIN documents d ON d.id = p.document "
        "WHERE p.id < ? ORDER BY p.id DESC LIMIT ?"
    )
    rows = db.execute(query, (int(below[0]), count)).fetchall()
    for row, first, last, stored in rows:
        document = document_from_json(stored)
        values = (row, _joined_words(document.title), _body(document, first, last))
        # A release that knows nothing of this may have indexed it.
        db.execute("DELETE FROM fulltext WHERE rowid = (SELECT id FROM fulltext_docsize WHERE id = ?)", (row,))
        db.execute("INSERT INTO fulltext (rowid, title, body) VALUES (?, ?, ?)", values)
    if len(rows) < count:
        db.execute("DELETE FROM meta WHERE name = ?", (_UNINDEXED,))
    else:
        db.execute("UPDATE meta SET value = ? WHERE name = ?", (rows[-1][0], _UNINDEXED))


def _body(document: Document, first: int, last: int) -> str:
    return _joined_words(document.text[first:last] if last else document.text)


def _joined_words(text: str) -> str:
    return " ".join(words(text))
