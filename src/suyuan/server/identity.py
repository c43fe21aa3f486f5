"""``Identity``: who sends a request, on a server with accounts. What they may do is asked where it is done."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import Scope

from ..config.settings import ServerSettings
from ..core.causes.people import LOGIN_NEEDED
from ..core.person import Person
from ..net.credentials import client_key
from ..net.http_protocol import BY_PROXY
from ..store.accounts import Accounts
from ..store.logins import NewCookie
from .cookies import Cookies

STRANGER = Person("-", "", "member", frozenset())
"""Somebody who has not logged in: sees what is open to all, and nothing that is anybody's."""

# What is open to all: the login itself, what it looks like, and links that were shared on purpose.
_OPEN = (
    "/healthz", "/login", "/login.css", "/favicon.ico", "/api/login", "/manifest.webmanifest",
    "/opensearch.xml", "/sw.js",
)  # fmt: skip
_OPEN_BELOW = ("/static/", "/s/", "/api/shared/")


class Identity:
    """Finds the person of a request by its login or its token."""

    def __init__(self, accounts: Accounts, cookies: Cookies, origin: ServerSettings) -> None:
        self._accounts = accounts
        self._cookies = cookies
        self._origin = origin

    async def of(self, scope: Scope, keys: list[str]) -> tuple[Person, NewCookie | None]:
        """Who sends this request, and a new cookie of the login where it is time for one.

        Raises a cause where that is nobody. ``keys`` are the tokens it came with.
        """
        path = scope["path"]
        if path in _OPEN or path.startswith(_OPEN_BELOW):
            return STRANGER, None
        cookie = self._cookies.read(HTTPConnection(scope))
        person, rotates = await self._found(scope, keys, cookie, client_key(scope))
        if not rotates or scope["method"] != "GET":
            return person, None
        return person, await self._accounts.logins.renew(cookie)

    async def check(self, scope: Scope, keys: list[str], cookie: str) -> None:
        """Raise a cause where a request that was let in by these would not be let in any more."""
        await self._found(scope, keys, cookie, None)

    async def _found(self, scope: Scope, keys: list[str], cookie: str, address: str | None) -> tuple[Person, bool]:
        """Who it is, and whether it is time for a new cookie; what is wrong counts as a try of ``address``."""
        if keys:
            return await self._accounts.of_token(keys[0], address), False
        if name := self._by_proxy(scope):
            return await self._accounts.of_proxy(name, self._origin.new_users), False
        if not cookie:
            raise LOGIN_NEEDED()
        return await self._accounts.of_login(cookie, address)

    def _by_proxy(self, scope: Scope) -> str:
        """The person whom a trusted proxy names; anybody else can send such a header too."""
        header = self._origin.user_header
        if not header or BY_PROXY not in (scope.get("extensions") or {}):
            return ""
        given = Headers(scope=scope).getlist(header)
        # Two of them would be the proxy's and a client's.
        return given[0].encode("latin-1").decode("utf-8", "replace") if len(given) == 1 else ""
