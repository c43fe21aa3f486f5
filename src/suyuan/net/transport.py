"""What a network client is, which addresses an engine may reach through it, and how it is configured."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import urljoin, urlsplit

from ..core.causes.network import OFF_LIMITS, REDIRECT_LOOP
from ..core.engine import Send
from ..core.secret import Secret
from ..core.urls import domain_of
from ..core.wire import Request, Response

USER_AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
MAX_REDIRECTS = 3

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class NetSettings:
    """How requests leave the house; search and fetch share it."""

    user_agent: str = USER_AGENT
    proxy: Secret = field(default_factory=lambda: Secret(""))
    """A proxy's address may hold a password, so it is kept as a secret."""
    no_proxy: tuple[str, ...] = ("localhost", "127.0.0.1", "::1")
    max_bytes: int = 4 * 1024 * 1024
    impersonate: str = ""
    """A curl_cffi profile such as ``chrome``; empty means the ordinary client."""

    def proxy_for(self, host: str) -> str | None:
        """The proxy to use for ``host``, or None for a direct connection."""
        host = host.lower()
        for name in self.no_proxy:
            name = name.lower().removeprefix("*.").lstrip(".")
            if name and (name == "*" or host == name or host.endswith("." + name)):
                return None
        return self.proxy.reveal() or None


@dataclass(frozen=True, slots=True)
class BrowserSettings:
    """How the browser is found, started, shared and ended."""

    executable: str = ""
    """A path or a command; empty means whatever is installed."""
    headless: bool = True
    profile_dir: Path | None = None
    """A profile that is kept, in which a person has solved a CAPTCHA; None means a new one for every start."""
    max_pages: int = 4
    idle_seconds: float = 120.0
    start_seconds: float = 30.0
    settle_seconds: float = 0.3
    """How long a page's scripts may go on loading after the page itself is there."""


class Transport(Protocol):
    """Something that sends one request and follows no redirect."""

    async def send(self, request: Request, engine: str) -> Response:
        """Send ``request``; failures are raised in the words of our error tree."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...


def origin(url: str) -> tuple[str, str, int]:
    """The scheme, host and port that ``url`` leads to; raises ``ValueError`` where it leads nowhere."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError(f"not an http(s) address: {url}")
    return parts.scheme, parts.hostname.lower(), parts.port or _PORTS[parts.scheme]


def bounded(
    send: Callable[[Request, str], Awaitable[Response]],
    engine: str,
    base_url: str,
    redirect_hosts: tuple[str, ...] = (),
) -> Send:
    """Return a ``send`` for one engine that reaches its own endpoint only, redirects included.

    A redirect to anywhere else is handed to the engine as it came, for it to say what that means.
    """
    home = origin(base_url)

    def allowed(url: str) -> bool:
        try:
            scheme, host, port = origin(url)
        except ValueError:
            return False
        upgraded = home == ("http", host, 80) and (scheme, port) == ("https", 443)
        return (scheme, host, port) == home or upgraded or (host in redirect_hosts and (scheme, port) == ("https", 443))

    async def bound(request: Request) -> Response:
        for _ in range(MAX_REDIRECTS + 1):
            if not allowed(request.url):
                raise OFF_LIMITS(engine=engine, where=domain_of(request.url) or request.url[:80])
            response = await send(request, engine)
            onward = _redirect(request, response)
            if onward is None or not allowed(onward.url):
                return response
            request = onward
        raise REDIRECT_LOOP(engine=engine)

    return bound


def _redirect(request: Request, response: Response) -> Request | None:
    """The request that a redirect asks for; a POST becomes a GET as in browsers, except for 307 and 308."""
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
