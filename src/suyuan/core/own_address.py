"""Which addresses are those of this server, in whatever spelling, and which name a document of the user.

Reading and the look at a history ask the same function: what would be read as a document is private where it is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import unescape
from ipaddress import ip_address
from typing import Any, Self
from urllib.parse import unquote

from ada_url import URL

from ..text.visible import shown_text

_DOCUMENT = re.compile(r"/library/+([0-9a-f]{16})(?![0-9a-f])", re.I)
_ADDRESS = re.compile(r"https?:[^\s<>\"]+", re.I)
# The path itself, with whatever signs between, also where it is cut off its host.
_NAMED = re.compile(r"library[^0-9a-z]{1,12}[0-9a-f]{16}", re.I)
# An address as it is written, perhaps as the target of a link; and what is left of a link without one.
_WRITTEN_ADDRESS = re.compile(r"(?:(?<=(\]\())|(?<!\w))((?:https?:|/)[^\s<>\"()]+)", re.I)
_EMPTY_LINK = re.compile(r"\[((?:\[[^\[\]]*\]|[^\[\]])*)\]\(\)")
_JSON_ESCAPE = re.compile(r"\\u([0-9a-f]{4})", re.I)
_STRIPPED = re.compile(r"[\t\r\n]")
_DECODED_TIMES = 3
_MOST_ESCAPES = 20_000
_MOST_ADDRESSES = 1_000
_PORTS = {"http:": 80, "https:": 443}


@dataclass(frozen=True, slots=True)
class OwnAddresses:
    """Where this server is reached: by people, and on this machine."""

    places: frozenset[tuple[str, int, str]] = frozenset()
    """Hosts, ports and the paths below which it is; the host of this machine is empty."""

    @classmethod
    def of(cls, addresses: Iterable[str]) -> Self:
        """Those below these addresses."""
        return cls(frozenset(place for place in map(_place, addresses) if place is not None))

    def covers(self, url: str) -> bool:
        """Whether ``url`` leads to this server."""
        place = _place(url)
        if place is None:
            return False
        return any(place[:2] == own[:2] and f"{place[2]}/".startswith(f"{own[2]}/") for own in self.places)

    def covers_ip(self, ip: str, port: int) -> bool:
        """Whether this server is at that port of an IP address, by whatever name it was found."""
        return any((_host(ip), port) == own[:2] and not own[2] for own in self.places)

    def has_port(self, port: int) -> bool:
        """Whether this server listens at that port of this machine."""
        return any(own[:2] == ("", port) for own in self.places)

    def document(self, url: str) -> str:
        """The id of the document that ``url`` leads to; empty for any other address.

        A server of this machine may have listened on another port before.
        """
        place = _place(url)
        return document_id(url) if place is not None and (not place[0] or self.covers(url)) else ""


def document_id(url: str) -> str:
    """The id in an address that is one of a document, whichever server has it; empty in any other."""
    try:
        parsed = URL(url)
    except ValueError:
        return ""
    match = _DOCUMENT.search(unquote(parsed.pathname)) if parsed.protocol in _PORTS else None
    return match[1].lower() if match else ""


def without_documents(text: str) -> str:
    """``text`` with the names of documents in place of their addresses, and citations of them without a link."""
    if not names_document(text):
        return text
    return _EMPTY_LINK.sub(r"\1", _WRITTEN_ADDRESS.sub(_document_name, text))


def _document_name(address: re.Match[str]) -> str:
    if not names_document(address[2]):
        return address[0]
    # In a link of Markdown the text stands before it.
    if address[1]:
        return ""
    return unquote(address[2].partition("#")[0].rpartition("/")[2])


def names_document(value: Any) -> bool:
    """Whether a document is named in any text of ``value``, however deep in lists and objects it stands."""
    return any(map(_names_document, _strings(value)))


def _names_document(text: str) -> bool:
    if text.count("%") > _MOST_ESCAPES:
        # Nobody writes so; what would take long to look at counts as private.
        return True
    text = shown_text(_decoded(text))
    for _ in range(_DECODED_TIMES):
        if "%" not in text:
            break
        text = unquote(text)
    # As JSON within a text writes slashes, and as addresses may.
    text = text.replace("\\/", "/").replace("\\", "/")
    # The parser of addresses leaves these out.
    return any(map(_plainly_named, {text, _STRIPPED.sub("", text)}))


def _decoded(text: str) -> str:
    """``text`` with the characters that HTML and JSON within a text stand for."""
    if "&" in text:
        text = unescape(text)
    if "\\u" in text:
        text = _JSON_ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text)
    return text


def _plainly_named(text: str) -> bool:
    if "library" not in text.lower():
        return False
    # Only steps up and down in a path hide what the first expression looks for.
    stepping = [url for url in _ADDRESS.findall(text) if "/." in url]
    too_many = len(stepping) > _MOST_ADDRESSES
    return too_many or _NAMED.search(text) is not None or any(map(document_id, stepping))


def _strings(value: Any) -> Iterable[str]:
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            left += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple):
            left += item


def _place(url: str) -> tuple[str, int, str] | None:
    """Host, port and path of an address of the web; None for any other text."""
    try:
        parsed = URL(url)
    except ValueError:
        return None
    if parsed.protocol not in _PORTS:
        return None
    port = int(parsed.port or _PORTS[parsed.protocol])
    return _host(parsed.hostname), port, unquote(parsed.pathname).rstrip("/")


def _host(name: str) -> str:
    """A host in one spelling; empty for this machine."""
    name = name.strip("[]").removesuffix(".").lower()
    try:
        ip = ip_address(name)
    except ValueError:
        return "" if name == "localhost" or name.endswith(".localhost") else name
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return "" if ip.is_loopback or ip.is_unspecified else str(ip)
