"""``Transport``, the interface of a network client, and the restriction of an engine to its own endpoint."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol
from urllib.parse import urljoin, urlsplit

from ..core.causes.network import OFF_LIMITS, REDIRECT_LOOP
from ..core.engine import Send
from ..core.secret import Secret
from ..core.urls import domain_of
from ..core.wire import Request, Response

MAX_REDIRECTS = 3

_PORTS = {"http": 80, "https": 443}


class Transport(Protocol):
    """Sends one request and follows no redirect."""

    def send(self, request: Request, engine: str) -> Coroutine[Any, Any, Response]:
        """Send ``request``; every failure is raised as a ``SuyuanError``."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...


def origin(url: str) -> tuple[str, str, int]:
    """The scheme, host and port of ``url``; raises ``ValueError`` if it is not an http(s) URL."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError(f"not an http(s) address: {url}")
    return parts.scheme, parts.hostname.lower(), parts.port or _PORTS[parts.scheme]


def netloc(url: str) -> str:
    """The host of ``url``, with its port if it has one, without user name and password."""
    return urlsplit(url).netloc.rpartition("@")[2]


def revealed_headers(request: Request) -> dict[str, str]:
    """The headers of ``request`` with its secrets as text, for the moment of sending."""
    return {name: value.reveal() if isinstance(value, Secret) else value for name, value in request.headers.items()}


def restricted_send(
    send: Callable[[Request, str], Awaitable[Response]],
    engine: str,
    base_url: str,
    redirect_hosts: tuple[str, ...] = (),
) -> Send:
    """Return a ``send`` for one engine that reaches its own endpoint only and follows redirects within it.

    A redirect to another host is returned to the engine, which knows what it means.
    """
    own = origin(base_url)

    def allowed(url: str) -> bool:
        try:
            scheme, host, port = origin(url)
        except ValueError:
            return False
        upgraded = own == ("http", host, 80) and (scheme, port) == ("https", 443)
        return (scheme, host, port) == own or upgraded or (host in redirect_hosts and (scheme, port) == ("https", 443))

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
