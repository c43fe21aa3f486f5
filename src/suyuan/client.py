"""``AsyncClient`` and ``Client``: join the parts by the settings, share them, and close what was opened."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

from .config.load import load_settings
from .config.settings import Settings
from .core.engine import SearchEngine
from .core.sync_bridge import SyncBridge
from .core.urls import domain_of
from .engines import registry
from .net.network import Network, PageAccess
from .search.pool import EnginePool
from .search.service import SearchService

if TYPE_CHECKING:
    from .chat.service import ChatService
    from .core.document import Document
    from .pages.archive import Archive
    from .pages.fetch import Fetcher

log = logging.getLogger("suyuan.client")


class AsyncClient:
    """Search, read and ask; everything is opened when it is first used, and closed by :meth:`close`."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings = settings or load_settings()
        self.network = _network(settings)
        self.bridge = SyncBridge()
        self.engines = EnginePool(
            settings.engines,
            self.network,
            exit_name=domain_of(settings.net.proxy.reveal()) or "direct",
            state_dir=settings.state_dir,
            archive=self._archive_engine if settings.archive_file else None,
        )
        self.search_service = SearchService(
            self.engines,
            default=settings.search.default,
            seconds=settings.search.seconds,
            cache_seconds=settings.search.cache_minutes * 60,
            lang=settings.search.lang,
            canonical=registry.canonical,
            bridge=self.bridge,
        )
        self._archive: Archive | None = None
        self._fetcher: Fetcher | None = None
        self._chat: ChatService | None = None
        if "google" in settings.search.default and (problem := self.network.browser_problem()):
            # Known at the start, not only when the first search fails.
            log.warning("google: %s %s", problem.message, problem.hint)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def archive(self) -> Archive | None:
        """The pages that were read, or None where nothing is kept."""
        path = self.settings.archive_file
        if self._archive is None and path is not None:
            from .guides.documents import documents
            from .pages.archive import Archive

            pages = self.settings.pages
            archive = Archive(path, max_bytes=pages.archive_megabytes * 1_000_000, max_days=pages.archive_days)
            # How to help oneself must be found without a network, and from the first day.
            archive.pin(documents(self.settings.server.url, datetime.now(UTC).isoformat(timespec="seconds")))
            self._archive = archive
        return self._archive

    def _archive_engine(self) -> SearchEngine:
        from .pages.archive_engine import ArchiveEngine

        assert self.archive is not None, "the pool lists this engine only where there is an archive"
        return ArchiveEngine(self.archive)

    @property
    def fetcher(self) -> Fetcher:
        """Reads pages."""
        if self._fetcher is None:
            from .pages.fetch import Fetcher, FetchSettings

            pages = self.settings.pages
            settings = FetchSettings(seconds=pages.seconds, robots=pages.robots, render=pages.render)
            render = None if self.network.browser_problem() else self.network.render
            self._fetcher = Fetcher(self.network.get, settings, self.archive, render)
        return self._fetcher

    @property
    def chat(self) -> ChatService:
        """The conversations."""
        if self._chat is None:
            from .chat.service import ChatService
            from .store.conversations import Store

            settings = self.settings
            store = Store(settings.store_address or "sqlite://")
            self._chat = ChatService(
                store, self.search_service, self._read, model=settings.model, settings=settings.chat, bridge=self.bridge
            )
        return self._chat

    async def _read(self, url: str) -> Document:
        return await self.fetcher.fetch(url)

    def fetch_sync(self, url: str, *, fresh: bool = False, render: bool = False) -> Document:
        """Read a page, for synchronous callers."""
        return self.bridge.run(self.fetcher.fetch(url, fresh=fresh, render=render))

    async def close(self) -> None:
        """Close what was opened and keep what was learned about the engines."""
        await self._close_connections()
        self._close_files()

    def close_sync(self) -> None:
        """Like :meth:`close`, for synchronous callers."""
        self.bridge.run(self._close_connections())
        self._close_files()

    async def _close_connections(self) -> None:
        if self._chat is not None:
            await self._chat.close()
            self._chat = None
        await self.network.close()

    def _close_files(self) -> None:
        self.engines.save()
        if self._archive is not None:
            self._archive.prune()
            self._archive.close()
            self._archive = None
        self._fetcher = None
        self.bridge.close()


def _network(settings: Settings) -> Network:
    pages = settings.pages
    access = PageAccess(pages.allow_hosts, pages.allow_networks, pages.fake_ip, pages.max_bytes)
    browser_urls = tuple(
        own.base_url
        for name, own in settings.engines.items()
        if own.base_url and getattr(registry.load(name), "via_browser", False)
    )
    return Network(
        settings.net, settings.browser, access, chrome_profile=settings.chrome_profile, browser_urls=browser_urls
    )
