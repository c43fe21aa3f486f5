"""``AsyncClient``: joins the parts by the settings, and closes what was opened."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, Unpack

from .config.load import load_settings
from .config.settings import Settings
from .core.errors import SuyuanError
from .core.folder_use import FolderUse
from .core.kept_files import KeptFiles, tell_missing
from .core.notices import Notices
from .core.page_reading import Depth, tokens_for
from .core.person import require
from .core.query import SearchParams, SearchQuery
from .core.result import SearchPage
from .core.sync_bridge import SyncBridge
from .core.urls import domain_of
from .engines import registry
from .net.network import Network, PageAccess
from .pages_by_person import PagesByPerson
from .search.focus import FOCUSES
from .search.plan import names_in
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
    from .research.report import Research
    from .research.request import ResearchParams
    from .research.service import ResearchService
    from .search.connected_engines import ConnectedEngines
    from .search.result_reader import ResultReader

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
        self._use = FolderUse.shared(settings.data_dir)
        self.network = network or _network(settings)
        self.bridge = SyncBridge()
        """Runs coroutines of this client for synchronous callers."""
        self.live = _live(settings)
        """What is shared with other workers; None where this one is alone."""
        self._pages = PagesByPerson(settings, self.network)
        self.engines = EnginePool(
            settings.engines,
            self.network,
            exit_name=domain_of(settings.net.proxy.reveal()) or "direct",
            state_dir=settings.state_dir,
            offline=self._pages.engines(),
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
        self._engine_file = settings.data_dir / _ENGINE_FILE if settings.data_dir else None
        self.engines.before_use = self.connect_engines
        self.connect_engines()
        self.warn_without_browser(self.needs_browser)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def warn_without_browser(self, needed: bool) -> None:
        """Log a browser that is ``needed`` and missing: known at the start, not only when the first search fails."""
        if needed and (problem := self.network.browser_problem()):
            log.warning("browser: %s %s", problem.message, problem.hint)

    @property
    def needs_browser(self) -> bool:
        """Whether the configuration cannot do without a browser."""
        settings = self.settings
        by_plan = needs_browser(settings.search.default)
        return by_plan or settings.pages.render or bool(settings.browser.executable)

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
        if depth != "results":
            # Told before anything is searched in vain.
            require("read")
        page = await self._search(query, engines, max_wait, params)
        return await self.result_reader.read(page, depth, max_tokens) if depth != "results" else page

    async def _search(self, query: SearchQuery | str, engines: str, wait: float, params: SearchParams) -> SearchPage:
        """Search until there is an answer; again for up to ``wait`` seconds where that may help."""
        deadline, tries, again = time.monotonic() + wait, 0, False
        while True:
            try:
                return await self.search_service.search(query, engines=engines, again=again, **params)
            except SuyuanError as error:
                pause = max(error.retry_after or 0.0, 0.05)
                # Where nobody asked us to wait, trying again helps a few times at most.
                tries += not any(attempt.detail_code in _WAITING for attempt in error.attempts)
                if not error.retryable or tries > _MAX_RETRIES or time.monotonic() + pause > deadline:
                    raise
            await asyncio.sleep(pause)
            again = True

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
        return self._pages.archive

    @property
    def library(self) -> Library:
        """The user's own documents; raises where there is no folder for them."""
        return self._pages.library

    def notices(self) -> list[Notices]:
        """What the person who asks must hear of: their own notices, and for administrators those of the server."""
        person, folder = require("chat"), self.settings.data_dir
        if folder is None:
            return []
        own = [Notices(folder / "people" / person.id)] if person.id else []
        return [*own, Notices(folder)] if person.may("admin") else own

    def tell_missing(self) -> None:
        """Keep a notice about each database that was there and is gone; waits for the disk."""
        tell_missing(self.settings.kept_folders)

    @property
    def store_is_gone(self) -> bool:
        """Whether the file of the conversations was gone when it was last used; waits for nothing."""
        opened: ChatService | None = self.__dict__.get("chat")
        return opened is not None and opened.store.is_gone

    @property
    def fetcher(self) -> Fetcher:
        """Reads pages."""
        return self._pages.fetcher

    @property
    def result_reader(self) -> ResultReader:
        """Reads the pages behind search results."""
        from .search.result_reader import ResultReader

        return ResultReader(self.fetcher.fetch, seconds=self.settings.search.seconds)

    @cached_property
    def connected_models(self) -> ConnectedModels:
        """The models that were connected on the page."""
        from .llm.connected_models import ConnectedModels

        folder = self.settings.data_dir
        return ConnectedModels(folder / "models.json" if folder else None, self.settings.model)

    @cached_property
    def connected_engines(self) -> ConnectedEngines:
        """The engines whose keys or addresses were entered on the page."""
        from .search.connected_engines import ConnectedEngines

        return ConnectedEngines(self._engine_file, self.settings.engines)

    def connect_engines(self) -> None:
        """Use what was entered on the page, here or by another process; it is looked at before an engine is used."""
        if "connected_engines" not in self.__dict__ and not self._has_engine_file():
            return
        if (now := self.connected_engines.all()) != self.settings.engines:
            self.settings = replace(self.settings, engines=now)
            self.engines.configure(now)

    def _has_engine_file(self) -> bool:
        """Whether anything was entered on the page, also where the file is gone since."""
        file = self._engine_file
        return file is not None and (file.exists() or KeptFiles(file.parent).knows(file))

    @cached_property
    def sessions(self) -> SessionFactory:
        """Makes what a turn needs."""
        from .chat.recall import Recall
        from .chat.session_factory import SessionFactory

        model, chat = self.settings.model, self.settings.chat
        recall = Recall(lambda: self.archive)
        return SessionFactory(
            self.search_service,
            self.read,
            model=model,
            settings=chat,
            recall=recall,
            connected=self.connected_models.all,
        )

    @cached_property
    def chat(self) -> ChatService:
        """The stored conversations."""
        from .chat.service import ChatService
        from .store.conversations import Store

        folder = self.settings.data_dir
        store = Store(self.settings.store_address or "sqlite://")
        return ChatService(store, self.sessions, folder / "unsaved" if folder else None, self.live)

    @cached_property
    def research_service(self) -> ResearchService:
        """The research jobs."""
        from .research.model_calls import ModelCalls
        from .research.service import ResearchService
        from .store.research import ResearchStore

        return ResearchService(
            ResearchStore(self.settings.store_address or "sqlite://"),
            self,
            self.settings.research,
            ModelCalls(lambda: self.sessions.models, self.sessions.default_model),
            post=self.network.post,
            notifications=self.live.notifications if self.live else None,
            check=self.sessions.check,
        )

    def export_person(self, name: str) -> dict[str, Any]:
        """Everything that is kept of a person, the pages that were read included; waits for the disk."""
        account = self.chat.store.people.named(name)
        return {**self.chat.store.people.export(account), "archive": self._pages.export(account.id)}

    def delete_person(self, id: str) -> dict[str, int]:
        """Delete an account with everything that is its own, in the store and in files; waits for the disk."""
        gone = self.chat.store.people.remove(id)
        self._pages.remove(id)
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
        for name in ("research_service", "chat", "sessions"):
            if opened := self.__dict__.pop(name, None):
                await opened.close()
        await self.network.close()
        await self._pages.close()
        if self.live is not None:
            await self.live.close()

    def _close_files(self) -> None:
        self.engines.save()
        self.engines.close()
        self._pages.close_reader()
        self.bridge.close()
        self._use.close()


Connect = Callable[[Settings], AsyncClient]
"""Makes a client: ``AsyncClient`` itself, or one that makes a client of the demo."""


def needs_browser(plan: str) -> bool:
    """Whether an engine that the plan names needs a browser."""
    planned = [name for name in names_in(plan) if name in registry.names()]
    return any(registry.info(name).needs_browser for name in planned)


def _live(settings: Settings) -> Live | None:
    if not settings.redis_url:
        return None
    from secrets import token_hex

    from .live.live import Live

    return Live(settings.redis_url, token_hex(8))


def _network(settings: Settings) -> Network:
    pages = settings.pages
    access = PageAccess(
        pages.allow_hosts, pages.allow_networks, pages.fake_ip, pages.max_bytes, settings.server.addresses
    )
    browser_urls = tuple(
        own.base_url for name, own in settings.engines.items() if own.base_url and registry.info(name).needs_browser
    )
    return Network(
        settings.net, settings.browser, access, chrome_profile=settings.chrome_profile, browser_urls=browser_urls
    )
