"""``AsyncClient`` and ``Client``: join the parts by the settings, and close what was opened."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing
from contextvars import copy_context
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from shutil import rmtree
from typing import TYPE_CHECKING, Any, Self, Unpack

from .config.load import load_settings
from .config.settings import Settings
from .core.engine import SearchEngine
from .core.errors import SuyuanError
from .core.page_reading import Depth, tokens_for
from .core.person import Person, current_person
from .core.query import SearchParams, SearchQuery
from .core.result import ARCHIVE, LIBRARY, SearchPage
from .core.sync_bridge import SyncBridge
from .core.urls import domain_of
from .engines import registry
from .net.network import Network, PageAccess
from .search.focus import FOCUSES
from .search.pool import EnginePool
from .search.service import SearchService

if TYPE_CHECKING:
    from .chat.events import Answer, Event
    from .chat.service import ChatService
    from .chat.session import AskParams
    from .chat.session_factory import SessionFactory
    from .core.document import Document
    from .live.live import Live
    from .llm.connected_models import ConnectedModels
    from .pages.async_archive import AsyncArchive
    from .pages.fetch import Fetcher
    from .pages.library import Library
    from .pages.reader import PageReader
    from .research.report import Research
    from .research.request import ResearchParams
    from .research.service import ResearchService
    from .search.connected_engines import ConnectedEngines
    from .search.result_reader import ResultReader
    from .store.archive import StoredArchives

log = logging.getLogger("suyuan.client")

_PARALLEL_SEARCHES = 8
_MAX_RETRIES = 3
_ENGINE_FILE = "engine-keys.json"
# An engine, or a limit of ours, says when to come again; other failures may last.
_WAITING = {"own_rate_limit", "circuit_open", "http_429"}


class AsyncClient:
    """Search, read and ask. Everything is opened when it is first used, and closed by :meth:`close`.

    The engines' limits, breakers and latencies are shared by all clients of the process. Another ``network`` and other
    ``engines`` than those that are installed can be passed; the demo has its own.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        network: Network | None = None,
        engines: Mapping[str, registry.Factory] | None = None,
    ) -> None:
        self.settings = settings = settings or load_settings()
        self.network = network or _network(settings)
        self.bridge = SyncBridge()
        """Runs coroutines of this client for synchronous callers."""
        self.live = _live(settings)
        """What is shared with other workers; None where this one is alone."""
        self.engines = EnginePool(
            settings.engines,
            self.network,
            exit_name=domain_of(settings.net.proxy.reveal()) or "direct",
            state_dir=settings.state_dir,
            offline=self._offline_engines(),
            factories=engines,
            live=self.live,
        )
        self.search_service = SearchService(
            self.engines,
            default=settings.search.default,
            seconds=settings.search.seconds,
            cache_seconds=settings.search.cache_minutes * 60,
            lang=settings.search.lang,
            bridge=self.bridge,
            ready=self.engines.ready,
            focuses={**FOCUSES, **settings.search.focuses},
            shared=self.live.cache if self.live else None,
        )
        # By person: what one has read and added is nobody else's.
        self._archives: dict[str, AsyncArchive] = {}
        self._stored_archives: StoredArchives | None = None
        self._libraries: dict[str, Library] = {}
        self._fetchers: dict[str, Fetcher] = {}
        self._reader: PageReader | None = None
        self._sessions: SessionFactory | None = None
        self._connected: ConnectedModels | None = None
        self._engine_file = settings.data_dir / _ENGINE_FILE if settings.data_dir else None
        self._connected_engines: ConnectedEngines | None = None
        if self._engine_file is not None and self._engine_file.exists():
            self.connect_engines()
        self._chat: ChatService | None = None
        self._research: ResearchService | None = None
        if "google" in settings.search.default and (problem := self.network.browser_problem()):
            # Known at the start, not only when the first search fails.
            log.warning("google: %s %s", problem.message, problem.hint)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # --- what callers want ----------------------------------------------------------------------------------------
    async def search(
        self,
        query: SearchQuery | str,
        *,
        engines: str = "",
        max_wait: float = 0.0,
        depth: Depth = "results",
        max_tokens: int | None = None,
        **params: Unpack[SearchParams],
    ) -> SearchPage:
        """Search the web; ``engines`` is a plan such as ``auto``, ``brave,ddg_html`` or ``ddg_html+bing_html``.

        ``focus`` is a kind of source: ``news``, ``academic``, ``code``, …, or one of the configuration.
        With the depth ``passages`` the pages behind the first results are read, and ``result.reading`` has the passages
        that answer the query; with ``pages`` it has whole pages. All of them together have at most ``max_tokens``.
        Returns a page, which may be empty. Raises a ``SuyuanError`` with ``attempts`` where no engine could answer.
        One that is ``retryable`` says in ``retry_after`` when to try again; with ``max_wait`` the search does so itself
        for up to so many seconds.
        """
        tokens_for(depth, max_tokens)
        page = await self._found(query, engines, max_wait, params)
        return await self.result_reader.read(page, depth, max_tokens) if depth != "results" else page

    async def _found(self, query: SearchQuery | str, engines: str, max_wait: float, params: SearchParams) -> SearchPage:
        deadline, tries = time.monotonic() + max_wait, 0
        while True:
            try:
                return await self.search_service.search(query, engines=engines, **params)
            except SuyuanError as error:
                pause = max(error.retry_after or 0.0, 0.05)
                # Where nobody asked us to wait, trying again helps a few times at most.
                tries += not any(attempt.detail_code in _WAITING for attempt in error.attempts)
                if not error.retryable or tries > _MAX_RETRIES or time.monotonic() + pause > deadline:
                    raise
            await asyncio.sleep(pause)

    async def search_many(
        self,
        queries: Iterable[SearchQuery | str],
        *,
        engines: str = "",
        max_wait: float = 600.0,
        depth: Depth = "results",
        max_tokens: int | None = None,
        **params: Unpack[SearchParams],
    ) -> list[SearchPage | SuyuanError]:
        """Search for each query, and wait within the engines' limits instead of failing.

        The outcomes come in the order of the queries; one that failed is its error. ``max_wait`` seconds is the
        longest time that a single query waits for its turn.
        """
        slots = asyncio.Semaphore(_PARALLEL_SEARCHES)

        async def one(query: SearchQuery | str) -> SearchPage | SuyuanError:
            async with slots:
                try:
                    return await self.search(
                        query, engines=engines, max_wait=max_wait, depth=depth, max_tokens=max_tokens, **params
                    )
                except SuyuanError as error:
                    return error

        return list(await asyncio.gather(*(one(query) for query in queries)))

    async def read(
        self, url: str, *, question: str = "", max_tokens: int = 4000, fresh: bool = False, render: bool = False
    ) -> Document:
        """Read a page. With a ``question``, ``passages`` holds what matters for it, at most ``max_tokens`` long.

        ``fresh`` asks the server even where the archive has a recent copy; ``render`` loads the page in a browser.
        """
        document = await self.fetcher.fetch(url, fresh=fresh, render=render)
        if not question:
            return document
        from .pages.passages import select

        # In a thread, since the text may be as long as a book.
        chosen = await asyncio.to_thread(select, document.text, question, max_tokens)
        return replace(document, passages=chosen.passages)

    async def ask(self, question: str, **params: Unpack[AskParams]) -> Answer:
        """Answer a question from what a search finds; nothing is stored. The keywords are those of :meth:`stream`.

        There is always an answer: where something failed, ``answer.failure`` and ``answer.unverified`` say so.
        """
        from .chat.events import Answer

        answer: Answer | None = None
        async with aclosing(self.stream(question, **params)) as events:  # type: ignore[type-var]
            async for event in events:
                if isinstance(event, Answer):
                    answer = event
        assert answer is not None, "the last event of a turn is its answer"
        return answer

    def stream(self, question: str, **params: Unpack[AskParams]) -> AsyncIterator[Event]:
        """Answer a question event by event; the last event is the answer.

        ``mode`` is ``chat`` or ``agent``; ``search`` (on by default) is the switch of Chat mode; ``engines`` is a plan;
        ``model`` is one of the configured models; ``history`` holds earlier questions and answers; ``length`` is
        ``short``, ``full``, ``list``, ``table`` or ``auto``; ``within`` is a query whose filters (language, age,
        domains, focus) hold for every search.
        """
        from .chat.answering import answer_message

        session = self.sessions.create(
            tuple(params.get("history", ())),
            mode=params.get("mode", "chat"),
            search=params.get("search", True),
            engine=params.get("engines", ""),
            model=params.get("model", ""),
            length=params.get("length"),
            within=params.get("within"),
        )
        return answer_message(session, question)

    async def research(self, question: str, **params: Unpack[ResearchParams]) -> Research:
        """Research a question and return the report, in which every sentence cites passages that were read.

        The job is stored step by step: ``research_service.resume(id)`` goes on with one that was interrupted. There is
        a report even where a budget ended the search; ``state`` and the notices say what happened.
        """
        from .research.report import Research

        service = self.research_service
        job = await service.create(question, {**params, "wait_for_plan": False})
        return Research.of(await service.wait(job.id))

    # --- the parts ------------------------------------------------------------------------------------------------
    @property
    def archive(self) -> AsyncArchive | None:
        """The pages that were read, or None where nothing is kept."""
        person = current_person.get().id
        if person not in self._archives and self.settings.keeps_pages:
            self._archives[person] = self._new_archive(person)
        return self._archives.get(person)

    def _new_archive(self, person: str) -> AsyncArchive:
        from .pages.async_archive import AsyncArchive

        limits: dict[str, Any] = {
            "max_bytes": self.settings.pages.archive_megabytes * 1_000_000,
            "max_days": self.settings.pages.archive_days,
        }
        if (path := self.settings.archive_file) is not None:
            return AsyncArchive(_own_path(path), self._guides, **limits)
        if self._stored_archives is None:
            from .store.archive import StoredArchives

            self._stored_archives = StoredArchives(self.settings.store_url, **limits)
        stored = self._stored_archives
        return AsyncArchive("PostgreSQL", self._guides, opened=lambda: stored.of(person))

    def _guides(self) -> Iterable[Document]:
        # They must be found without a network, and from the first day.
        from .guides.documents import documents

        return documents(self.settings.server.url, datetime.now(UTC).isoformat(timespec="seconds"))

    def _offline_engines(self) -> dict[str, Callable[[], SearchEngine]]:
        engines: dict[str, Callable[[], SearchEngine]] = {}
        if self.settings.keeps_pages:
            engines[ARCHIVE] = self._archive_engine
        if self.settings.library_dir:
            engines[LIBRARY] = self._library_engine
        return engines

    def _archive_engine(self) -> SearchEngine:
        from .pages.archive_engine import ArchiveEngine

        assert self.archive is not None, "the pool lists this engine only where there is an archive"
        return ArchiveEngine(lambda: self.archive)

    @property
    def library(self) -> Library:
        """The user's own documents; raises where there is no folder for them."""
        person = current_person.get().id
        if person not in self._libraries:
            from .core.causes.library import LIBRARY_OFF
            from .pages.library import Library

            if (folder := self.settings.library_dir) is None:
                raise LIBRARY_OFF()
            server = self.settings.server
            addresses = tuple(url for url in (server.public_url, server.url) if url)
            self._libraries[person] = Library(_own_path(folder), addresses, self.reader.read, self._read_anew)
        return self._libraries[person]

    async def _read_anew(self, url: str) -> Document:
        return await self.fetcher.fetch(url, fresh=True)

    def _library_engine(self) -> SearchEngine:
        from .pages.library_engine import LibraryEngine

        return LibraryEngine(lambda: self.library)

    @property
    def reader(self) -> PageReader:
        """Converts pages and files to documents."""
        if self._reader is None:
            from .pages.reader import PageReader

            self._reader = PageReader()
        return self._reader

    @property
    def fetcher(self) -> Fetcher:
        """Reads pages."""
        person = current_person.get().id
        if person not in self._fetchers:
            from .pages.fetch import Fetcher, FetchSettings

            pages = self.settings.pages
            settings = FetchSettings(seconds=pages.timeout_ms / 1000, robots=pages.robots, render=pages.render)
            render = None if self.network.browser_problem() else self.network.render
            own = self.library.get if self.settings.library_dir else None
            self._fetchers[person] = Fetcher(self.network.get, settings, self.reader, self.archive, render, own)
        return self._fetchers[person]

    @property
    def result_reader(self) -> ResultReader:
        """Reads the pages behind search results."""
        from .search.result_reader import ResultReader

        return ResultReader(self.fetcher.fetch, seconds=self.settings.search.seconds)

    @property
    def connected_models(self) -> ConnectedModels:
        """The models that were connected on the page."""
        if self._connected is None:
            from .llm.connected_models import ConnectedModels

            folder = self.settings.data_dir
            self._connected = ConnectedModels(folder / "models.json" if folder else None, self.settings.model)
        return self._connected

    @property
    def connected_engines(self) -> ConnectedEngines:
        """The engines whose keys or addresses were entered on the page."""
        if self._connected_engines is None:
            from .search.connected_engines import ConnectedEngines

            self._connected_engines = ConnectedEngines(self._engine_file, self.settings.engines)
        return self._connected_engines

    def connect_engines(self) -> None:
        """Use what was entered on the page, here or by another process."""
        self.connected_engines.reload()
        if (now := self.connected_engines.all()) != self.settings.engines:
            self.settings = replace(self.settings, engines=now)
            self.engines.configure(now)

    @property
    def sessions(self) -> SessionFactory:
        """Makes what a turn needs."""
        if self._sessions is None:
            from .chat.recall import Recall
            from .chat.session_factory import SessionFactory

            model, chat = self.settings.model, self.settings.chat
            recall = Recall(lambda: self.archive)
            self._sessions = SessionFactory(
                self.search_service, self.read, model=model, settings=chat, bridge=self.bridge, recall=recall
            )
            self.connect_models()
        return self._sessions

    def connect_models(self) -> None:
        """Let conversations use the models that were connected on the page, here or by another process."""
        for model in self.connected_models.all().values():
            if self._sessions is not None and model.label not in self._sessions.models:
                self._sessions.connect(model)

    @property
    def chat(self) -> ChatService:
        """The stored conversations."""
        if self._chat is None:
            from .chat.service import ChatService
            from .store.conversations import Store

            folder = self.settings.data_dir
            store = Store(self.settings.store_address or "sqlite://")
            self._chat = ChatService(store, self.sessions, folder / "unsaved" if folder else None, self.live)
        return self._chat

    @property
    def research_service(self) -> ResearchService:
        """The research jobs."""
        if self._research is None:
            from .research.model_calls import ModelCalls
            from .research.service import ResearchService
            from .store.research import ResearchStore

            models = ModelCalls(self.sessions.models, self.sessions.default_model)
            store = ResearchStore(self.settings.store_address or "sqlite://")
            nudges = self.live.nudges if self.live else None
            self._research = ResearchService(
                store, self, self.settings.research, models, post=self.network.post, nudges=nudges
            )
        return self._research

    def export_person(self, name: str) -> dict[str, Any]:
        """Everything that is kept of a person, the pages that were read included; waits for the disk."""
        account = self.chat.store.people.named(name)
        # In a context of its own: whoever exports is not that person.
        return {**self.chat.store.people.export(account), "archive": copy_context().run(self._read_pages, account.id)}

    def _read_pages(self, person: str) -> list[dict[str, Any]]:
        current_person.set(Person(person, ""))
        path = self.settings.archive_file
        if self.archive is None or (path and not _own_path(path).exists()):
            return []
        return [document.as_dict() for document in self.archive.open().export()]

    def delete_person(self, id: str) -> dict[str, int]:
        """Delete an account with everything that is its own, in the store and in files; waits for the disk."""
        gone = self.chat.store.people.remove(id)
        if folder := self.settings.data_dir:
            # The id is ours, of letters and digits.
            rmtree(folder / "people" / id, ignore_errors=True)
        return gone

    # --- closing --------------------------------------------------------------------------------------------------
    async def close(self) -> None:
        """Close what was opened and keep what was learned about the engines."""
        await self._close_connections()
        self._close_files()

    def close_sync(self) -> None:
        """Like :meth:`close`, for synchronous callers."""
        self.bridge.run(self._close_connections())
        self._close_files()

    async def _close_connections(self) -> None:
        if self._research is not None:
            await self._research.close()
            self._research = None
        if self._chat is not None:
            await self._chat.close()
            self._chat = None
        if self._sessions is not None:
            await self._sessions.close()
            self._sessions = None
        await self.network.close()
        for library in self._libraries.values():
            await library.close()
        self._libraries.clear()
        if self.live is not None:
            await self.live.close()
        for archive in self._archives.values():
            await archive.close()
        self._archives.clear()
        if self._stored_archives is not None:
            self._stored_archives.close()
            self._stored_archives = None

    def _close_files(self) -> None:
        self.engines.save()
        self._fetchers.clear()
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self.bridge.close()


class Client:
    """:class:`AsyncClient` for synchronous callers, on an event loop in a thread of its own."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._async = AsyncClient(settings)
        self._run = self._async.bridge.run

    @property
    def settings(self) -> Settings:
        """The settings that this client was made with."""
        return self._async.settings

    def search(
        self,
        query: SearchQuery | str,
        *,
        engines: str = "",
        max_wait: float = 0.0,
        depth: Depth = "results",
        max_tokens: int | None = None,
        **params: Unpack[SearchParams],
    ) -> SearchPage:
        """See :meth:`AsyncClient.search`."""
        return self._run(
            self._async.search(query, engines=engines, max_wait=max_wait, depth=depth, max_tokens=max_tokens, **params)
        )

    def search_many(
        self,
        queries: Iterable[SearchQuery | str],
        *,
        engines: str = "",
        max_wait: float = 600.0,
        depth: Depth = "results",
        max_tokens: int | None = None,
        **params: Unpack[SearchParams],
    ) -> list[SearchPage | SuyuanError]:
        """See :meth:`AsyncClient.search_many`."""
        return self._run(
            self._async.search_many(
                queries, engines=engines, max_wait=max_wait, depth=depth, max_tokens=max_tokens, **params
            )
        )

    def read(
        self, url: str, *, question: str = "", max_tokens: int = 4000, fresh: bool = False, render: bool = False
    ) -> Document:
        """See :meth:`AsyncClient.read`."""
        return self._run(self._async.read(url, question=question, max_tokens=max_tokens, fresh=fresh, render=render))

    def ask(self, question: str, **params: Unpack[AskParams]) -> Answer:
        """See :meth:`AsyncClient.ask`."""
        return self._run(self._async.ask(question, **params))

    def research(self, question: str, **params: Unpack[ResearchParams]) -> Research:
        """See :meth:`AsyncClient.research`."""
        return self._run(self._async.research(question, **params))

    def close(self) -> None:
        """Close what was opened."""
        self._async.close_sync()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


Connect = Callable[[Settings], AsyncClient]
"""Makes a client: ``AsyncClient`` itself, or one that makes a client of the demo."""


def _own_path(path: Path) -> Path:
    """The place of what belongs to the person who asks."""
    person = current_person.get().id
    return path.parent / "people" / person / path.name if person else path


def _live(settings: Settings) -> Live | None:
    if not settings.redis_url:
        return None
    from .live.live import Live

    return Live(settings.redis_url, token_hex(8))


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
