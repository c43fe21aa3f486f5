"""``PagesByPerson``: reads pages, and keeps what was read and added apart for each person."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextvars import copy_context
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from .config.settings import Settings
from .core.causes.browser import BROWSER_UNSANDBOXED
from .core.causes.store import STORE_NO_DRIVER
from .core.engine import SearchEngine
from .core.person import Person, current_person, require
from .core.result import ARCHIVE, LIBRARY
from .net.network import Network

if TYPE_CHECKING:
    from .core.document import Document
    from .pages.async_archive import AsyncArchive
    from .pages.fetch import Fetcher
    from .pages.library import Library
    from .pages.reader import PageReader
    from .store.archive import StoredArchives


class PagesByPerson:
    """The archive, the library and the fetcher of the person who asks; each is opened when it is first used."""

    def __init__(self, settings: Settings, network: Network) -> None:
        self._settings = settings
        self._network = network
        self._archives: dict[str, AsyncArchive] = {}
        self._libraries: dict[str, Library] = {}
        self._fetchers: dict[str, Fetcher] = {}

    def engines(self) -> dict[str, Callable[[], SearchEngine]]:
        """The engines that search what is kept here, without the web."""
        engines: dict[str, Callable[[], SearchEngine]] = {}
        if self._settings.keeps_pages:
            engines[ARCHIVE] = self._archive_engine
        if self._settings.library_dir:
            engines[LIBRARY] = self._library_engine
        return engines

    @property
    def archive(self) -> AsyncArchive | None:
        """The pages that were read, or None where nothing is kept."""
        person = current_person.get().id
        if person not in self._archives and self._settings.keeps_pages:
            self._archives[person] = self._new_archive(person)
        return self._archives.get(person)

    @property
    def library(self) -> Library:
        """The user's own documents, which need the scope ``chat``; raises where there is no folder for them."""
        require("chat")
        return self._own_library()

    def _own_library(self) -> Library:
        person = current_person.get().id
        if person not in self._libraries:
            from .core.causes.library import LIBRARY_OFF
            from .pages.library import Library

            if (folder := self._settings.library_dir) is None:
                raise LIBRARY_OFF()
            addresses = self._settings.server.addresses
            self._libraries[person] = Library(_own_path(folder), addresses, self.reader.read, self._read_anew)
        return self._libraries[person]

    @property
    def fetcher(self) -> Fetcher:
        """Reads pages."""
        person = current_person.get().id
        if person not in self._fetchers:
            from .pages.fetch import Fetcher, FetchSettings

            pages = self._settings.pages
            settings = FetchSettings(seconds=pages.timeout_ms / 1000, robots=pages.robots, render=pages.render)
            problem = self._network.browser_problem()
            # That it may not load pages is said by the browser itself, to whoever wants one loaded.
            is_there = problem is None or problem.detail_code == BROWSER_UNSANDBOXED.detail_code
            render = self._network.render if is_there else None
            own = self._own_document if self._settings.library_dir else None
            self._fetchers[person] = Fetcher(self._network.get, settings, self.reader, self.archive, render, own)
        return self._fetchers[person]

    @cached_property
    def reader(self) -> PageReader:
        """Converts pages and files to documents."""
        from .pages.reader import PageReader

        return PageReader()

    def export(self, person: str) -> list[dict[str, Any]]:
        """The pages that a person has read; waits for the disk."""
        # In a context of its own: whoever exports is not that person.
        return copy_context().run(self._read_pages, person)

    def remove(self, person: str) -> None:
        """Delete the files of a person; waits for the disk."""
        if folder := self._settings.data_dir:
            # The id is ours, of letters and digits.
            rmtree(folder / "people" / person, ignore_errors=True)

    async def close(self) -> None:
        """Close what was opened; the reader goes with :meth:`close_reader`."""
        for library in self._libraries.values():
            await library.close()
        for archive in self._archives.values():
            await archive.close()
        self._libraries.clear()
        self._archives.clear()
        self._fetchers.clear()
        if stored := self.__dict__.pop("_stored_archives", None):
            stored.close()

    def close_reader(self) -> None:
        """End the processes that read pages; waits for them."""
        if reader := self.__dict__.pop("reader", None):
            reader.close()

    @cached_property
    def _stored_archives(self) -> StoredArchives:
        from .store.archive import StoredArchives

        return StoredArchives(self._settings.store_url, **self._limits(), cited=self._cited)

    def _new_archive(self, person: str) -> AsyncArchive:
        from .pages.async_archive import AsyncArchive

        if (path := self._settings.archive_file) is not None:
            cited = partial(self._cited, person)
            return AsyncArchive(_own_path(path), self._guides, **self._limits(), cited=cited)
        stored = self._stored_archives
        return AsyncArchive("PostgreSQL", self._guides, opened=lambda: stored.of(person))

    def _cited(self, person: str, since: str = "") -> Collection[str]:
        """The hashes of the texts that a person's answers and reports cite."""
        if not self._settings.store_address:
            return ()
        try:
            from .store.cited import cited_texts
        except ModuleNotFoundError as error:
            raise STORE_NO_DRIVER(driver=error.name or "sqlalchemy") from None
        return cited_texts(self._settings.store_address, person, since)

    def _limits(self) -> dict[str, Any]:
        pages = self._settings.pages
        return {"max_bytes": pages.archive_megabytes * 1_000_000, "max_days": pages.archive_days}

    def _guides(self) -> Iterable[Document]:
        # They must be found without a network, and from the first day.
        from .guides.documents import documents

        return documents(self._settings.server.url, datetime.now(UTC).isoformat(timespec="seconds"))

    def _archive_engine(self) -> SearchEngine:
        from .pages.archive_engine import ArchiveEngine

        return ArchiveEngine(self._searched_archive)

    def _searched_archive(self) -> AsyncArchive | None:
        # An address of the archive is that of a page, which anybody could read; a list of them tells what was read.
        require("chat")
        return self.archive

    async def _own_document(self, url: str, fresh: bool) -> Document | None:
        """A document of the library at this address; None where it is a page of the web that has to be read."""
        library = self._own_library()
        if not current_person.get().may("chat") and not library.is_address(url):
            # That a page of the web is among the documents as well is not told.
            return None
        require("chat")
        return await library.get(url, fresh)

    def _library_engine(self) -> SearchEngine:
        from .pages.library_engine import LibraryEngine

        return LibraryEngine(lambda: self.library)

    async def _read_anew(self, url: str) -> Document:
        return await self.fetcher.fetch(url, fresh=True, whole=True)

    def _read_pages(self, person: str) -> list[dict[str, Any]]:
        current_person.set(Person(person, ""))
        path = self._settings.archive_file
        if self.archive is None or (path and not _own_path(path).exists()):
            return []
        from .pages.archive_lines import exported

        return [exported(document) for document in self.archive.open().export()]


def _own_path(path: Path) -> Path:
    """The place of what belongs to the person who asks."""
    person = current_person.get().id
    return path.parent / "people" / person / path.name if person else path
