"""An aiohttp session for each event loop, because connections belong to the loop that opened them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TCPConnector


class SessionPool:
    """One session per event loop, all with the same settings; synchronous callers have a loop of their own."""

    def __init__(self, user_agent: str, connector: Callable[[], TCPConnector], **more: Any) -> None:
        self._connector = connector
        headers = {"User-Agent": user_agent, **more.pop("headers", {})}
        # No timeout beside the caller's deadline, no cookies, and no proxy but the configured one.
        self._settings = {"timeout": ClientTimeout(total=None), "trust_env": False, "headers": headers, **more}
        self._sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, ClientSession] = WeakKeyDictionary()

    def session(self) -> ClientSession:
        """The session of the running loop."""
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None or session.closed:
            session = self._sessions[loop] = ClientSession(
                connector=self._connector(), cookie_jar=DummyCookieJar(), **self._settings
            )
        return session

    async def close(self) -> None:
        """Close the session of every loop that is still running."""
        here = asyncio.get_running_loop()
        for loop, session in list(self._sessions.items()):
            if loop is here:
                await session.close()
            elif loop.is_running():
                # Limited, because that loop may be waiting for this one.
                closing = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(session.close(), loop))
                await asyncio.wait([closing], timeout=2)
        self._sessions.clear()
