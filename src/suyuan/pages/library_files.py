"""``LibraryFiles``: the list of the user's own documents, in the same file as their index."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any, Literal
from urllib.parse import quote

from ..core.document import Document
from ..core.failure import Failure
from .address import address_key
from .archive import Archive
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

    def files(self, root: str = "") -> list[LibraryFile]:
        """All files, or those of one root."""
        query = "SELECT * FROM files" + (" WHERE root = ?" if root else "") + " ORDER BY path"
        return [_file(row) for row in self._archive.run(lambda db: db.execute(query, (root,) * bool(root)).fetchall())]

    def entries(self) -> list[LibraryEntry]:
        """The list with the titles of what was read."""
        roots = {root.root: root for root in self.roots()}
        query = "SELECT page, title, length(json_extract(document, '$.text')) FROM documents ORDER BY fetched_at"
        read = {page: rest for page, *rest in self._archive.run(lambda db: db.execute(query).fetchall())}
        entries = []
        for file in self.files():
            title, characters = read.get(address_key(file.address), (file.name, 0))
            root = roots.get(file.root, Root(file.root, "file", ""))
            entries.append(LibraryEntry(file, root.kind, root.added_at, title, characters))
        return entries

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
        """Replace what was read of a file by what it says now."""
        # If we are ended in between, the file is read again.
        self.remove([file])
        if any(root.root == file.root for root in self.roots()):
            self._archive.put(document, parts)
            self.put(file)

    def put(self, file: LibraryFile) -> None:
        """Write what is known about a file, unless its root was removed while it was read."""
        problem = json.dumps(file.problem.as_dict(), ensure_ascii=False) if file.problem else ""
        values = (file.id, file.path, file.modified, file.size, file.sha256, file.read_at, problem, file.root)
        query = "INSERT OR REPLACE INTO files SELECT ?, root, ?, ?, ?, ?, ?, ? FROM roots WHERE root = ?"
        self._archive.run(lambda db: db.execute(query, values), write=True)

    def remove(self, files: Iterable[LibraryFile]) -> None:
        """Remove files with what was read of them."""
        for file in files:
            self._archive.forget(file.address)
            self._archive.run(partial(_delete, id=file.id), write=True)

    def remove_root(self, root: str) -> list[LibraryFile]:
        """Remove a root with all its files, which are returned."""
        files = self.files(root)
        self.remove(files)
        self._archive.run(lambda db: db.execute("DELETE FROM roots WHERE root = ?", (root,)), write=True)
        return files


def _delete(db: sqlite3.Connection, id: str) -> None:
    db.execute("DELETE FROM files WHERE id = ?", (id,))


def _file(row: sqlite3.Row | tuple[Any, ...]) -> LibraryFile:
    id, root, path, modified, size, sha256, read_at, problem = row
    failure = None
    with suppress(ValueError):
        failure = Failure.from_dict(json.loads(problem)) if problem else None
    return LibraryFile(id, root, path, modified, size, sha256, read_at, failure)
