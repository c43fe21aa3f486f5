"""Which requests are accepted: for our own host name, from our own page, and from other machines with the token."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..config.settings import ServerSettings
from ..core.allowance import Allowance, Unlimited, current_allowance
from ..core.causes.people import API_TOKEN_WRONG, LOGIN_NEEDED, LOGIN_TOO_OFTEN
from ..core.causes.web import HOST_REFUSED, ORIGIN_REFUSED, TOKEN_NEEDED, TOKEN_WRONG, TOO_MANY_TRIES, Refused
from ..core.errors import SuyuanError
from ..core.person import current_person
from ..core.secret import Secret
from ..net.credentials import Credentials, client_key
from ..store.accounts import Accounts
from ..store.logins import Logins
from .cookies import Cookies
from .direct import replayed
from .error_forms import TAVILY_PATHS, accepts_html, is_json
from .errors import failure
from .identity import STRANGER, Identity
from .login import LoginPage, read_body
from .openid import OpenIdLogin
from .quotas import Quotas
from .sockets import check_open
from .sse import ADMISSION

log = logging.getLogger("suyuan.server")

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_ANYWHERE = ("0.0.0.0", "::", "")
_READING = ("GET", "HEAD")
# Paths for programs.
INTERFACES = ("/api/", "/v1/", "/v2/", "/r/", "/res/", "/openwebui/", "/stream/", "/metrics", *TAVILY_PATHS)
_OPEN = ("/healthz",)
# Where the clients of other APIs send their key: Anthropic, Brave.
_KEY_HEADERS = ("x-api-key", "x-subscription-token")
# Old clients of Tavily send it in the body, which is read before it is known who they are: so it must be short.
_KEY_PATHS = ("/search", "/research", *TAVILY_PATHS)
_LARGEST_KEYED = 100_000
# After these a person is asked to log in.
_LOG_IN = tuple(cause.detail_code for cause in (TOKEN_NEEDED, TOKEN_WRONG, LOGIN_NEEDED, API_TOKEN_WRONG))
_TOO_OFTEN = tuple(cause.detail_code for cause in (TOO_MANY_TRIES, LOGIN_TOO_OFTEN))

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'none'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With "no-referrer" browsers would send our own forms with the origin "null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()",
}
_RAW = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
_RAW_PRIVATE = [*_RAW, (b"cache-control", b"no-store")]
_NAMES = frozenset(name for name, _ in _RAW)


class SecurityMiddleware:
    """Checks every request, and adds the security headers to every answer."""

    def __init__(
        self, app: ASGIApp, origin: ServerSettings, logins: Logins, accounts: Accounts | None = None,
        quotas: Quotas | None = None, openid: OpenIdLogin | None = None,
    ) -> None:  # fmt: skip
        check_open(origin)
        self._app = app
        self._origin = origin
        self._public = urlsplit(origin.public_url)
        # With accounts there is no token for all.
        self._credentials = Credentials(Secret("") if accounts else origin.token)
        self._cookies = Cookies(origin)
        self._identity = Identity(accounts, self._cookies, origin) if accounts else None
        self._allowance: Allowance = quotas or Unlimited()
        self._logins = logins
        self._login = LoginPage(self._credentials, logins, self._cookies, accounts, openid)
        self._told_of_proxy = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on an accepted request, and answer any other."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        send = _with_headers(send)
        headers = Headers(scope=scope)
        self._notice_proxy(scope, headers)
        try:
            self._check_host(headers)
            self._check_origin(scope, headers)
            if (self._credentials or self._identity) and self._login.handles(scope["path"]):
                await self._login(scope, receive, send)
                return
            if self._credentials and scope["path"] not in _OPEN:
                receive = await self._check_credentials(scope, receive, headers)
            if self._identity is not None:
                receive, send = await self._identify(self._identity, scope, receive, send, headers)
        except SuyuanError as error:
            await self._refuse(scope, receive, send, error)
            return
        except ClientDisconnect:
            # Its body was read here, and nobody waits for an answer.
            return
        await self._app(scope, receive, send)

    async def _identify(
        self, identity: Identity, scope: Scope, receive: Receive, send: Send, headers: Headers
    ) -> tuple[Receive, Send]:
        """Put the person into the context, with what they may use; raises a cause where it is nobody."""
        keys, receive = await self._keys(scope, receive, headers)
        person, renewed = await identity.of(scope, keys)
        connection = HTTPConnection(scope)
        cookie = renewed[0] if renewed else self._cookies.read(connection)
        if renewed is not None:
            send = _with_cookie(send, self._cookies.set(*renewed, connection))
        if person is not STRANGER:
            scope[ADMISSION] = partial(_refusal, lambda: identity.check(scope, keys, cookie))
        current_person.set(person)
        current_allowance.set(self._allowance)
        return receive, send

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, error: SuyuanError) -> None:
        """Answer a request that is not accepted: a person is asked to log in, a program gets the error."""
        connection = HTTPConnection(scope)
        person = scope["method"] in _READING and accepts_html(connection)
        if person and error.detail_code in _LOG_IN:
            answer = self._login.redirect(scope)
        elif person and error.detail_code in _TOO_OFTEN:
            answer = self._login.form(connection, "/", error)
        else:
            answer = failure(connection, error)
        if error.detail_code in (*_LOG_IN, *_TOO_OFTEN):
            # A browser would send the expired login again and again.
            for cookie in self._cookies.ended(connection):
                answer.headers.append("Set-Cookie", cookie)
        await answer(scope, receive, send)

    def _notice_proxy(self, scope: Scope, headers: Headers) -> None:
        if not self._told_of_proxy and not self._origin.trusted_proxies and "x-forwarded-for" in headers:
            self._told_of_proxy = True
            log.warning(
                "X-Forwarded-For from %s is ignored: if that is your proxy, add it to server.trustedProxies",
                client_key(scope),
            )

    def _check_host(self, headers: Headers) -> None:
        """Refuse other host names: a forged DNS answer would let their pages read our answers (DNS rebinding)."""
        given = headers.getlist("host")
        name = _name_of(given[0]) if len(given) == 1 else ""
        if name in _LOOPBACK or (name and name in (self._origin.host.strip("[]").lower(), self._public.hostname)):
            return
        # A server on all interfaces has many names; there the token protects against forged ones.
        if name and self._origin.host in _ANYWHERE and (self._credentials or self._identity):
            return
        raise HOST_REFUSED(host=(given or [""])[0][:80], url=self._origin.url)

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        reading = scope["method"] in _READING
        site = headers.get("sec-fetch-site", "")
        if site in ("cross-site", "same-site"):
            visit = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
            if not reading or not visit or _for_programs(scope):
                raise ORIGIN_REFUSED()
        origin = headers.get("origin")
        # Browsers send an Origin with every request that changes something; programs send none. Where only something
        # is read, an extension of the browser may send its own.
        if origin is None or (reading and not origin.startswith(("http://", "https://"))):
            return
        if origin.partition("://")[2].lower() not in (headers["host"].lower(), self._public.netloc.lower() or None):
            raise ORIGIN_REFUSED()

    async def _keys(self, scope: Scope, receive: Receive, headers: Headers) -> tuple[list[str], Receive]:
        """The tokens that a request came with, wherever its client puts them; and what the body is read from."""
        given = headers.get("authorization", "")
        kind, _, rest = given.partition(" ")
        keys = [rest.strip() if kind.lower() == "bearer" else given] if given else []
        keys = [key for key in keys if key] + [headers[name] for name in _KEY_HEADERS if name in headers]
        keyed = scope["method"] == "POST" and scope["path"] in _KEY_PATHS and is_json(HTTPConnection(scope))
        if keys or not keyed:
            return keys, receive
        body = await read_body(Request(scope, receive), _LARGEST_KEYED)
        return [key for key in [_key_in(body)] if key], replayed(body, receive)

    async def _check_credentials(self, scope: Scope, receive: Receive, headers: Headers) -> Receive:
        """Raise a cause unless the token comes with the request; returns what the body is read from."""
        cookie = self._cookies.read(HTTPConnection(scope))
        if cookie and await self._logins.find(cookie):
            scope[ADMISSION] = partial(_refusal, lambda: self._check_login(cookie))
            return receive
        keys, receive = await self._keys(scope, receive, headers)
        if any(map(self._credentials.is_token, keys)):
            return receive
        raise self._credentials.refuse(client_key(scope)) if keys or cookie else TOKEN_NEEDED()

    async def _check_login(self, cookie: str) -> None:
        if await self._logins.find(cookie) is None:
            raise TOKEN_NEEDED()


async def _refusal(check: Callable[[], Awaitable[None]]) -> SuyuanError | None:
    """Why a request would not be let in any more; nothing where that cannot be found out at the moment."""
    try:
        await check()
    except Refused as error:
        return error
    except SuyuanError:
        return None
    return None


def _key_in(body: bytes) -> str:
    try:
        key = json.loads(body).get("api_key")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return key if isinstance(key, str) else ""


def _for_programs(scope: Scope) -> bool:
    """Whether no other website has a reason to link here: it would search, or read, in the name of the user."""
    if scope["path"].startswith(INTERFACES):
        return True
    wanted = parse_qs(scope["query_string"].decode("latin-1")).get("format", ["html"])
    return scope["path"] == "/search" and wanted != ["html"]


def _name_of(host: str) -> str:
    """The name in a Host header without its port; empty if the header is malformed."""
    if host.startswith("["):
        name, bracket, rest = host[1:].partition("]")
        return name.lower() if bracket and (not rest or (rest[0] == ":" and rest[1:].isdigit())) else ""
    name, colon, port = host.partition(":")
    return name.lower().rstrip(".") if not colon or port.isdigit() else ""


def _with_cookie(send: Send, cookie: str) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), (b"set-cookie", cookie.encode())]
        await send(message)

    return sending


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = [header for header in message.get("headers", ()) if header[0].lower() not in _NAMES]
            # Answers are private; files that may be cached set this header themselves.
            cached = any(name.lower() == b"cache-control" for name, _ in own)
            message["headers"] = own + (_RAW if cached else _RAW_PRIVATE)
        await send(message)

    return sending
