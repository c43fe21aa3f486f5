"""Settings in, a running house out: the only file that knows who is joined to whom, and closes all it opened."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .config.load import load_settings
from .config.settings import Settings
from .contract.address import domain_of
from .contract.bridge import Bridge
from .contract.engine import Engine, EngineSettings
from .contract.wire import Request, Response
from .engines import registry
from .net.transport import Transport, bounded
from .search.breaker import Breaker
from .search.desk import Desk
from .search.limit import RateLimit
from .search.service import SearchService

_STATE_FILE = "engines.json"


class Network:
    """The network clients, each made when the first request needs it: a search without a socket loads none."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.net
        self._client: Transport | None = None

    async def send(self, request: Request, engine: str) -> Response:
        """Send ``request`` by the client that the settings ask for."""
        if self._client is None:
            self._client = self._make()
        return await self._client.send(request, engine)

    def _make(self) -> Transport:
        if self._settings.impersonate:
            from .net.impersonate import ImpersonatingClient

            return ImpersonatingClient(self._settings)
        from .net.http import HttpClient

        return HttpClient(self._settings)

    async def close(self) -> None:
        """Close the clients that were made."""
        if self._client is not None:
            await self._client.close()
            self._client = None


class Desks(Mapping[str, Desk]):
    """All engines by name; each is made, and its code imported, when it is first looked at."""

    def __init__(self, settings: Settings, network: Network) -> None:
        self._settings = settings
        self._network = network
        self._exit = domain_of(settings.net.proxy.reveal()) or "direct"
        self._kept = _load_state(settings.state_dir)
        self._made: dict[str, Desk] = {}

    def __getitem__(self, name: str) -> Desk:
        if name not in self._made:
            if name not in registry.names():
                raise KeyError(name)
            self._made[name] = self._make(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(registry.names())

    def __len__(self) -> int:
        return len(registry.names())

    def __contains__(self, name: object) -> bool:
        return name in registry.names()

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
        )

    def save(self) -> None:
        """Keep what was learned about the engines that were asked, for the next run."""
        states = {f"{name}@{self._exit}": desk.breaker.state() for name, desk in self._made.items()}
        _save_state(self._settings.state_dir, {**self._kept, **states})


@dataclass(slots=True)
class House:
    """Everything that runs: made by :func:`build_house`, ended by :meth:`close`."""

    settings: Settings
    search: SearchService
    desks: Desks
    _network: Network
    _bridge: Bridge

    async def close(self) -> None:
        """Close what was opened and keep what was learned about the engines."""
        self.desks.save()
        await self._network.close()
        self._bridge.close()

    def close_sync(self) -> None:
        """Like :meth:`close`, for synchronous callers."""
        self._bridge.run(self._network.close())
        self.desks.save()
        self._bridge.close()


def build_house(settings: Settings | None = None) -> House:
    """Join the rooms by ``settings``, or by what environment and files say; the caller closes the house."""
    settings = settings or load_settings()
    network, bridge = Network(settings), Bridge()
    desks = Desks(settings, network)
    service = SearchService(
        desks,
        default=settings.search.default,
        seconds=settings.search.seconds,
        cache_seconds=settings.search.cache_minutes * 60,
        lang=settings.search.lang,
        canonical=registry.canonical,
        bridge=bridge,
    )
    return House(settings, service, desks, network, bridge)


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
