"""``Library``: the user's own documents, kept up to date and searched by the index of the archive."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePath
from typing import TypeVar

from ..core.causes.asked import BAD_ARGUMENT
from ..core.causes.library import FILE_UNREADABLE, LIBRARY_FULL, NO_SUCH_FILE, NOT_IN_LIBRARY
from ..core.document import Document
from ..core.errors import SuyuanError
from ..core.urls import is_page
from ..core.wire import Response
from ..messages.catalog import Text
from .async_archive import AsyncArchive
from .document_parts import parts_of
from .library_files import SCHEME, LibraryEntry, LibraryFile, LibraryFiles, Root, file_id
from .local_files import TYPES, bytes_of, check_name, files_below, printable
from .page_archive import ArchiveHit
from .reading import Reading, ReceivedPage

log = logging.getLogger("suyuan.pages")

T = TypeVar("T")
Read = Callable[[ReceivedPage], Awaitable[Reading]]
Fetch = Callable[[str], Awaitable[Document]]
ReadAgain = Callable[[LibraryFile], Awaitable[tuple[str, Document] | None]]
"""Reads a document and the hash of its file; None where that has not changed."""

_AT_ONCE = 4
_CHECK_SECONDS = 30.0
# The longest time that a search waits for changed files.
_PATIENCE = 1.5
_URL_DAYS = 1
_LONGEST_NAME = 200
_LOCAL = re.compile(r"https?://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?/library/(?=[0-9a-f]{16}/)")
_HEADING = re.compile(r"\s*#\s+(.+)")


@dataclass(slots=True)
class LibraryChange:
    """What an update found: how many documents were read, stayed the same, or are gone."""

    read: int = 0
    same: int = 0
    removed: int = 0
    problems: list[tuple[str, SuyuanError]] = field(default_factory=list)
    """The files that could not be read, and why."""

    def add(self, other: LibraryChange) -> None:
        """Count what another update found."""
        self.read, self.same = self.read + other.read, self.same + other.same
        self.removed, self.problems = self.removed + other.removed, self.problems + other.problems


class Library:
    """Documents on this machine. Nothing of them is sent anywhere; the index is a file in ``folder``."""

    def __init__(self, folder: Path, addresses: tuple[str, ...], read: Read, fetch: Fetch) -> None:
        self._folder = folder
        self._bases = tuple(f"{address}/library/" for address in addresses)
        self._read, self._fetch = read, fetch
        self._archive: AsyncArchive | None = None
        self._checked = float("-inf")
        # Many at once must not all find the same room.
        self._sending = asyncio.Lock()
        self._updating: asyncio.Task[LibraryChange] | None = None

    # --- what is in it ------------------------------------------------------------------------------------------------
    @property
    def path(self) -> Path:
        """The file of the index."""
        return self._folder / "library.sqlite"

    def exists(self) -> bool:
        """Whether anything was ever added."""
        return self._archive is not None or self.path.exists()

    async def entries(self) -> list[LibraryEntry]:
        """All documents."""
        return await self._run(LibraryFiles.entries) if self.exists() else []

    async def stored(self) -> int:
        """How many bytes it takes: the files that were sent, and the text of all documents."""
        return await self._run(LibraryFiles.stored) if self.exists() else 0

    async def file(self, id: str) -> LibraryFile:
        """The document with this id; raises ``NOT_IN_LIBRARY``."""
        found = await self._run(lambda files: files.by_id(id)) if self.exists() else None
        if found is None:
            raise NOT_IN_LIBRARY(what=id)
        return found

    def url_of(self, file: LibraryFile) -> str:
        """The address by which a document is cited and read."""
        return self._outer(file.address)

    def _outer(self, address: str) -> str:
        """The address that others see, of one in the index."""
        return self._bases[0] + address.removeprefix(SCHEME) if address.startswith(SCHEME) else address

    async def path_of(self, document: Document) -> str:
        """The path of a document of the library for people, from the folder on that was added."""
        id = self._id_of(document.final_url)
        return (await self.file(id)).shown_path if id is not None else document.final_url

    def _id_of(self, url: str) -> str | None:
        """The id in an address of the library; the server of this machine may have listened on another port."""
        local = _LOCAL.match(url)
        base = next((base for base in (*self._bases, local[0] if local else "") if base and url.startswith(base)), None)
        return url.removeprefix(base).partition("/")[0] if base else None

    def as_dict(self, entry: LibraryEntry, lang: str = "en") -> dict[str, object]:
        """The published shape of a document of the list."""
        file = entry.file
        return {
            "id": file.id,
            "name": file.name,
            "path": file.shown_path,
            "kind": entry.kind,
            "title": entry.title,
            "url": self.url_of(file),
            "size": file.size,
            "characters": entry.characters,
            "added_at": entry.added_at,
            "read_at": file.read_at,
            "problem": file.problem.published(lang) if file.problem else None,
        }

    async def get(self, url: str, fresh: bool = False) -> Document | None:
        """The document at an address of the library; None where ``url`` is not in it, or a web page is wanted fresh."""
        if (id := self._id_of(url)) is not None:
            url = (await self.file(id)).address
        elif fresh or not self.exists():
            return None
        document = await self._opened().run(lambda kept: kept.get(url))
        return self._outside(document) if document else None

    async def search(self, question: str, limit: int) -> list[ArchiveHit]:
        """The documents that match, best first, each with its best place; changed files are read before."""
        await self._refresh()
        hits = await self._opened().search(question, limit)
        return [replace(hit, document=self._outside(hit.document)) for hit in hits]

    def _outside(self, document: Document) -> Document:
        """A document with the address that others see."""
        url = self._outer(document.final_url)
        return replace(document, url=url, final_url=url, from_archive=False)

    # --- adding and removing ------------------------------------------------------------------------------------------
    async def add(self, what: str) -> LibraryChange:
        """Add a folder, a file or a URL; raises where there is nothing, or a single document cannot be read."""
        return await self._add(await asyncio.to_thread(_root_of, what))

    async def add_url(self, url: str, limit: float = 0) -> LibraryFile:
        """Add a web page and nothing else: who sends an address must not make this machine read its own files."""
        if not is_page(url):
            raise BAD_ARGUMENT(name="url", why=Text("library.detail.only_url"))
        async with self._sending:
            await self._check_room(1, limit)
            await self._add(Root(url, "url", _now()))
        return await self.file(file_id(url))

    async def upload(self, name: str, body: bytes, limit: float = 0) -> LibraryFile:
        """Add a file that was sent; it is kept in the folder of the library, which may take ``limit`` bytes."""
        async with self._sending:
            await self._check_room(len(body), limit)
            return await self._upload(name, body)

    async def _check_room(self, more: int, limit: float) -> None:
        used = await self.stored() if limit else 0
        if used + more > limit > 0:
            raise LIBRARY_FULL(used=used / 1_000_000, more=more / 1_000_000, limit=limit / 1_000_000)

    async def _upload(self, name: str, body: bytes) -> LibraryFile:
        folder = self._folder / "uploads" / os.urandom(8).hex()
        path = folder / _file_name(name)

        def write() -> None:
            folder.mkdir(parents=True, mode=0o700)
            path.write_bytes(body)

        try:
            await asyncio.to_thread(write)
        except OSError as error:
            await asyncio.to_thread(_unlink, path)
            raise FILE_UNREADABLE(path=path.name, why=error.strerror or error) from None
        try:
            await self._add(Root(str(path), "upload", _now()))
        except SuyuanError:
            await asyncio.to_thread(_unlink, path)
            raise
        return await self.file(file_id(str(path)))

    async def _add(self, root: Root) -> LibraryChange:
        self._folder.mkdir(parents=True, exist_ok=True)
        await self._run(lambda files: files.add_root(root))
        change = await self._update_root(root, force=True)
        if root.kind != "folder" and change.problems:
            # A single document that cannot be read is not added; in a folder it is listed with its problem.
            await self._run(lambda files: files.remove_root(root.root))
            raise change.problems[0][1]
        return change

    async def remove(self, which: str) -> int:
        """Remove what was added, by its path, URL or the id of a document; return the number of documents."""
        if not self.exists():
            raise NOT_IN_LIBRARY(what=which)
        path = which if is_page(which) else _absolute(which)
        file = await self._run(lambda files: files.by_id(which))
        roots = {root.root: root for root in await self._run(LibraryFiles.roots)}
        root = roots.get(path) or (roots.get(file.path) if file else None)
        if root is None:
            raise NOT_IN_LIBRARY(what=which)
        removed = await self._run(lambda files: files.remove_root(root.root))
        if root.kind == "upload":
            await asyncio.to_thread(_unlink, Path(root.root))
        return len(removed)

    # --- keeping it up to date ----------------------------------------------------------------------------------------
    async def update(self, *, force: bool = False) -> LibraryChange:
        """Read what has changed; ``force`` reads web pages again that were read today."""
        total = LibraryChange()
        for root in await self._run(LibraryFiles.roots) if self.exists() else ():
            total.add(await self._update_root(root, force=force))
        return total

    async def _refresh(self) -> None:
        """Look for changes now and then; what takes longer than a search can wait goes on behind it."""
        if self._updating is None or self._updating.done():
            if time.monotonic() - self._checked < _CHECK_SECONDS:
                return
            self._updating = asyncio.ensure_future(self.update())
            self._updating.add_done_callback(_noted)
            self._checked = time.monotonic()
        await asyncio.wait([self._updating], timeout=_PATIENCE)

    async def _update_root(self, root: Root, *, force: bool) -> LibraryChange:
        change = LibraryChange()
        # All of them: what is in two folders that were added is read once.
        known = {file.path: file for file in await self._run(LibraryFiles.files)}
        if root.kind == "url":
            page = known.get(root.root) or LibraryFile(file_id(root.root), root.root, root.root)
            oldest = (datetime.now(UTC) - timedelta(_URL_DAYS)).isoformat(timespec="seconds")
            if page.read_at > oldest and not force:
                change.same += 1
            else:
                await self._update_document(page, change, self._read_url)
            return change
        if root.kind == "folder" and not await asyncio.to_thread(os.path.exists, root.root):
            # A disk that is not mounted must not empty the library.
            return change
        found = await asyncio.to_thread(lambda: dict(files_below(Path(root.root))))
        slots = asyncio.Semaphore(_AT_ONCE)

        async def one(path: str, modified: int, size: int) -> None:
            file = known.get(path) or LibraryFile(file_id(path), root.root, path)
            try:
                check_name(file.shown_path)
            except SuyuanError as error:
                # The index cannot hold it.
                change.problems.append((printable(file.shown_path), error))
                return
            if (file.modified, file.size) == (modified, size) and not (force and file.problem):
                change.same += 1
                return
            async with slots:
                await self._update_document(replace(file, modified=modified, size=size), change, self._read_file)

        await asyncio.gather(*(one(path, *stat) for path, stat in found.items()))
        gone = [file for path, file in known.items() if file.root == root.root and path not in found]
        await self._run(lambda files: files.remove(gone))
        change.removed += len(gone)
        return change

    async def _update_document(self, file: LibraryFile, change: LibraryChange, read: ReadAgain) -> None:
        try:
            found = await read(file)
        except SuyuanError as error:
            change.problems.append((file.shown_path, error))
            failed = replace(file, problem=error.failure)
            await self._run(lambda files: files.put(failed))
            return
        if found is None:
            change.same += 1
            await self._run(lambda files: files.put(file))
            return
        digest, document = found
        now_read = replace(file, sha256=digest, read_at=_now(), problem=None)
        parts = await asyncio.to_thread(parts_of, document)
        await self._run(lambda files: files.store(now_read, document, parts))
        change.read += 1

    async def _read_file(self, file: LibraryFile) -> tuple[str, Document] | None:
        body = await asyncio.to_thread(bytes_of, Path(file.path))
        digest = hashlib.sha256(body).hexdigest()
        if digest == file.sha256:
            return None
        headers = {"content-type": TYPES.get(Path(file.path).suffix.lower(), "")}
        reading = await self._read(ReceivedPage(file.address, Response(200, body, file.address, headers)))
        return digest, _own(reading.document, file)

    async def _read_url(self, file: LibraryFile) -> tuple[str, Document]:
        document = await self._fetch(file.path)
        return document.sha256, replace(document, url=file.path, final_url=file.path)

    # --- the index ----------------------------------------------------------------------------------------------------
    def _opened(self) -> AsyncArchive:
        if self._archive is None:
            # Nothing is removed but what the user removes.
            self._archive = AsyncArchive(self.path, max_bytes=1 << 50, max_days=36_500)
        return self._archive

    async def _run(self, work: Callable[[LibraryFiles], T]) -> T:
        return await self._opened().run(lambda archive: work(LibraryFiles(archive)))

    async def close(self) -> None:
        """Stop reading and close the index."""
        if self._updating is not None:
            self._updating.cancel()
            await asyncio.gather(self._updating, return_exceptions=True)
            self._updating = None
        if self._archive is not None:
            await self._archive.close()
            self._archive = None


def _own(document: Document, file: LibraryFile) -> Document:
    heading = _HEADING.match(document.text) if document.content_type == "text/markdown" else None
    title = document.title.strip() or (heading[1].strip() if heading else "") or file.name
    return replace(document, title=title, private=True)


def _file_name(sent: str) -> str:
    """The last part of a name that was sent, as file systems take it."""
    name = "".join(each for each in PurePath(sent.replace("\\", "/")).name if each.isprintable())
    stem, dot, kind = name.strip(". ").rpartition(".")
    # File systems count bytes, of which a character may have four.
    short = (stem or kind).encode("utf-8", "replace")[:_LONGEST_NAME].decode("utf-8", "ignore").strip(". ")
    return (f"{short}.{kind[:8]}" if dot and short else short) or "document"


def _absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))


def _root_of(what: str) -> Root:
    if is_page(what):
        return Root(what, "url", _now())
    path = _absolute(what)
    if not os.path.exists(path):
        raise NO_SUCH_FILE(path=what)
    check_name(path)
    return Root(path, "folder" if os.path.isdir(path) else "file", _now())


def _unlink(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
        path.parent.rmdir()


def _noted(task: asyncio.Task[LibraryChange]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.warning("the library could not be updated: %s", error)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
