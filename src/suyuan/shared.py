"""Clients that the process shares: the one behind the module-level functions, and one for each set of settings."""

from __future__ import annotations

import atexit
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from .client import AsyncClient
from .config.load import load_settings
from .config.settings import Settings


@dataclass(slots=True)
class _Shared:
    settings: Settings
    """As they were asked for; the client's own may change when a key is entered on the page."""
    client: AsyncClient
    users: int = 0


_clients: list[_Shared] = []
_default: AsyncClient | None = None
_lock = threading.Lock()


def default_client() -> AsyncClient:
    """The client of the module-level functions, by the settings of this machine; closed at exit."""
    global _default
    if _default is None:
        client = acquire(load_settings())
        with _lock:
            if _default is None:
                _default = client
    return _default


def acquire(settings: Settings) -> AsyncClient:
    """The client for ``settings``, which everyone with equal settings shares; give it back with :func:`release`."""
    with _lock:
        shared = next((each for each in _clients if each.settings == settings), None)
        if shared is None:
            if not _clients:
                atexit.register(close_all)
            shared = _Shared(settings, AsyncClient(settings))
            _clients.append(shared)
        shared.users += 1
        return shared.client


def release(client: AsyncClient) -> None:
    """Give a client back; the last user closes it."""
    if _unused(client):
        client.close_sync()


async def release_async(client: AsyncClient) -> None:
    """Like :func:`release`, for asynchronous callers."""
    if _unused(client):
        await client.close()


@asynccontextmanager
async def shared_client(settings: Settings) -> AsyncIterator[AsyncClient]:
    """A shared client for the length of an ``async with`` block."""
    client = acquire(settings)
    try:
        yield client
    finally:
        await release_async(client)


def close_all() -> None:
    """Close every shared client, whoever still uses it."""
    global _default
    with _lock:
        clients, _default = [each.client for each in _clients], None
        _clients.clear()
        atexit.unregister(close_all)
    for client in clients:
        client.close_sync()


def _unused(client: AsyncClient) -> bool:
    with _lock:
        shared = next((each for each in _clients if each.client is client), None)
        if shared is None:
            return False
        shared.users -= 1
        if shared.users:
            return False
        _clients.remove(shared)
        return True
