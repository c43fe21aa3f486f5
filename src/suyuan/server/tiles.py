"""The tile of a source: a letter and a colour by its domain, so that no picture is requested from anyone."""

from __future__ import annotations

from functools import lru_cache
from zlib import crc32

from ..core.urls import domain_of
from ..pages.address import registrable_domain

COLOURS = 12


@lru_cache(1024)
def tile_letter(url: str) -> str:
    """The first letter of the name that the source's domain is registered by."""
    return _name(url)[:1].upper() or "?"


@lru_cache(1024)
def tile_colour(url: str) -> int:
    """The number of the colour of the source's domain."""
    return crc32(_name(url).encode()) % COLOURS


def _name(url: str) -> str:
    host = domain_of(url)
    return registrable_domain(host) or host
