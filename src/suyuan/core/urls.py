"""Comparing the URLs of pages; a URL that is connected to is parsed by ``net.guard`` instead."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from urllib.parse import unquote, urlsplit

# One expression instead of urlsplit, because every result of every search is parsed here several times.
_SITE = r"https?://(?:[^/?#\\]*@)?(\[[^\]/?#]*\]|[^/?#:@\[\]\\\s]+)(?::(\d*))?(?=[/?#]|$)"
_START = re.compile(_SITE, re.I)
_PARTS = re.compile(_SITE + r"([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.I | re.S)
_HOST = re.compile(r"([^/?#]*//[^/?#]*)([^#]*)")
_TRACKING = ("utm_", "gclid=", "fbclid=", "msclkid=", "yclid=", "mc_cid=", "mc_eid=", "igshid=", "spm=", "srsltid=")
_PORTS = {"http": 80, "https": 443}


def domain_of(url: str) -> str:
    """The host of ``url`` without ``www.``; empty if it is not an http(s) URL."""
    match = _START.match(url)
    return match[1].lower().strip("[]").removeprefix("www.") if match else ""


def within(domain: str, name: str) -> bool:
    """Whether ``domain`` is ``name`` or below it, however the two are written."""
    domain, name = _canonical(domain), _canonical(name)
    return domain == name or domain.endswith("." + name)


@lru_cache(maxsize=1024)
def _canonical(domain: str) -> str:
    """A domain as the name service knows it: lower case, no dot at its end, other scripts in ASCII."""
    domain = unquote(domain).lower()
    if not domain.isascii():
        with suppress(UnicodeError):
            domain = domain.encode("idna").decode("ascii")
    return domain.rstrip(".").removeprefix("www.")


def is_page(url: str) -> bool:
    """Whether ``url`` is an http(s) URL with a host."""
    return url.startswith(("http://", "https://")) and _START.match(url) is not None


@lru_cache(maxsize=2048)
def page_key(url: str) -> str:
    """The same text for all URLs of a page: no scheme, no ``www.``, no tracking parameters, no fragment."""
    match = _PARTS.match(url)
    if match is None:
        return url
    host, port, path, query, fragment = match.groups(default="")
    site = host.lower().removeprefix("www.")
    if port not in ("", "80", "443"):
        site = f"{site}:{port}"
    if query:
        query = "&".join(pair for pair in query.split("&") if pair and not pair.lower().startswith(_TRACKING))
    # In single-page applications a fragment that starts with ! or / is part of the path.
    tail = f"#{fragment}" if fragment[:1] in ("!", "/") and fragment else ""
    return f"{site}{path.rstrip('/')}{f'?{query}' if query else ''}{tail}"


def split_path(url: str) -> tuple[str, str]:
    """``url`` in two: scheme and host, then path and query; without its fragment."""
    match = _HOST.match(url)
    return (match[1], match[2]) if match else (url, "")


def origin(url: str) -> tuple[str, str, int]:
    """The scheme, host and port of ``url``; raises ``ValueError`` if it is not an http(s) URL."""
    return _origin(split_path(url)[0])


@lru_cache(256)
def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError(f"not an http(s) address: {url}")
    return parts.scheme, parts.hostname.lower(), parts.port or _PORTS[parts.scheme]


def netloc(url: str) -> str:
    """The host of ``url``, with its port if it has one, without user name and password."""
    return urlsplit(url).netloc.rpartition("@")[2]
