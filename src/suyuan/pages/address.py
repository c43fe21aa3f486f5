"""Compares the addresses of pages: which are the same address, and which belong to the same site."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ada_url import URL

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList


def address_key(url: str) -> str:
    """One spelling for an address, scheme and query included, without the fragment that no server sees."""
    try:
        parsed = URL(url)
    except ValueError:
        return url.encode("utf-8", "replace").decode("utf-8")
    # In single-page applications a fragment that starts with ! or / is part of the path.
    if not parsed.hash.startswith(("#!", "#/")):
        parsed.hash = ""
    return str(parsed.href).removesuffix("#")


def is_same_site(one: str, other: str) -> bool:
    """Whether both addresses belong to one registrable domain, such as ``example.co.uk``."""
    try:
        first, second = (URL(url).hostname.rstrip(".") for url in (one, other))
    except ValueError:
        return False
    if first == second:
        return bool(first)
    site = _suffixes().privatesuffix(first)
    return site is not None and site == _suffixes().privatesuffix(second)


def registrable_domain(host: str) -> str:
    """The domain that ``host`` is registered by, such as ``example.co.uk``; empty if there is none."""
    return _suffixes().privatesuffix(host) or ""


@cache
def _suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()
