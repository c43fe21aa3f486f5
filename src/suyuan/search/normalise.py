"""From what an engine found to what callers get: real addresses, each page once, ranked from 1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import urlsplit

from ..contract.types import SearchQuery, SearchResult, domain_of

_TRACKING = ("utm_", "gclid=", "fbclid=", "msclkid=", "yclid=", "mc_cid=", "mc_eid=", "igshid=", "spm=", "srsltid=")


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


def normalise(results: Iterable[SearchResult], query: SearchQuery) -> tuple[SearchResult, ...]:
    """Drop what is no page or outside the asked domains, keep each page once, and write the ranks."""
    kept: dict[str, SearchResult] = {}
    for result in results:
        if is_page(result.url) and _wanted(result.source, query):
            kept.setdefault(page_key(result.url), result)
    return tuple(replace(result, rank=rank) for rank, result in enumerate(list(kept.values())[: query.count], 1))


def _wanted(domain: str, query: SearchQuery) -> bool:
    if query.allowed_domains and not any(_within(domain, name) for name in query.allowed_domains):
        # Baidu hides the page behind a link of its own: only Baidu itself can have applied the filter.
        return domain == "baidu.com"
    return not any(_within(domain, name) for name in query.blocked_domains)


def _within(domain: str, name: str) -> bool:
    return domain == name or domain.endswith("." + name)
