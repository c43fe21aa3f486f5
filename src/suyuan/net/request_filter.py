"""The gate through which every request of a browser passes: what is not needed, or not allowed, is not sent."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page, WebSocketRoute

Allows = Callable[[str], Awaitable[bool]]
"""Says whether an address may be reached."""

Key = tuple[str, str]
"""User and password of the gateway."""

# Text is all that is read of a page; scripts and styles may make it.
_UNREAD = ("Image", "Font", "Media")
# What Chrome shows its own pages with; nothing of it leaves the machine.
_INTERNAL = frozenset({"about", "blob", "chrome", "chrome-extension", "data"})


class RequestFilter:
    """Decides about the requests of a whole browser: documents, frames, workers, and each step of a redirect.

    Chrome does not show WebSockets here, so a guarded page gets none; those of workers only the gateway can judge.
    """

    def __init__(self, session: CDPSession, guard: Allows | None, key: Key | None = None) -> None:
        self._session = session
        self._guard = guard
        self._key = key
        self._under_way: set[asyncio.Task[None]] = set()

    async def set_up(self) -> None:
        """Begin; without a guard only what is never needed is stopped, and all else goes its way undelayed."""
        self._session.on("Fetch.requestPaused", self._paused)
        kinds = [{"resourceType": kind} for kind in _UNREAD] if self._guard is None else [{"urlPattern": "*"}]
        if self._key is not None:
            # Only requests that are shown here can be answered for.
            kinds = [{"urlPattern": "*"}]
            self._session.on("Fetch.authRequired", self._asked)
        await self._session.send("Fetch.enable", {"patterns": kinds, "handleAuthRequests": self._key is not None})

    async def watch(self, page: Page) -> None:
        """Refuse the WebSockets of ``page`` and its frames, since the guard would not be asked about them."""
        if self._guard is not None:
            await page.route_web_socket("**/*", _close)

    def _paused(self, event: dict[str, Any]) -> None:
        self._run(self._decide(event))

    def _asked(self, event: dict[str, Any]) -> None:
        self._run(self._log_in(event))

    def _run(self, answer: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(answer)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _decide(self, event: dict[str, Any]) -> None:
        allowed = False
        try:
            allowed = event["resourceType"] not in _UNREAD and await self._may_pass(event["request"]["url"])
        finally:
            # A guard that fails has not allowed the request.
            await self._answer(event["requestId"], allowed)

    async def _log_in(self, event: dict[str, Any]) -> None:
        """Open the gateway; a site that asks for a password gets none."""
        answer = {"response": "Default"}
        if self._key is not None and event["authChallenge"]["source"] == "Proxy":
            user, password = self._key
            answer = {"response": "ProvideCredentials", "username": user, "password": password}
        await self._send("Fetch.continueWithAuth", {"requestId": event["requestId"], "authChallengeResponse": answer})

    async def _may_pass(self, url: str) -> bool:
        scheme = urlsplit(url).scheme
        if scheme in _INTERNAL or self._guard is None:
            return True
        return scheme in ("http", "https") and await self._guard(url)

    async def _answer(self, paused: str, allowed: bool) -> None:
        if allowed:
            await self._send("Fetch.continueRequest", {"requestId": paused})
        else:
            await self._send("Fetch.failRequest", {"requestId": paused, "errorReason": "BlockedByClient"})

    async def _send(self, command: str, what: dict[str, Any]) -> None:
        from playwright.async_api import Error

        # The page may be closed by now.
        with contextlib.suppress(Error):
            await self._session.send(command, what)


async def _close(route: WebSocketRoute) -> None:
    await route.close()
