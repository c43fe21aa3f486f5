"""Reads what has changed in the folders, files and web pages that were added to the library."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ..core.causes.library import FILE_INTERRUPTED
from ..core.document import Cut, Document
from ..core.errors import SuyuanError
from ..core.wire import Response
from .document_parts import parts_of
from .library_files import LibraryFile, LibraryFiles, Root, file_id
from .local_files import TYPES, bytes_of, check_name, files_below, printable
from .reading import OWN_LIMITS, Reading, ReceivedPage

Read = Callable[[ReceivedPage], Awaitable[Reading]]
Fetch = Callable[[str], Awaitable[Document]]
InIndex = Callable[[Callable[[LibraryFiles], Any]], Awaitable[Any]]
"""Does something with the list in the thread of the index."""
ReadAgain = Callable[[LibraryFile], Awaitable[tuple[str, Document] | None]]
"""Reads a document and the hash of its file; None where that has not changed."""

_AT_ONCE = 4
_URL_DAYS = 1
# What is smaller cannot hold anybody up.
_SMALL = 64_000
_HEADING = re.compile(r"\s*#\s+(.+)")


@dataclass(slots=True)
class LibraryChange:
    """What an update found: how many documents were read, stayed the same, or are gone."""

    read: int = 0
    same: int = 0
    removed: int = 0
    problems: list[tuple[str, SuyuanError]] = field(default_factory=list)
    """The files that could not be read, and why."""
    cut: list[tuple[str, Cut]] = field(default_factory=list)
    """The files that could not be read to their ends, and how much of them was."""

    def add(self, other: LibraryChange) -> None:
        """Count what another update found."""
        self.read, self.same = self.read + other.read, self.same + other.same
        self.removed, self.problems = self.removed + other.removed, self.problems + other.problems
        self.cut = self.cut + other.cut

    def as_dict(self, lang: str = "en") -> dict[str, Any]:
        """The published shape of what an update found."""
        return {
            "read": self.read,
            "same": self.same,
            "removed": self.removed,
            "cut": [{"path": path, **cut.published(lang)} for path, cut in self.cut],
            "problems": [{"path": path, **error.failure.published(lang)} for path, error in self.problems],
        }


class LibraryUpdate:
    """One look at what was added, and what it found."""

    def __init__(self, in_index: InIndex, read: Read, fetch: Fetch) -> None:
        self._in_index = in_index
        self._read = read
        self._fetch = fetch
        self.change = LibraryChange()
        self.has_read = False
        """Whether anything has changed, so that documents are being read or were."""

    async def root(self, root: Root, *, force: bool) -> None:
        """Read what has changed in one root; ``force`` reads web pages again that were read today."""
        known: dict[str, LibraryFile] = await self._in_index(lambda files: files.files_at(root.root))
        if root.kind == "url":
            await self._page(known.get(root.root) or LibraryFile(file_id(root.root), root.root, root.root), force)
        elif await asyncio.to_thread(_is_within_reach, root):
            await self._files(root, known, force)

    async def _page(self, page: LibraryFile, force: bool) -> None:
        oldest = (datetime.now(UTC) - timedelta(_URL_DAYS)).isoformat(timespec="seconds")
        if page.read_at > oldest and not force:
            self.change.same += 1
        else:
            await self._document(page, self._read_page)

    async def _files(self, root: Root, known: dict[str, LibraryFile], force: bool) -> None:
        found = await asyncio.to_thread(lambda: dict(files_below(Path(root.root))))
        changed = self._changed(root, known, found, force)
        waiting = iter(changed)

        async def work() -> None:
            for file in waiting:
                await self._document(file, self._read_file)

        await asyncio.gather(*(work() for _ in range(_AT_ONCE)))
        gone = [file for path, file in known.items() if file.root == root.root and path not in found]
        await self._in_index(lambda files: files.remove(gone))
        self.change.removed += len(gone)

    def _changed(
        self, root: Root, known: dict[str, LibraryFile], found: dict[str, tuple[int, int]], force: bool
    ) -> Iterable[LibraryFile]:
        """The files that must be read, as they are on the disk now."""
        changed = []
        for path, (modified, size) in found.items():
            file = known.get(path)
            if file is None:
                file = LibraryFile(file_id(path), root.root, path)
                try:
                    check_name(file.shown_path)
                except SuyuanError as error:
                    # The index cannot hold it.
                    self.change.problems.append((printable(file.shown_path), error))
                    continue
            is_same = (file.modified, file.size) == (modified, size)
            if is_same and not (force and file.problem):
                self.change.same += 1
            else:
                changed.append(replace(file, modified=modified, size=size))
        return changed

    async def _document(self, file: LibraryFile, read: ReadAgain) -> None:
        self.has_read = True
        if file.size > _SMALL:
            # A document that ends the program must not end the next one as well.
            begun = replace(file, problem=FILE_INTERRUPTED.failure())
            await self._in_index(lambda files: files.put(begun))
        try:
            found = await read(file)
        except asyncio.CancelledError:
            # Who stopped did not stop because of it: it is read the next time.
            with contextlib.suppress(SuyuanError):
                again = replace(file, modified=0, size=0)
                await asyncio.shield(self._in_index(lambda files: files.put(again)))
            raise
        except SuyuanError as error:
            self.change.problems.append((file.shown_path, error))
            failed = replace(file, problem=error.failure)
            await self._in_index(lambda files: files.put(failed))
            return
        if found is None:
            self.change.same += 1
            unchanged = replace(file, problem=None)
            await self._in_index(lambda files: files.put(unchanged))
            return
        digest, document = found
        now_read = replace(file, sha256=digest, read_at=_now(), problem=None)
        parts = await asyncio.to_thread(parts_of, document)
        await self._in_index(lambda files: files.store(now_read, document, parts))
        self.change.read += 1
        if document.cut is not None:
            self.change.cut.append((file.shown_path, document.cut))

    async def _read_file(self, file: LibraryFile) -> tuple[str, Document] | None:
        body = await asyncio.to_thread(bytes_of, Path(file.path))
        digest = hashlib.sha256(body).hexdigest()
        if digest == file.sha256:
            return None
        headers = {"content-type": TYPES.get(Path(file.path).suffix.lower(), "")}
        response = Response(200, body, file.address, headers)
        # The index takes the words of its parts.
        reading = await self._read(ReceivedPage(file.address, response, limits=OWN_LIMITS, indexed=False))
        return digest, _own(reading.document, file)

    async def _read_page(self, file: LibraryFile) -> tuple[str, Document]:
        document = await self._fetch(file.path)
        return document.sha256, replace(document, url=file.path, final_url=file.path)


def _is_within_reach(root: Root) -> bool:
    """Whether its files can be looked for: a disk that is not mounted, or another machine, empties no library."""
    # A file that was deleted leaves its folder behind. Of one that was sent the text is here in any case.
    return os.path.exists(os.path.dirname(root.root) if root.kind == "file" else root.root)


def _own(document: Document, file: LibraryFile) -> Document:
    heading = _HEADING.match(document.text) if document.content_type == "text/markdown" else None
    title = document.title.strip() or (heading[1].strip() if heading else "") or file.name
    return replace(document, title=title, private=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
