"""``Library``: the user's own documents, kept up to date and searched by the index of the archive."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from ..core.causes.asked import BAD_ARGUMENT
from ..core.causes.files import FOLDER_READ_ONLY
from ..core.causes.library import LIBRARY_FULL, NO_SUCH_FILE, NOT_IN_LIBRARY
from ..core.disk_errors import disk_error
from ..core.document import Document
from ..core.errors import SuyuanError
from ..core.file_names import file_name
from ..core.notices import Notices
from ..core.own_address import OwnAddresses
from ..core.private_file import new_private_file, private_folder
from ..core.urls import is_page
from ..messages.catalog import Text
from ..text.visible import shown_line
from .archive import Archive
from .async_archive import AsyncArchive
from .library_files import SCHEME, LibraryEntry, LibraryFile, LibraryFiles, Root, file_id
from .library_update import Fetch, LibraryChange, LibraryUpdate, Read
from .library_uploads import UPLOADS, adopt, has_files, relocate
from .local_files import check_name
from .page_archive import ArchiveHit, PageArchive

log = logging.getLogger("suyuan.pages")

T = TypeVar("T")

_CHECK_SECONDS = 30.0
# How long a search waits for the look for changes, and for files that have changed.
_LOOK_SECONDS = 0.15
_PATIENCE = 1.5


class Library:
    """Documents on this machine. Nothing of them is sent anywhere; the index is a file in ``folder``."""

    def __init__(self, folder: Path, addresses: tuple[str, ...], read: Read, fetch: Fetch) -> None:
        self._folder = folder
        self._base = f"{addresses[0]}/library/"
        self._own = OwnAddresses.of(addresses)
        self._read, self._fetch = read, fetch
        self._archive: AsyncArchive | None = None
        self._checked = float("-inf")
        # Many at once must not all find the same room.
        self._sending = asyncio.Lock()
        self._updating: asyncio.Task[LibraryChange] | None = None
        self._look: LibraryUpdate | None = None

    # --- what is in it ------------------------------------------------------------------------------------------------
    @property
    def path(self) -> Path:
        """The file of the index."""
        return self._folder / "library.sqlite"

    def exists(self) -> bool:
        """Whether anything was ever added."""
        return self._archive is not None or self.path.exists() or has_files(self._folder)

    async def entries(self, limit: int = -1, offset: int = 0) -> list[LibraryEntry]:
        """The documents by path, all or a part of the list."""
        return await self._run(lambda files: files.entries(limit, offset)) if self.exists() else []

    async def entry(self, id: str) -> LibraryEntry:
        """The line of the list for the document with this id; raises ``NOT_IN_LIBRARY``."""
        found = await self._run(lambda files: files.entries(id=id)) if self.exists() and id else []
        if not found:
            raise NOT_IN_LIBRARY(what=id)
        return found[0]

    def check(self) -> tuple[str, int]:
        """``ok`` or the problem that SQLite finds in the file, and how many documents there are; waits for the disk."""
        if not self.exists():
            return "ok", 0
        index = self._opened().open()
        return index.check(), LibraryFiles(index).count()

    async def count(self) -> int:
        """How many documents there are."""
        return await self._run(LibraryFiles.count) if self.exists() else 0

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
        return self._base + address.removeprefix(SCHEME) if address.startswith(SCHEME) else address

    async def path_of(self, document: Document) -> str:
        """The path of a document of the library for people, from the folder on that was added."""
        id = self._own.document(document.final_url)
        return shown_line((await self.file(id)).shown_path) if id else document.final_url

    def is_address(self, url: str) -> bool:
        """Whether an address leads to a document here, and to nothing else."""
        return bool(self._own.document(url))

    def as_dict(self, entry: LibraryEntry, lang: str = "en") -> dict[str, object]:
        """The published shape of a document of the list."""
        file = entry.file
        return {
            "id": file.id,
            "name": shown_line(file.name),
            "path": shown_line(file.shown_path),
            "kind": entry.kind,
            "title": entry.title,
            "url": self.url_of(file),
            "size": file.size,
            "characters": entry.characters,
            "cut": entry.cut.published(lang) if entry.cut else None,
            "added_at": entry.added_at,
            "read_at": file.read_at,
            "problem": file.problem.published(lang) if file.problem else None,
        }

    async def get(self, url: str, fresh: bool = False) -> Document | None:
        """The document at an address of the library; None where ``url`` is not in it, or a web page is wanted fresh."""
        if id := self._own.document(url):
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
        folder = self._folder / UPLOADS / os.urandom(8).hex()
        path, part = folder / file_name(name), folder.with_name(f"{folder.name}.part") / file_name(name)
        root = Root(str(path), "upload", _now())

        def write() -> None:
            private_folder(part.parent)
            new_private_file(part, body)

        try:
            await asyncio.to_thread(write)
            # In the list first: a whole file that is not in it would be taken for one that was lost from it.
            await self._run(lambda files: files.add_root(root))
            await asyncio.to_thread(part.parent.rename, folder)
            await self._add(root)
        except OSError as error:
            await self._withdraw(root, part)
            raise disk_error(error, self._folder) from None
        except SuyuanError:
            await self._withdraw(root, part)
            raise
        return await self.file(file_id(str(path)))

    async def _withdraw(self, root: Root, part: Path) -> None:
        """Remove what is left of a file that could not be added."""
        for path in (part, Path(root.root)):
            await asyncio.to_thread(_unlink, path)
        with contextlib.suppress(SuyuanError):
            await self._run(lambda files: files.remove_root(root.root))

    async def _add(self, root: Root) -> LibraryChange:
        await asyncio.to_thread(private_folder, self._folder)
        await self._run(lambda files: files.add_root(root))
        look = self._new_look()
        await look.root(root, force=True)
        change = look.change
        if root.kind != "folder" and change.problems:
            # A single document that cannot be read is not added; in a folder it is listed with its problem.
            await self._remove_sent(root)
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
        await self._remove_sent(root)
        return len(await self._run(lambda files: files.remove_root(root.root)))

    async def _remove_sent(self, root: Root) -> None:
        """Delete a file that was sent, before it leaves the list: from then on it would be taken for a lost one."""
        if root.kind == "upload":
            await asyncio.to_thread(_unlink, Path(root.root))

    # --- keeping it up to date ----------------------------------------------------------------------------------------
    async def update(self, *, force: bool = False) -> LibraryChange:
        """Read what has changed; ``force`` reads web pages again that were read today."""
        self._look = look = self._new_look()
        if self.exists():
            await self._opened().run(self._adopt)
        for root in await self._run(LibraryFiles.roots) if self.exists() else ():
            await look.root(root, force=force)
        return look.change

    def _adopt(self, index: PageArchive) -> None:
        assert isinstance(index, Archive), "the library is a file of this machine"
        if found := adopt(index, self._folder):
            log.info("%d documents that were missing in the list of the library are read again", found)

    async def _refresh(self) -> None:
        """Look for changes now and then; what takes longer than a search can wait goes on behind it."""
        if self._updating is None or self._updating.done():
            if time.monotonic() - self._checked < _CHECK_SECONDS:
                return
            self._updating = asyncio.ensure_future(self.update())
            self._updating.add_done_callback(_noted)
            self._checked = time.monotonic()
        await asyncio.wait([self._updating], timeout=_LOOK_SECONDS)
        if self._look is not None and self._look.has_read:
            await asyncio.wait([self._updating], timeout=_PATIENCE)

    def _new_look(self) -> LibraryUpdate:
        return LibraryUpdate(self._run, self._read, self._fetch)

    # --- the index ----------------------------------------------------------------------------------------------------
    def _opened(self) -> AsyncArchive:
        if self._archive is None:
            self._archive = AsyncArchive(self.path, opened=self._open_index)
        return self._archive

    def _open_index(self) -> Archive:
        # Nothing is removed but what the user removes.
        # Notices are kept in the folder of the data, which the folder of the library is in.
        notices = Notices(self._folder.parent)
        archive = Archive(self.path, max_bytes=1 << 50, max_days=36_500, notices=notices, kind="library")
        try:
            relocate(archive, self._folder)
        except SuyuanError as error:
            if error.detail_code != FOLDER_READ_ONLY.detail_code:
                raise
            # What was read of the documents is in the index.
            log.info("%s", error.message)
        return archive

    async def _run(self, work: Callable[[LibraryFiles], T]) -> T:
        return await self._opened().run(lambda archive: work(LibraryFiles(archive)))

    async def close(self) -> None:
        """Stop reading and close the index."""
        # One that is done may have been of another loop, which is closed.
        if self._updating is not None and not self._updating.done():
            self._updating.cancel()
            await asyncio.gather(self._updating, return_exceptions=True)
        self._updating = None
        if self._archive is not None:
            await self._archive.close()
            self._archive = None


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
