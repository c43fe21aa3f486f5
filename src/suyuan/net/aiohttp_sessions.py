"""Sessions of aiohttp, which reads pages and the streams of models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

from .loop_pool import LoopPool


def session_pool(user_agent: str, connector: Callable[[], TCPConnector], **more: Any) -> LoopPool[ClientSession]:
    """Sessions that all have the same settings."""
    headers = {"User-Agent": user_agent, **more.pop("headers", {})}
    # No timeout beside the caller's deadline, no cookies, and no proxy but the configured one.
    settings = {"timeout": ClientTimeout(total=None), "trust_env": False, "headers": headers, **more}
    return LoopPool(lambda: ClientSession(connector=connector(), cookie_jar=DummyCookieJar(), **settings))
