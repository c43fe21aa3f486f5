"""Addresses of pages: which are pages at all, and which are the same. For comparing only; what is connected to is parsed by the guard."""

from __future__ import annotations

import re

# One expression in place of urlsplit: every result of every search passes here, several times.
_PARTS = re.compile(
    r"https?://(?:[^/?#@]*@)?(\[[^\]/?#]*\]|[^/?#:\[\]\\\s]+)(?::(\d*))?(?=[/?#]|$)([^?#]*)(?:\?([^#]*))?(?:#(.*))?",
    re.I | re.S,
)
_TRACKING = ("utm_", "gclid=", "fbclid=", "msclkid=", "yclid=", "mc_cid=", "mc_eid=", "igshid=", "spm=", "srsltid=")


def domain_of(url: str) -> str:
    """Return the host of ``url`` without ``www.``; an empty text where it is no http(s) address."""
    found = _PARTS.match(url)
    return found[1].lower().strip("[]").removeprefix("www.") if found else ""


def is_page(url: str) -> bool:
    """Whether ``url`` is an http(s) address with a host."""
    return url.startswith(("http://", "https://")) and _PARTS.match(url) is not None


def page_key(url: str) -> str:
    """One spelling for addresses of the same page: no scheme, no ``www.``, no tracking, no fragment."""
    found = _PARTS.match(url)
    if found is None:
        return url
    host, port, path, query, fragment = found.groups(default="")
    place = host.lower().removeprefix("www.")
    if port not in ("", "80", "443"):
        place = f"{place}:{port}"
    if query:
        query = "&".join(pair for pair in query.split("&") if pair and not pair.lower().startswith(_TRACKING))
    # A fragment that starts with ! or / is an address of its own in single-page applications.
    tail = f"#{fragment}" if fragment[:1] in ("!", "/") and fragment else ""
    return f"{place}{path.rstrip('/')}?{query}{tail}" if query else f"{place}{path.rstrip('/')}{tail}"
