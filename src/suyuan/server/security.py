"""Who may ask: only by our own name, only from our own page, and beyond this machine only with the token."""

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
from .limits import Tries, client_of
from .login import Login

COOKIE = "suyuan_login"
COOKIE_DAYS = 30
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_ANYWHERE = ("0.0.0.0", "::", "")
_READING = ("GET", "HEAD")
# Paths that programs ask; no other website has a reason to lead a browser there.
INTERFACES = ("/api/", "/v1/", "/stream/", "/metrics")
_OPEN = ("/healthz",)

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'none'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
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
    """Raise a cause where ``origin`` would open the house to the network without a token."""
    if not is_loopback(origin.host) and not origin.token:
        raise TOKEN_FOR_NETWORK(host=origin.host or "*", example='export SUYUAN_TOKEN="$(openssl rand -hex 24)"')


class Security:
    """The checks before every request, and the headers after it."""

    def __init__(self, app: ASGIApp, origin: ServerSettings, tries: Tries | None = None) -> None:
        check_open(origin)
        self._app = app
        self._origin = origin
        self._token = origin.token.reveal().encode()
        self._tries = tries or Tries()
        self._login = Login(self._right, self._tries, self._cookie)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what may be asked, and answer all else."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        guarded = _with_headers(send)
        headers = Headers(scope=scope)
        try:
            self._check_host(headers)
            self._check_origin(scope, headers)
            if self._token and scope["path"] not in _OPEN:
                if self._login.takes(scope["path"]):
                    await self._login(scope, receive, guarded)
                    return
                self._check_token(scope, headers)
        except SuyuanError as error:
            if error.detail_code == TOKEN_NEEDED.detail_code and scope["method"] in _READING and accepts_html(headers):
                await self._login.lead_there(scope, receive, guarded)
            else:
                await failure(HTTPConnection(scope), error)(scope, receive, guarded)
            return
        await self._app(scope, receive, guarded)

    def _check_host(self, headers: Headers) -> None:
        """A name that is not ours leads a browser here by a forged DNS answer; pages of that name must not read us."""
        given = headers.getlist("host")
        name = _name_of(given[0]) if len(given) == 1 else ""
        if name in _LOOPBACK or (name and name == self._origin.host.strip("[]").lower()):
            return
        # Whoever listens everywhere has many names; there the token keeps those out who came by a forged one.
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
        # No Origin: no browser. There is nothing then that a website could abuse.
        if (
            origin is not None
            and scope["method"] not in _READING
            and origin.partition("://")[2].lower() != headers["host"].lower()
        ):
            raise ORIGIN_REFUSED()

    def _check_token(self, scope: Scope, headers: Headers) -> None:
        if self._cookie_holds(HTTPConnection(scope).cookies.get(COOKIE, "")):
            return
        given = headers.get("authorization", "")
        if not given:
            raise TOKEN_NEEDED()
        client = client_of(scope)
        self._tries.check(client)
        kind, _, rest = given.partition(" ")
        if not self._right(rest.strip() if kind.lower() == "bearer" else given):
            self._tries.failed(client)
            raise TOKEN_WRONG()

    def _right(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token)

    def _cookie(self, secure: bool) -> str:
        """The header that keeps a browser logged in: a proof of the token, never the token."""
        value = self._proof(int(time.time()))
        kept = f"Max-Age={COOKIE_DAYS * 86400}"
        return f"{COOKIE}={value}; Path=/; HttpOnly; SameSite=Strict; {kept}" + ("; Secure" if secure else "")

    def _cookie_holds(self, value: str) -> bool:
        since, _, _ = value.partition(".")
        if not (since.isascii() and since.isdigit() and len(since) < 12):
            return False
        age = time.time() - int(since)
        return -60 < age < COOKIE_DAYS * 86400 and hmac.compare_digest(
            value.encode("utf-8", "replace"), self._proof(int(since)).encode()
        )

    def _proof(self, since: int) -> str:
        return f"{since}.{hmac.new(self._token, f'suyuan login {since}'.encode(), hashlib.sha256).hexdigest()}"


def _name_of(host: str) -> str:
    """The name in a Host header, without its port; empty where it is none."""
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
            # Answers are private; what may be kept says so itself.
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sending
