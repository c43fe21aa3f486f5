"""``Network``: the clients for requests, pages and the browser, each created when it is first used."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urljoin

from ..core.causes.browser import BROWSER_UNSANDBOXED, PLAYWRIGHT_MISSING
from ..core.causes.network import IMPERSONATE_MISSING, OFF_LIMITS, REDIRECT_LOOP
from ..core.engine import Send
from ..core.errors import SuyuanError
from ..core.urls import domain_of, origin
from ..core.wire import Request, Response, Via
from .settings import AUTO, OFF, USER_AGENT, BrowserSettings, NetSettings

if TYPE_CHECKING:
    from .fetch_client import FetchClient, FetchResult
    from .guard import Guard

log = logging.getLogger("suyuan.net")

_BROWSER_SECONDS = 5.0

MAX_REDIRECTS = 3


class Transport(Protocol):
    """Sends one request and follows no redirect."""

    def send(self, request: Request, engine: str) -> Coroutine[Any, Any, Response]:
        """Send ``request``; every failure is raised as a ``SuyuanError``."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...


@dataclass(frozen=True, slots=True)
class PageAccess:
    """Which addresses may be read besides the public ones, and how large a page may be."""

    allow_hosts: tuple[str, ...] = ()
    allow_networks: tuple[str, ...] = ()
    fake_ip: bool = False
    max_bytes: int = 16_000_000
    own: tuple[str, ...] = ()
    """The server's own addresses, which are not read as pages."""


class Network:
    """Sends requests by HTTP or with the browser."""

    def __init__(
        self,
        net: NetSettings,
        browser: BrowserSettings,
        access: PageAccess,
        *,
        chrome_profile: Path | None = None,
        browser_urls: tuple[str, ...] = (),
    ) -> None:
        self._net = net
        self._browser_settings = browser
        self._access = access
        self._chrome_profile = chrome_profile
        self._browser_urls = browser_urls
        """The configured URLs of engines that use the browser, which may reach them although they are not public."""
        self._clients: dict[tuple[Via, str], Transport] = {}
        """By the way that they send, and the browser profile that they present."""

    _browser_until = 0.0
    """Until when the browser that was found counts as there."""

    async def send(self, request: Request, engine: str) -> Response:
        """Send ``request`` with the client that it names."""
        return await self._client(request.via).send(request, engine)

    async def send_as_browser(self, request: Request, engine: str) -> Response:
        """Like :meth:`send`, with the handshake and headers of a browser where the settings ask for it."""
        profile = self.profile(request.url) if request.via == "http" else ""
        return await self._client(request.via, profile).send(request, engine)

    def profile(self, url: str) -> str:
        """The browser that :meth:`send_as_browser` presents itself as at ``url``; empty for none."""
        wanted = self._net.impersonate
        if wanted != AUTO:
            return "" if wanted == OFF else wanted
        # Only a handshake makes the difference, and a browser's must not come with somebody else's user agent.
        fits = url.startswith("https:") and self._net.user_agent == USER_AGENT
        return "chrome" if fits and self._has_curl else ""

    @cached_property
    def _has_curl(self) -> bool:
        return find_spec("curl_cffi") is not None

    def prepare(self, url: str = "") -> None:
        """Load the client for ``url`` now, because importing it takes longer than the limit of some health checks."""
        profile = self.profile(url) if url else ""
        # What is missing is reported by the request that needs it.
        with suppress(SuyuanError):
            self._client("http", profile)

    def _client(self, via: Via, profile: str = "") -> Transport:
        key = (via, profile)
        if key not in self._clients:
            self._clients[key] = self._browser() if via == "browser" else self._http(profile)
        return self._clients[key]

    def browser_problem(self) -> SuyuanError | None:
        """The reason why pages of the web cannot be read with a browser here, or None."""
        if problem := self.print_problem():
            return problem
        if self._browser_settings.allow_unsandboxed:
            return None
        from .launch import is_unsandboxed

        return BROWSER_UNSANDBOXED() if is_unsandboxed() else None

    def print_problem(self) -> SuyuanError | None:
        """The reason why no browser can be started here, not even to print, or None."""
        # Every page asks, and one that was there a moment ago is still there.
        if time.monotonic() < self._browser_until:
            return None
        from .chrome import find_chrome

        if find_spec("playwright") is None:
            return PLAYWRIGHT_MISSING()
        try:
            find_chrome(self._browser_settings.executable)
        except SuyuanError as error:
            return error
        self._browser_until = time.monotonic() + _BROWSER_SECONDS
        return None

    def _http(self, profile: str) -> Transport:
        if profile:
            try:
                from .impersonate import ImpersonatingClient

                return ImpersonatingClient(self._net, profile)
            except ImportError:
                if self._net.impersonate != AUTO:
                    raise IMPERSONATE_MISSING(profile=profile) from None
                log.warning("curl_cffi cannot be loaded, and is not used")
        from .http import HttpClient

        return HttpClient(self._net)

    def _browser(self) -> Transport:
        from .browser import BrowserClient
        from .fetch_client import system_lookup
        from .guard import parse
        from .guarded_proxy import ProxyPolicy

        # A profile in which a person has solved a CAPTCHA is used as long as it exists.
        profile = self._chrome_profile
        if profile and not profile.is_dir():
            profile = None
        browser = replace(self._browser_settings, profile_dir=profile)
        allowed = frozenset((url.host, url.port) for url in map(parse, self._browser_urls))
        return BrowserClient(
            browser, self._net, self._browser_may_load, ProxyPolicy(self.guard, system_lookup, allowed)
        )

    async def _browser_may_load(self, url: str) -> bool:
        if any(url.startswith(f"{base}/") for base in self._browser_urls):
            return True
        return await self.fetch_client.may_load(url)

    @cached_property
    def guard(self) -> Guard:
        """Decides which addresses may be read; the URLs of engines are not added to it."""
        from ..core.own_address import OwnAddresses
        from .guard import Guard

        access, own = self._access, OwnAddresses.of(self._access.own)
        return Guard(access.allow_hosts, access.allow_networks, access.fake_ip, own)

    @cached_property
    def fetch_client(self) -> FetchClient:
        """The client for every address that the guard allows."""
        from .fetch_client import FetchClient

        return FetchClient(self._net, self.guard)

    async def get(self, url: str, headers: Mapping[str, str]) -> FetchResult:
        """Fetch a page from an allowed address, with limited size."""
        limit = self._access.max_bytes
        return await self.fetch_client.get(url, headers=headers, max_wire=limit, max_bytes=limit)

    async def render(self, url: str, seconds: float) -> Response:
        """Load a page in the browser and return its HTML as its scripts have made it within ``seconds``."""
        self.guard.check_url(url)
        return await self.send(Request(url, via="browser", settle_seconds=seconds), "web.fetch")

    async def post(self, url: str, body: bytes) -> Response:
        """Send JSON to an allowed address."""
        return await self.fetch_client.post(url, body)

    async def print_pdf(self, html: str) -> bytes:
        """Print a page that needs nothing from the network as PDF, in the browser."""
        if problem := self.print_problem():
            raise problem
        browser: Any = self._client("browser")
        pdf: bytes = await browser.print_pdf(html)
        return pdf

    async def close(self) -> None:
        """Close all clients."""
        while self._clients:
            await self._clients.popitem()[1].close()
        if fetch_client := self.__dict__.pop("fetch_client", None):
            await fetch_client.close()


def restricted_send(
    send: Callable[[Request, str], Awaitable[Response]],
    engine: str,
    base_url: str,
    redirect_hosts: tuple[str, ...] = (),
) -> Send:
    """Return a ``send`` for one engine that reaches its own endpoint only and follows redirects within it.

    A redirect to another host is returned to the engine, which knows what it means.
    """
    scheme, host, port = own = origin(base_url)
    allowed_origins = {own, *(("https", redirect_host, 443) for redirect_host in redirect_hosts)}
    if scheme == "http":
        # Its own port with TLS too, and the usual port of https in place of that of http.
        allowed_origins.add(("https", host, port))
        if port == 80:
            allowed_origins.add(("https", host, 443))

    def allowed(url: str) -> bool:
        try:
            return origin(url) in allowed_origins
        except ValueError:
            return False

    async def send_restricted(request: Request) -> Response:
        for _ in range(MAX_REDIRECTS + 1):
            if not allowed(request.url):
                raise OFF_LIMITS(engine=engine, where=domain_of(request.url) or request.url[:80])
            response = await send(request, engine)
            following = _redirect(request, response)
            if following is None or not allowed(following.url):
                return response
            request = following
        raise REDIRECT_LOOP(engine=engine)

    return send_restricted


def _redirect(request: Request, response: Response) -> Request | None:
    """The request that a redirect asks for; as in browsers, a POST becomes a GET except for 307 and 308."""
    location = response.headers.get("location")
    if not location or response.status not in (301, 302, 303, 307, 308):
        return None
    try:
        url = urljoin(request.url, location)
    except ValueError:
        return None
    if response.status in (307, 308):
        return Request(url, request.method, request.headers, request.body, request.via)
    headers = {name: value for name, value in request.headers.items() if name.lower() != "content-type"}
    return Request(url, "GET", headers, b"", request.via)
