"""``AsyncArchive``: the archive for event loops. It works in a thread of its own, and reading goes on without it."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from ..core.at_work import NotedThreads
from ..core.causes.files import FOLDER_READ_ONLY
from ..core.document import Document
from ..core.errors import SuyuanError
from ..core.notices import Notices
from .archive import Archive
from .archive_tidying import Cited
from .page_archive import ArchiveHit, PageArchive

log = logging.getLogger("suyuan.pages")
T = TypeVar("T")

# How long a reader of pages waits for the archive, and how long it is left alone after it failed.
_WAIT_SECONDS = 2.0
_REST_SECONDS = 30.0
# A transaction costs more than what is stored in it: where more pages are being read, the next ones are waited for.
_TOGETHER_SECONDS = 0.02
_MOST_WAITING = 500


class AsyncArchive:
    """An archive, opened when it is first used; ``pinned`` makes the pages that are never removed.

    It is the file ``path``, unless ``opened`` makes another one.
    """

    def __init__(
        self,
        path: Path | str,
        pinned: Callable[[], Iterable[Document]] = tuple,
        *,
        max_bytes: int = 512 * 1024 * 1024,
        max_days: int = 365,
        notices: Notices | None = None,
        cited: Cited = lambda since: (),
        opened: Callable[[], PageArchive] | None = None,
    ) -> None:
        self.path = str(path)
        self.problem: SuyuanError | None = None
        """Why it could not be used the last time."""
        self._pinned = pinned
        self._open = opened or (
            lambda: Archive(path, max_bytes=max_bytes, max_days=max_days, notices=notices, cited=cited)
        )
        self._lock = threading.Lock()
        self._archive: PageArchive | None = None
        self._resting_until = 0.0
        self._new: deque[tuple[Document, str]] = deque(maxlen=_MOST_WAITING)
        self._closing = threading.Event()
        self._tidying = False
        """Whether the next step of tidying is waiting for the thread."""
        # One thread, since SQLite has one writer; another one that does not wait for the next pages.
        self._thread = NotedThreads(1, "suyuan-archive")
        self._lookups = NotedThreads(1, "suyuan-archive-get")

    def open(self) -> PageArchive:
        """The archive for synchronous callers; raises the cause if it cannot be opened."""
        with self._lock:
            if self._archive is None:
                archive = self._open()
                try:
                    archive.pin(self._pinned())
                except SuyuanError as error:
                    # Locked or full: the next start will write them.
                    log.warning("%s", error.message)
                self._archive = archive
                self._tidy_soon()
            return self._archive

    async def get(self, url: str) -> Document | None:
        """The latest version of the page at ``url``; None if there is none, or the archive cannot be used."""
        return await self._try(lambda archive: archive.get(url), self._lookups)

    async def version(self, sha256: str) -> Document | None:
        """The document with exactly this text; None if there is none, or the archive cannot be used."""
        return await self._try(lambda archive: archive.version(sha256), self._lookups)

    async def put(self, document: Document, index: str = "", *, more: bool = False) -> None:
        """Store a document, if the archive can be used; where ``more`` follow soon, together with these."""
        if time.monotonic() >= self._resting_until:
            self._new.append((document, index))
            await self._try(lambda archive: self._put_new(archive, more), self._thread)

    async def search(self, question: str, limit: int, *, guides: bool = False) -> list[ArchiveHit]:
        """The documents that match ``question``; raises the cause if the archive cannot be used."""
        return await self.run(lambda archive: archive.search(question, limit, guides=guides))

    async def run(self, work: Callable[[PageArchive], T]) -> T:
        """Do ``work`` in the thread of the archive; raises the cause if the archive cannot be used."""
        result = await asyncio.wrap_future(self._thread.submit(lambda: work(self.open())))
        self._tidy_soon()
        return result

    async def close(self) -> None:
        """Finish what has begun, and close the file."""
        self._closing.set()
        try:
            closing = self._thread.submit(self._close)
        except RuntimeError:
            # At the end of the process threads take no more work.
            self._close()
            return
        await asyncio.wrap_future(closing)
        self._thread.shutdown(wait=False)

    async def _try(self, work: Callable[[PageArchive], T], thread: ThreadPoolExecutor) -> T | None:
        if time.monotonic() < self._resting_until:
            return None
        future = asyncio.wrap_future(thread.submit(self._guarded, work))
        done, _ = await asyncio.wait([future], timeout=_WAIT_SECONDS)
        # What takes longer goes on without us.
        return future.result() if done else None

    def _put_new(self, archive: PageArchive, more: bool) -> None:
        if not self._new:
            # The call before this one has stored it.
            return
        if more:
            self._closing.wait(_TOGETHER_SECONDS)
        archive.put_all([self._new.popleft() for _ in range(len(self._new))])
        self._tidy_soon()

    def _tidy_soon(self) -> None:
        """Keep the archive within its limits behind the work that is waiting, one small step at a time."""
        if self._tidying or self._closing.is_set():
            return
        self._tidying = True
        try:
            self._thread.submit(self._tidy)
        except RuntimeError:
            # It is being closed.
            self._tidying = False

    def _tidy(self) -> None:
        self._tidying = False
        if self._closing.is_set() or self._archive is None:
            return
        try:
            more = self._archive.tidy()
        except SuyuanError as error:
            log.warning("%s", error.message)
            return
        if more:
            self._tidy_soon()

    def _guarded(self, work: Callable[[PageArchive], T]) -> T | None:
        if time.monotonic() < self._resting_until:
            return None
        try:
            result = work(self.open())
        except SuyuanError as error:
            if self.problem is None or self.problem.detail_code != error.detail_code:
                log.warning("%s", error.message)
            self.problem = error
            if error.detail_code != FOLDER_READ_ONLY.detail_code:
                self._resting_until = time.monotonic() + _REST_SECONDS
            # What is on a read-only disk is read all the same.
            return None
        self.problem = None
        return result

    def _close(self) -> None:
        self._lookups.shutdown()
        archive, self._archive = self._archive, None
        if archive is None:
            return
        archive.close()
