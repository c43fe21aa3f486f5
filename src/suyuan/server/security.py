"""Which requests are accepted: for our own host name, from our own page, and from other machines with the token."""

from __future__ import annotations

import hashlib
import hmac
import time
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..config.settings import ServerSettings
from ..core.causes.web import HOST_REFUSED, ORIGIN_REFUSED, TOKEN_FOR_NETWORK, TOKEN_NEEDED, TOKEN_WRONG
from ..core.errors import SuyuanError
from .errors import accepts_html, failure
from .limits import FailedLogins, client_key
from .login import LoginPage

COOKIE = "suyuan_login"
COOKIE_DAYS = 30
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_ANYWHERE = ("0.0.0.0", "::", "")
_READING = ("GET", "HEAD")
# Paths for programs; no other website has a reason to link to them.
INTERFACES = ("/api/", "/v1/", "/stream/", "/metrics")
_OPEN = ("/healthz",)

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()",
}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens on ``host``."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def check_open(origin: ServerSettings) -> None:
    """Raise a cause if the server at ``origin`` would be open to the network without a token."""
    if not is_loopback(origin.host) and not origin.token:
        raise TOKEN_FOR_NETWORK(host=origin.host or "*", example='export SUYUAN_TOKEN="$(openssl rand -hex 24)"')


class SecurityMiddleware:
    """Checks every request, and adds the security headers to every answer."""

    def __init__(self, app: ASGIApp, origin: ServerSettings, failed: FailedLogins | None = None) -> None:
        check_open(origin)
        self._app = app
        self._origin = origin
        self._token = origin.token.reveal().encode()
        self._failed = failed or FailedLogins()
        self._login = LoginPage(self._is_token, self._failed, self._cookie)

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
        try:
            self._check_host(headers)
            self._check_origin(scope, headers)
            if self._token and scope["path"] not in _OPEN:
                if self._login.handles(scope["path"]):
                    await self._login(scope, receive, send)
                    return
                self._check_token(scope, headers)
        except SuyuanError as error:
            if error.detail_code == TOKEN_NEEDED.detail_code and scope["method"] in _READING and accepts_html(headers):
                await self._login.redirect(scope, receive, send)
            else:
                await failure(HTTPConnection(scope), error)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _check_host(self, headers: Headers) -> None:
        """Refuse other host names: a forged DNS answer would let their pages read our answers (DNS rebinding)."""
        given = headers.getlist("host")
        name = _name_of(given[0]) if len(given) == 1 else ""
        if name in _LOOPBACK or (name and name == self._origin.host.strip("[]").lower()):
            return
        # A server on all interfaces has many names; there the token protects against forged ones.
        if name and self._origin.host in _ANYWHERE and self._token:
            return
        raise HOST_REFUSED(host=(given or [""])[0][:80], url=self._origin.url)

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        site = headers.get("sec-fetch-site", "")
        if site in ("cross-site", "same-site"):
            visit = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
            if scope["method"] not in _READING or not visit or scope["path"].startswith(INTERFACES):
                raise ORIGIN_REFUSED()
        origin = headers.get("origin")
        # Browsers send an Origin with every request that changes something; programs send none.
        if origin is None or scope["method"] in _READING:
            return
        if origin.partition("://")[2].lower() != headers["host"].lower():
            raise ORIGIN_REFUSED()

    def _check_token(self, scope: Scope, headers: Headers) -> None:
        if self._is_cookie(HTTPConnection(scope).cookies.get(COOKIE, "")):
            return
        given = headers.get("authorization", "")
        if not given:
            raise TOKEN_NEEDED()
        client = client_key(scope)
        self._failed.check(client)
        kind, _, rest = given.partition(" ")
        if not self._is_token(rest.strip() if kind.lower() == "bearer" else given):
            self._failed.add(client)
            raise TOKEN_WRONG()

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token)

    def _cookie(self, secure: bool) -> str:
        """The cookie header of a logged-in browser: a signature made with the token, never the token itself."""
        value = self._signature(int(time.time()))
        age = f"Max-Age={COOKIE_DAYS * 86400}"
        return f"{COOKIE}={value}; Path=/; HttpOnly; SameSite=Strict; {age}" + ("; Secure" if secure else "")

    def _is_cookie(self, value: str) -> bool:
        since, _, _ = value.partition(".")
        if not (since.isascii() and since.isdigit() and len(since) < 12):
            return False
        age = time.time() - int(since)
        return -60 < age < COOKIE_DAYS * 86400 and hmac.compare_digest(
            value.encode("utf-8", "replace"), self._signature(int(since)).encode()
        )

    def _signature(self, since: int) -> str:
        return f"{since}.{hmac.new(self._token, f'suyuan login {since}'.encode(), hashlib.sha256).hexdigest()}"


def _name_of(host: str) -> str:
    """The name in a Host header without its port; empty if the header is malformed."""
    if host.startswith("["):
        name, bracket, rest = host[1:].partition("]")
        return name.lower() if bracket and (not rest or (rest[0] == ":" and rest[1:].isdigit())) else ""
    name, colon, port = host.partition(":")
    return name.lower().rstrip(".") if not colon or port.isdigit() else ""


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            # Answers are private; files that may be cached set this header themselves.
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sending
