"""Addresses of pages: which are pages at all, and which are the same."""

from __future__ import annotations

from urllib.parse import urlsplit

_TRACKING = ("utm_", "gclid=", "fbclid=", "msclkid=", "yclid=", "mc_cid=", "mc_eid=", "igshid=", "spm=", "srsltid=")


def domain_of(url: str) -> str:
    """Return the host of ``url`` without ``www.``; an empty text where it has none."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def page_key(url: str) -> str:
    """One spelling for addresses of the same page: no scheme, no ``www.``, no tracking, no fragment. For comparing only."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").removeprefix("www."), parts.port
    except ValueError:
        return url
    place = f"{host}:{port}" if port and port not in (80, 443) else host
    query = "&".join(pair for pair in parts.query.split("&") if pair and not pair.lower().startswith(_TRACKING))
    # A fragment that starts with ! or / is an address of its own in single-page applications.
    fragment = parts.fragment if parts.fragment[:1] in ("!", "/") else ""
    return place + parts.path.rstrip("/") + (f"?{query}" if query else "") + (f"#{fragment}" if fragment else "")


def is_page(url: str) -> bool:
    """Whether ``url`` is an http(s) address with a host."""
    return url.startswith(("http://", "https://")) and bool(domain_of(url))
