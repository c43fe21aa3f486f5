"""Settings in, a running house out: the only file that knows who is joined to whom, and closes all it opened."""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .config.load import load_settings
from .config.settings import Settings
from .contract.address import domain_of
from .contract.bridge import Bridge
from .contract.causes.browser import PLAYWRIGHT_MISSING
from .contract.engine import Engine, EngineSettings
from .contract.errors import SuyuanError
from .contract.wire import Request, Response, Via
from .engines import registry
from .net.transport import Transport, bounded
from .search.breaker import Breaker
from .search.desk import Desk
from .search.limit import RateLimit
from .search.plan import ARCHIVE
from .search.service import SearchService

if TYPE_CHECKING:
    from .chat.service import ChatService
    from .contract.document import Document
    from .net.fetching import FetchClient, Fetched
    from .net.guard import Guard
    from .pages.archive import Archive
    from .pages.fetch import Fetcher

log = logging.getLogger("suyuan.wiring")

_STATE_FILE = "engines.json"


class Network:
    """The network clients, each made when the first request needs it: a search without a socket loads none."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._clients: dict[Via, Transport] = {}

    async def send(self, request: Request, engine: str) -> Response:
        """Send ``request`` by the client that it and the settings ask for."""
        self._load(request.via)
        return await self._clients[request.via].send(request, engine)

    def prepare(self) -> None:
        """Load the client that most requests need: loading it takes longer than some checks may."""
        self._load("http")

    def _load(self, via: Via) -> None:
        if via not in self._clients:
            self._clients[via] = self._browser() if via == "browser" else self._http()

    def browser_problem(self) -> SuyuanError | None:
        """Why pages cannot be shown in a browser here, or None where they can."""
        from .net.chrome import find_chrome

        if find_spec("playwright") is None:
            return PLAYWRIGHT_MISSING()
        try:
            find_chrome(self._settings.browser.executable)
        except SuyuanError as error:
            return error
        return None

    def _http(self) -> Transport:
        net = self._settings.net
        if net.impersonate:
            from .net.impersonate import ImpersonatingClient

            return ImpersonatingClient(net)
        from .net.http import HttpClient

        return HttpClient(net)

    def _browser(self) -> Transport:
        from .net.browser import BrowserClient
        from .net.fetching import system_lookup
        from .net.gateway import Reach
        from .net.guard import parse

        # A profile that a person has unlocked is used as long as it is there.
        profile = self._settings.chrome_profile
        kept = profile if profile and profile.is_dir() else None
        browser = replace(self._settings.browser, profile_dir=kept)
        moved = frozenset((home.host, home.port) for home in map(parse, self._moved))
        return BrowserClient(browser, self._settings.net, self._browser_may_reach, Reach(self.guard, system_lookup, moved))

    async def _browser_may_reach(self, url: str) -> bool:
        """Public addresses, and those of engines shown in the browser that the user has moved elsewhere."""
        return any(url.startswith(f"{home}/") for home in self._moved) or await self.reader.may_reach(url)

    @cached_property
    def _moved(self) -> tuple[str, ...]:
        engines = self._settings.engines.items()
        return tuple(own.base_url for name, own in engines if own.base_url and getattr(registry.load(name), "via_browser", False))

    @cached_property
    def guard(self) -> Guard:
        """What decides which addresses ``web.fetch`` may read. An engine's own address gives no right to read others beside it."""
        from .net.guard import Guard

        pages = self._settings.pages
        return Guard(allow_hosts=pages.allow_hosts, allow_networks=pages.allow_networks, fake_ip=pages.fake_ip)

    @cached_property
    def reader(self) -> FetchClient:
        """The client for any address that the guard lets through."""
        from .net.fetching import FetchClient

        return FetchClient(self._settings.net, self.guard)

    async def get(self, url: str, headers: Mapping[str, str]) -> Fetched:
        """Read an address as ``web.fetch`` may: public ones only, sizes capped."""
        limit = self._settings.pages.max_bytes
        return await self.reader.get(url, headers=headers, max_wire=limit, max_bytes=limit)

    async def render(self, url: str) -> Response:
        """Show an address in the browser, and return what its scripts made of it."""
        self.guard.check_url(url)
        return await self.send(Request(url, via="browser"), "web.fetch")

    async def close(self) -> None:
        """Close the clients that were made."""
        while self._clients:
            await self._clients.popitem()[1].close()
        if reader := self.__dict__.pop("reader", None):
            await reader.close()


class Desks(Mapping[str, Desk]):
    """All engines by name; each is made, and its code imported, when it is first looked at."""

    def __init__(self, settings: Settings, network: Network, archive: Callable[[], Archive | None]) -> None:
        self._settings = settings
        self._network = network
        self._archive = archive
        self._names = (*registry.names(), *((ARCHIVE,) if settings.archive_file else ()))
        self._exit = domain_of(settings.net.proxy.reveal()) or "direct"
        self._kept = _load_state(settings.state_dir)
        self._made: dict[str, Desk] = {}

    def __getitem__(self, name: str) -> Desk:
        if name not in self._made:
            if name not in self._names:
                raise KeyError(name)
            self._made[name] = self._make_archive() if name == ARCHIVE else self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def _make_archive(self) -> Desk:
        from .pages.library import ArchiveEngine

        archive = self._archive()
        assert archive is not None, "listed only where there is one"
        return Desk(ArchiveEngine(archive))

    def _make(self, name: str) -> Desk:
        own = self._settings.engines.get(name) or EngineSettings()
        factory: Any = registry.load(name)
        engine = factory(own)
        send = None
        if isinstance(engine, Engine):
            send = bounded(self._network.send, name, engine.base_url, engine.friends)
            engine.send = send
        rate = own.rate_per_minute if own.rate_per_minute is not None else getattr(engine, "rate_per_minute", None)
        return Desk(
            engine,
            send,
            timeout=own.timeout_ms / 1000 if own.timeout_ms else None,
            breaker=Breaker.from_state(self._kept.get(f"{name}@{self._exit}") or {}),
            limit=RateLimit(rate or None, getattr(engine, "burst", 1)),
            prepare=self._network.prepare,
        )

    def save(self) -> None:
        """Keep what was learned about the engines that were asked, for the next run."""
        states = {f"{name}@{self._exit}": desk.breaker.state() for name, desk in self._made.items()}
        _save_state(self._settings.state_dir, {**self._kept, **states})


class Shelf:
    """The archive, opened when it is first looked at."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._archive: Archive | None = None

    def open(self) -> Archive | None:
        """The archive, or None where nothing is kept."""
        path = self._settings.archive_file
        if self._archive is None and path is not None:
            from .guides.shelf import documents
            from .pages.archive import Archive

            pages = self._settings.pages
            archive = Archive(path, max_bytes=pages.archive_megabytes * 1_000_000, max_days=pages.archive_days)
            # How to help oneself must be found without a network, and from the first day.
            archive.pin(documents(self._settings.server.url, datetime.now(UTC).isoformat(timespec="seconds")))
            self._archive = archive
        return self._archive

    def close(self) -> None:
        """Drop what is too old or too much, and close the file."""
        if self._archive is not None:
            self._archive.prune()
            self._archive.close()
            self._archive = None


@dataclass(slots=True)
class House:
    """Everything that runs: made by :func:`build_house`, ended by :meth:`close`."""

    settings: Settings
    search: SearchService
    desks: Desks
    network: Network
    _shelf: Shelf
    _bridge: Bridge
    _fetcher: Fetcher | None = None
    _chat: ChatService | None = None

    @property
    def archive(self) -> Archive | None:
        """What was read, or None where nothing is kept."""
        return self._shelf.open()

    @property
    def fetcher(self) -> Fetcher:
        """What reads pages."""
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
            from .chat.store import Store

            settings = self.settings
            store = Store(settings.store_address or "sqlite://")
            self._chat = ChatService(store, self.search, self._read, model=settings.model, settings=settings.chat, bridge=self._bridge)
        return self._chat

    async def _read(self, url: str) -> Document:
        return await self.fetcher.fetch(url)

    def fetch_sync(self, url: str, *, fresh: bool = False, render: bool = False) -> Document:
        """Read a page, for synchronous callers."""
        return self._bridge.run(self.fetcher.fetch(url, fresh=fresh, render=render))

    async def close(self) -> None:
        """Close what was opened and keep what was learned about the engines."""
        await self._close_network()
        self._close_rest()

    def close_sync(self) -> None:
        """Like :meth:`close`, for synchronous callers."""
        self._bridge.run(self._close_network())
        self._close_rest()

    async def _close_network(self) -> None:
        if self._chat is not None:
            await self._chat.close()
            self._chat = None
        await self.network.close()

    def _close_rest(self) -> None:
        self.desks.save()
        self._shelf.close()
        self._fetcher = None
        self._bridge.close()


def build_house(settings: Settings | None = None) -> House:
    """Join the rooms by ``settings``, or by what environment and files say; the caller closes the house."""
    settings = settings or load_settings()
    network, bridge = Network(settings), Bridge()
    shelf = Shelf(settings)
    desks = Desks(settings, network, shelf.open)
    if "google" in settings.search.default and (problem := network.browser_problem()):
        # Known at the start, not only when the first search fails.
        log.warning("google: %s %s", problem.message, problem.cure)
    service = SearchService(
        desks,
        default=settings.search.default,
        seconds=settings.search.seconds,
        cache_seconds=settings.search.cache_minutes * 60,
        lang=settings.search.lang,
        canonical=registry.canonical,
        bridge=bridge,
    )
    return House(settings, service, desks, network, shelf, bridge)


@asynccontextmanager
async def open_house(settings: Settings | None = None) -> AsyncIterator[House]:
    """Open a house for the length of an ``async with`` block."""
    house = build_house(settings)
    try:
        yield house
    finally:
        await house.close()


def _load_state(folder: Path | None) -> dict[str, Any]:
    if folder is None:
        return {}
    try:
        data = json.loads((folder / _STATE_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _save_state(folder: Path | None, states: Mapping[str, Any]) -> None:
    """Write only the engines that have something to remember; a folder that cannot be written to is no failure."""
    if folder is None:
        return
    worth = {name: state for name, state in states.items() if isinstance(state, dict) and state.get("until")}
    target = folder / _STATE_FILE
    if not worth and not target.exists():
        return
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        draft = target.with_suffix(f".{os.getpid()}.tmp")
        draft.write_text(json.dumps(worth), encoding="utf-8")
        draft.replace(target)
