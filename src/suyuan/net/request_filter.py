"""``RequestFilter``: stops requests of a browser that are not needed or not allowed."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..core.tasks import TaskSet

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page, WebSocketRoute

UrlCheck = Callable[[str], Awaitable[bool]]
"""Returns whether a URL may be requested."""

Credentials = tuple[str, str]
"""User name and password of the guarded proxy."""

# Only the text of a page is read, which scripts and styles may change.
_NOT_NEEDED = ("Image", "Font", "Media")
# The schemes of Chrome's own pages, which cause no network traffic.
_INTERNAL = frozenset({"about", "blob", "chrome", "chrome-extension", "data"})


class RequestFilter:
    """Decides about the requests of a whole browser: documents, frames, workers, and each step of a redirect.

    Chrome does not show WebSockets here, so a checked page gets none; those of workers only the proxy can stop.
    """

    def __init__(
        self, session: CDPSession, may_load: UrlCheck | None, proxy_credentials: Credentials | None = None
    ) -> None:
        self._session = session
        self._may_load = may_load
        self._proxy_credentials = proxy_credentials
        self._tasks = TaskSet()

    async def enable(self) -> None:
        """Start filtering; without a check, only requests that are never needed are intercepted."""
        self._session.on("Fetch.requestPaused", lambda event: self._run(self._decide(event)))
        patterns = [{"resourceType": kind} for kind in _NOT_NEEDED]
        if self._may_load is not None or self._proxy_credentials is not None:
            patterns = [{"urlPattern": "*"}]
        log_in = self._proxy_credentials is not None
        if log_in:
            self._session.on("Fetch.authRequired", lambda event: self._run(self._authenticate(event)))
        await self._session.send("Fetch.enable", {"patterns": patterns, "handleAuthRequests": log_in})

    async def block_web_sockets(self, page: Page) -> None:
        """Refuse the WebSockets of ``page`` and its frames, since they are not shown to the check."""
        if self._may_load is not None:
            await page.route_web_socket("**/*", _close)

    def _run(self, coroutine: Coroutine[Any, Any, None]) -> None:
        # The task is not returned: Playwright would take its error for one of its own.
        self._tasks.start(coroutine)

    async def _decide(self, event: dict[str, Any]) -> None:
        allowed = False
        try:
            allowed = event["resourceType"] not in _NOT_NEEDED and await self._allows(event["request"]["url"])
        finally:
            # If the check itself fails, the request is not allowed.
            request = {"requestId": event["requestId"]}
            if allowed:
                await self._send("Fetch.continueRequest", request)
            else:
                await self._send("Fetch.failRequest", {**request, "errorReason": "BlockedByClient"})

    async def _authenticate(self, event: dict[str, Any]) -> None:
        """Send the credentials to the proxy, and never to a site that asks for a password."""
        answer = {"response": "Default"}
        if self._proxy_credentials is not None and event["authChallenge"]["source"] == "Proxy":
            user, password = self._proxy_credentials
            answer = {"response": "ProvideCredentials", "username": user, "password": password}
        await self._send("Fetch.continueWithAuth", {"requestId": event["requestId"], "authChallengeResponse": answer})

    async def _allows(self, url: str) -> bool:
        scheme = urlsplit(url).scheme
        if scheme in _INTERNAL or self._may_load is None:
            return True
        return scheme in ("http", "https") and await self._may_load(url)

    async def _send(self, command: str, parameters: dict[str, Any]) -> None:
        from playwright.async_api import Error

        # The page may be closed by now.
        with contextlib.suppress(Error):
            await self._session.send(command, parameters)


async def _close(route: WebSocketRoute) -> None:
    await route.close()
