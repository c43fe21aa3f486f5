"""``LibraryFiles``: the list of the user's own documents, in the same file as their index."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any, Literal
from urllib.parse import quote

from ..core.document import Cut, Document
from ..core.failure import Failure
from .address import address_key
from .archive import Archive, put_document
from .archive_tidying import remove_documents
from .page_archive import PageArchive

RootKind = Literal["folder", "file", "upload", "url"]
SCHEME = "library:"


@dataclass(frozen=True, slots=True)
class Root:
    """What the user has added: a folder with all that is in it, a file, an uploaded file, or a web page."""

    root: str
    kind: RootKind
    added_at: str


@dataclass(frozen=True, slots=True)
class LibraryFile:
    """One document of the library, as it was when it was read last."""

    id: str
    root: str
    path: str
    modified: int = 0
    size: int = 0
    sha256: str = ""
    read_at: str = ""
    problem: Failure | None = None
    """Why it could not be read."""

    @property
    def name(self) -> str:
        """The name of the file, or the URL."""
        return self.path if self.is_url else PurePath(self.path).name

    @property
    def is_url(self) -> bool:
        """Whether it is a web page."""
        return self.path.startswith(("http://", "https://"))

    @property
    def shown_path(self) -> str:
        """The path from the folder on that was added: what is above it is nobody's business."""
        if self.is_url or self.path == self.root:
            return self.name
        return str(PurePath(self.path).relative_to(PurePath(self.root).parent))

    @property
    def address(self) -> str:
        """The address in the archive, which does not depend on where the server listens."""
        return self.path if self.is_url else f"{SCHEME}{self.id}/{quote(self.name)}"


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """One line of the list: a file, how it was added, and what was read of it."""

    file: LibraryFile
    kind: RootKind
    added_at: str
    title: str
    characters: int
    cut: Cut | None = None
    """How much of it was read, where a limit held."""


def file_id(path: str) -> str:
    """The id of the document at ``path``: the same each time it is added."""
    return hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:16]


class LibraryFiles:
    """Reads and writes the list."""

    def __init__(self, archive: PageArchive) -> None:
        assert isinstance(archive, Archive), "the library is a file of this machine"
        self._archive = archive

    def roots(self) -> list[Root]:
        """What was added, in that order."""
        rows = self._archive.run(lambda db: db.execute("SELECT * FROM roots ORDER BY added_at, root").fetchall())
        return [Root(*row) for row in rows]

    def files(self, root: str) -> list[LibraryFile]:
        """All files of one root."""
        query = f"SELECT {_FILE_COLUMNS} FROM files f WHERE f.root = ? ORDER BY f.path"
        return [_file(row) for row in self._archive.run(lambda db: db.execute(query, (root,)).fetchall())]

    def files_at(self, root: str) -> dict[str, LibraryFile]:
        """The files at the path of a root and below it, by path: what is in two roots is read once."""
        # The order of "/" and "0" is that of their codes.
        query = f"SELECT {_FILE_COLUMNS} FROM files f WHERE f.path = ? OR (f.path > ? AND f.path < ?)"
        values = (root, f"{root}/", f"{root}0")
        rows = self._archive.run(lambda db: db.execute(query, values).fetchall())
        return {file.path: file for file in map(_file, rows)}

    def entries(self, limit: int = -1, offset: int = 0, id: str = "") -> list[LibraryEntry]:
        """The list with what was read, or a part of it, or the line of one file."""
        query = (
            f"SELECT {_FILE_COLUMNS}, coalesce(r.kind, 'file'), coalesce(r.added_at, ''), "
            "coalesce(t.title, ''), coalesce(t.characters, 0), coalesce(t.cut, '') "
            "FROM files f LEFT JOIN roots r ON r.root = f.root LEFT JOIN file_texts t ON t.id = f.id "
            f"{'WHERE f.id = ?' if id else ''} ORDER BY f.path LIMIT ? OFFSET ?"
        )
        values = (*([id] if id else []), limit, offset)
        return [_entry(row) for row in self._archive.run(lambda db: db.execute(query, values).fetchall())]

    def count(self) -> int:
        """How many documents are in the list."""
        return self._archive.run(lambda db: int(db.execute("SELECT count(*) FROM files").fetchone()[0]))

    def by_id(self, id: str) -> LibraryFile | None:
        """The file with this id."""
        row = self._archive.run(lambda db: db.execute("SELECT * FROM files WHERE id = ?", (id,)).fetchone())
        return _file(row) if row else None

    def stored(self) -> int:
        """How many bytes it takes: the files that were sent, and the text of all documents."""
        sent = "SELECT total(size) FROM files JOIN roots USING (root) WHERE kind = 'upload'"
        texts = "SELECT total(length(CAST(document AS BLOB))) FROM documents"
        return int(self._archive.run(lambda db: db.execute(f"SELECT ({sent}) + ({texts})").fetchone()[0]))

    def add_root(self, root: Root) -> None:
        """Add a root; one that is known stays as it is."""
        values = (root.root, root.kind, root.added_at)
        self._archive.run(lambda db: db.execute("INSERT OR IGNORE INTO roots VALUES (?, ?, ?)", values), write=True)

    def store(self, file: LibraryFile, document: Document, parts: Sequence[tuple[int, int]]) -> None:
        """Replace what was read of a file by what it says now, unless its root was removed while it was read."""

        def work(db: sqlite3.Connection) -> None:
            remove_documents(db, "page = ?", [(address_key(file.address),)])
            if _write(db, file):
                put_document(db, document, parts=parts)
                _write_text(db, file, document)

        self._archive.run(work, write=True)

    def put(self, file: LibraryFile) -> None:
        """Write what is known about a file, unless its root was removed while it was read."""
        self._archive.run(lambda db: _write(db, file), write=True)

    def remove(self, files: Sequence[LibraryFile]) -> None:
        """Remove files with what was read of them."""
        # In several transactions, so that a large folder does not keep others waiting.
        for start in range(0, len(files), _REMOVED_AT_ONCE):
            some = files[start : start + _REMOVED_AT_ONCE]
            self._archive.run(partial(_remove, files=some), write=True)

    def remove_root(self, root: str) -> list[LibraryFile]:
        """Remove a root with all its files, which are returned."""
        files = self.files(root)
        self.remove(files)
        self._archive.run(lambda db: db.execute("DELETE FROM roots WHERE root = ?", (root,)), write=True)
        return files


_FILE_COLUMNS = "f.id, f.root, f.path, f.modified, f.size, f.sha256, f.read_at, f.problem"
_REMOVED_AT_ONCE = 50


def _write(db: sqlite3.Connection, file: LibraryFile) -> bool:
    """Write a line of the list; False where what it belongs to was removed."""
    problem = json.dumps(file.problem.as_dict(), ensure_ascii=False) if file.problem else ""
    values = (file.id, file.path, file.modified, file.size, file.sha256, file.read_at, problem, file.root)
    query = (
        "INSERT OR REPLACE INTO files (id, root, path, modified, size, sha256, read_at, problem) "
        "SELECT ?, root, ?, ?, ?, ?, ?, ? FROM roots WHERE root = ?"
    )
    return db.execute(query, values).rowcount > 0


def _write_text(db: sqlite3.Connection, file: LibraryFile, document: Document) -> None:
    cut = json.dumps(document.cut.as_dict()) if document.cut else ""
    values = (file.id, document.title, len(document.text), cut)
    db.execute("INSERT OR REPLACE INTO file_texts VALUES (?, ?, ?, ?)", values)


def _remove(db: sqlite3.Connection, files: Sequence[LibraryFile]) -> None:
    remove_documents(db, "page = ?", [(address_key(file.address),) for file in files])
    ids = [(file.id,) for file in files]
    db.executemany("DELETE FROM file_texts WHERE id = ?", ids)
    db.executemany("DELETE FROM files WHERE id = ?", ids)


def _entry(row: tuple[Any, ...]) -> LibraryEntry:
    *of_file, kind, added_at, title, characters, cut = row
    file = _file(tuple(of_file))
    return LibraryEntry(file, kind, added_at, title or file.name, characters, Cut(**json.loads(cut)) if cut else None)


def _file(row: sqlite3.Row | tuple[Any, ...]) -> LibraryFile:
    id, root, path, modified, size, sha256, read_at, problem = row
    failure = None
    with suppress(ValueError):
        failure = Failure.from_dict(json.loads(problem)) if problem else None
    return LibraryFile(id, root, path, modified, size, sha256, read_at, failure)
