"""The tables of the archive and of the library, and how files of older releases get them."""

from __future__ import annotations

import sqlite3

VERSION = 4
"""Files of version 4 can be read and written by releases that know version 3 too."""

TABLES = {
    "documents": """
        id INTEGER PRIMARY KEY,
        page TEXT NOT NULL,              -- the address that was read, after all redirects
        sha256 TEXT NOT NULL,            -- of the text: both versions of a changed page are stored
        fetched_at TEXT NOT NULL,
        title TEXT NOT NULL,
        size INTEGER NOT NULL,
        document TEXT NOT NULL,          -- the whole document as JSON
        UNIQUE (page, sha256)""",
    "addresses": """
        address TEXT PRIMARY KEY,        -- an address that was requested and led to the page
        page TEXT NOT NULL""",
    "pinned": """
        page TEXT PRIMARY KEY            -- the product's own pages, which are never removed""",
    "cited": """
        document INTEGER PRIMARY KEY     -- answers and reports cite it: it is not removed for others""",
    "parts": """
        id INTEGER PRIMARY KEY,          -- the row of the index
        document INTEGER NOT NULL,
        first INTEGER NOT NULL,          -- the characters of the text that the row has; a last of 0 is the end
        last INTEGER NOT NULL""",
    "cuts": """
        document INTEGER PRIMARY KEY,    -- one of which only a part was read; releases before 0.3 know of none
        cut TEXT NOT NULL                -- how much it is, as JSON""",
    "roots": """
        root TEXT PRIMARY KEY,           -- a folder, file or URL that the user has added to the library
        kind TEXT NOT NULL,
        added_at TEXT NOT NULL""",
    "files": """
        id TEXT PRIMARY KEY,             -- a part of its address
        root TEXT NOT NULL,
        path TEXT NOT NULL UNIQUE,
        modified INTEGER NOT NULL,       -- the time of the file, in ns, and its size, when it was read
        size INTEGER NOT NULL,
        sha256 TEXT NOT NULL,            -- of the file
        read_at TEXT NOT NULL,
        problem TEXT NOT NULL            -- why it could not be read, as JSON""",
    "file_texts": """
        id TEXT PRIMARY KEY,             -- of the file
        title TEXT NOT NULL,
        characters INTEGER NOT NULL,
        cut TEXT NOT NULL                -- how much of it was read where a limit held, as JSON""",
    "meta": """
        name TEXT PRIMARY KEY,
        value REAL NOT NULL""",
}
"""What is kept. The index below is made from it, and can be made again."""

_INDEXES = (
    "by_time ON documents (fetched_at)",
    "by_text ON documents (sha256)",
    "by_document ON parts (document)",
    "by_page ON addresses (page)",
)
_INDEX = "fulltext"
_TOOK_PLACE = "took_place_of"
"""The number in ``meta`` of the file that a repair has set aside for this one."""
# The addresses of files begin with "library:", their id and "/"; "0" is the character after "/".
_TEXTS_OF_FILES = """
INSERT OR REPLACE INTO file_texts
SELECT f.id, d.title, length(json_extract(d.document, '$.text')), ''
FROM files f JOIN documents d
ON d.page = address_key(f.path) OR (d.page > 'library:' || f.id || '/' AND d.page < 'library:' || f.id || '0')
"""


def upgrade(db: sqlite3.Connection, found: int) -> None:
    """Create what is missing, in the caller's transaction; a release that knows less may have written in between."""
    for name, columns in TABLES.items():
        db.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns}\n)")
    for index in _INDEXES:
        db.execute(f"CREATE INDEX IF NOT EXISTS {index}")
    create_index(db)
    if found < 2:
        # Older releases had keys without a scheme, and addresses that pages had claimed for themselves.
        db.execute("DELETE FROM addresses")
        db.execute("UPDATE OR REPLACE documents SET page = address_key(json_extract(document, '$.final_url'))")
        db.execute("INSERT OR REPLACE INTO addresses SELECT page, page FROM documents")
        db.execute("DELETE FROM pinned WHERE page NOT IN (SELECT page FROM documents)")
    if found < 3:
        # Before there were parts, the row of a document was that of its index.
        db.execute("INSERT INTO parts SELECT id, id, 0, 0 FROM documents WHERE id NOT IN (SELECT document FROM parts)")
    if found < VERSION:
        db.execute(_TEXTS_OF_FILES)
    db.execute(f"PRAGMA user_version={VERSION}")


def create_index(db: sqlite3.Connection) -> None:
    """Create the empty full-text index; its rows have the numbers of the parts."""
    known = db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (_INDEX,)).fetchone()
    if known is None:
        db.execute(f"CREATE VIRTUAL TABLE {_INDEX} USING fts5 (title, body, tokenize='unicode61')")


def take_place_of(db: sqlite3.Connection, inode: int) -> None:
    """Note in a file which one it is put in the place of, for those who have that one open."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_TOOK_PLACE, inode))


def took_place_of(db: sqlite3.Connection) -> int:
    """The file that a repair has replaced by this one; 0 where there was none."""
    row = db.execute("SELECT value FROM meta WHERE name = ?", (_TOOK_PLACE,)).fetchone()
    return int(row[0]) if row is not None else 0


def is_ours(db: sqlite3.Connection) -> bool:
    """Whether a file is empty, or has the tables of an archive."""
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return not tables or {"documents", "addresses"} <= tables
