"""``Identity``: who sends a request, and whether they may do what it asks for, on a server with accounts."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import Scope

from ..config.settings import ServerSettings
from ..core.causes.people import ADMIN_ONLY, LOGIN_NEEDED, SCOPE_MISSING
from ..core.person import Person
from ..net.credentials import client_key
from ..net.http_protocol import BY_PROXY
from ..store.accounts import Accounts
from ..store.logins import NewCookie
from .cookies import COOKIE
from .quotas import Quotas

STRANGER = Person("-", "", "member", frozenset())
"""Somebody who has not logged in: sees what is open to all, and nothing that is anybody's."""

# What is open to all: the login itself, what it looks like, and links that were shared on purpose.
_OPEN = (
    "/healthz", "/login", "/login.css", "/favicon.ico", "/api/login", "/manifest.webmanifest",
    "/opensearch.xml", "/sw.js",
)  # fmt: skip
_OPEN_BELOW = ("/static/", "/s/", "/api/shared/")
# What a token needs, by the longest path that fits; what is not listed needs all that is not for administrators.
_PATHS: dict[str, tuple[str, ...]] = {
    "": ("/api/me", "/api/logout", "/api/health", "/api/engines", "/api/models", "/v1/models"),
    "search": ("/api/search", "/search", "/v2/search", "/res/", "/openwebui/search"),
    "read": (
        "/api/fetch", "/extract", "/crawl", "/map", "/v2/scrape", "/v2/crawl", "/v2/map", "/v2/batch/", "/r",
        "/openwebui/load",
    ),
    "chat": (
        "/api/conversations", "/api/runs/", "/api/research", "/api/library", "/stream/", "/v1/chat/", "/v1/responses",
        "/v1/messages",
    ),
    # The doctor asks the engines and the model, and tells where they are.
    "admin": ("/api/users", "/api/audit", "/metrics", "/settings/doctor"),
}  # fmt: skip
_SCOPES = {path: (scope,) if scope else () for scope, paths in _PATHS.items() for path in paths}
_USUAL = ("search", "read", "chat")
# What is counted against a quota by its path; where the body decides, the route counts for itself.
_SEARCHES = _PATHS["search"]
_ANSWERS = ("/v1/chat/completions", "/v1/responses", "/v1/messages", "/api/research", "/research", "/ask")


class Identity:
    """Finds the person of a request by its login or its token."""

    def __init__(self, accounts: Accounts, quotas: Quotas, origin: ServerSettings) -> None:
        self._accounts = accounts
        self._quotas = quotas
        self._origin = origin

    async def of(self, scope: Scope, keys: list[str]) -> tuple[Person, NewCookie | None]:
        """Who sends this request, and a new cookie of the login where it is time for one.

        Raises a cause where that is nobody, or the request is not for them. ``keys`` are the tokens it came with.
        """
        path = scope["path"]
        if path in _OPEN or path.startswith(_OPEN_BELOW):
            return STRANGER, None
        person, rotated = await self._found(scope, keys)
        for needed in needed_scopes(scope):
            if not person.may(needed):
                raise ADMIN_ONLY() if needed == "admin" and "admin" in person.scopes else SCOPE_MISSING(scope=needed)
        if what := _counted(scope):
            await self._quotas.count(person, what)
        return person, rotated

    async def _found(self, scope: Scope, keys: list[str]) -> tuple[Person, NewCookie | None]:
        if keys:
            return await self._accounts.of_token(keys[0], client_key(scope)), None
        if name := self._by_proxy(scope):
            return await self._accounts.of_proxy(name, self._origin.new_users), None
        cookie = HTTPConnection(scope).cookies.get(COOKIE, "")
        if not cookie:
            raise LOGIN_NEEDED()
        person, old = await self._accounts.of_login(cookie, client_key(scope))
        return person, await self._accounts.logins.renew(cookie) if old and scope["method"] == "GET" else None

    def _by_proxy(self, scope: Scope) -> str:
        """The person whom a trusted proxy names; anybody else can send such a header too."""
        header = self._origin.user_header
        if not header or BY_PROXY not in (scope.get("extensions") or {}):
            return ""
        given = Headers(scope=scope).getlist(header)
        # Two of them would be the proxy's and a client's.
        return given[0].encode("latin-1").decode("utf-8", "replace") if len(given) == 1 else ""


def needed_scopes(scope: Scope) -> tuple[str, ...]:
    """What a request needs to be allowed to do."""
    path = scope["path"]
    for connected in ("/api/models", "/api/engines"):
        if _fits(path, connected) and (path, scope["method"]) != (connected, "GET"):
            # The keys of models and engines, and which servers are asked, are the administrator's.
            return ("admin",)
    found = max((each for each in _SCOPES if _fits(path, each)), key=len, default="")
    return _SCOPES.get(found, _USUAL)


def _fits(path: str, prefix: str) -> bool:
    return path.startswith(prefix) and (prefix.endswith("/") or path[len(prefix) :][:1] in ("", "/"))


def _counted(scope: Scope) -> str:
    """What of a quota a request uses."""
    path, asks = scope["path"], scope["method"] == "POST"
    if any(_fits(path, each) for each in _SEARCHES):
        return "searches"
    retried = path.startswith("/api/conversations/") and path.endswith("/retry")
    return "answers" if asks and (path in _ANSWERS or retried) else ""
