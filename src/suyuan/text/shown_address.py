"""Addresses as they may be shown and linked: what is read in them is the host that is opened.

A host is always written in ASCII, in the form in which it is asked for: letters of other scripts that look like Latin
ones do not appear at all. There is no user name in front of it, no number instead of the usual form of an IP address,
and nothing behind it that is invisible or written from right to left.
"""

from __future__ import annotations

import re
from unicodedata import normalize
from urllib.parse import quote

_PARTS = re.compile(r"(https?)://([^/?#\\]+)(.*)", re.I | re.S)
# As most addresses are: the last label of a name begins with a letter, which that of no IP address does.
_PLAIN = re.compile(r"https?://(?:[a-z0-9_-]+\.)+[a-z][a-z0-9-]*(?::\d+)?(?:[/?#][!#-;=?-\[\]-~]*)?")
_NAME = re.compile(r"[A-Za-z0-9_.\[\]:-]+")
# What a reader takes for the dots and the slashes of an address.
_DOTS = re.compile(r"(?<!\s)\s*[.·•‧∙⋅・。․](?:\s+(?=[a-z]))?")
_SLASHES = re.compile(r"[⁄∕⧸╱⟋⼃〳／\\]")
# What a reader takes for an address, wherever it stands: names with dots, numbers with dots, this machine.
_ADDRESS_LIKE = re.compile(
    # A name is looked for from its first character only, so that a long one is read once.
    r"(https?:/*[^\s/?#]+"
    r"|(?<![^\s/?#@:()<>\[\]\"'“”‘’「」,，、;；|])(?:[^\s./?#@:()<>\[\]\"'“”‘’「」,，、;；|]+\.)+[^\W\d_]{2,63}(?![^\W\d_])"
    r"|\d{1,10}(?:\.\d{1,10}){3}|\[[0-9a-f]*:[0-9a-f:.]+\]|(?<![\w-])localhost(?![\w-]))(?:[:/?#]\S*)?",
    re.I,
)
_SCHEME = re.compile(r"https?:/*", re.I)
# What a reader takes for a citation of a source.
_MARKER_LIKE = re.compile(r"[\s\[\](){}〔〕【】〖〗「」^#,;–-]*\d{1,4}[\s\[\](){}〔〕【】〖〗「」^#,;\d–-]*")
_LONGEST_LABEL = 500
_BEFORE_QUERY = re.compile(r"[^?#]*")
# Blanks, quotes and brackets that end an address; invisible characters, fillers, selectors; scripts from right to left.
_UNCLEAR = re.compile(
    '[\\s\x00-\x20"<>\x7f-\xa0\u00ad\u034f\u0590-\u08ff\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f'
    "\u2800\u3000\u3164\ud800-\udfff\ufb1d-\ufdff\ufe00-\ufe0f\ufe70-\ufeff\uffa0\ufff0-\uffff\U00010800-\U00010fff"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U0001e800-\U0001efff\U000e0000-\U000e0fff]"
)


def shown_address(url: str) -> str:
    """``url`` as it is shown and linked; empty if it is not an http(s) address with a host."""
    if _PLAIN.fullmatch(url):
        return url
    parts = _PARTS.fullmatch(url)
    if parts is None:
        return ""
    scheme, authority, rest = parts[1].lower(), parts[2].rpartition("@")[2], parts[3]
    host = _host(scheme, authority)
    # A browser reads a backslash in a path as a slash.
    rest = _BEFORE_QUERY.sub(lambda path: path[0].replace("\\", "/"), rest, count=1)
    return f"{scheme}://{host}{_UNCLEAR.sub(_encoded, rest)}" if host else ""


def shown_host(url: str) -> str:
    """The host that ``url`` leads to, without ``www.``; empty if it leads to none."""
    address = shown_address(url)
    host = re.sub(r":\d*$", "", address.partition("://")[2].partition("/")[0].partition("?")[0].partition("#")[0])
    return host.strip("[]").removeprefix("www.")


def other_host(label: str, url: str) -> str:
    """The host of ``url`` where something in ``label``, the text of a link to it, reads like the address of another.

    So does what reads like a citation. Empty where nothing does.
    """
    host = shown_host(url)
    plain = _SLASHES.sub("/", _DOTS.sub(".", normalize("NFKC", label[:_LONGEST_LABEL])))
    if len(label) > _LONGEST_LABEL or _MARKER_LIKE.fullmatch(plain):
        return host
    # As it was written as well: what looks alike to some readers is another letter to others.
    addresses = [*_ADDRESS_LIKE.findall(plain), *_ADDRESS_LIKE.findall(label)]
    read = {_SCHEME.sub("", address) for address in addresses}
    # A refused name is no host, but may look like one.
    return host if any("@" in name or shown_host(f"https://{name}/") != host for name in read) else ""


def _host(scheme: str, authority: str) -> str:
    """Host and port as the parser of browsers, and of all requests here, reads them; empty if it refuses them."""
    # Loaded only for addresses that need it.
    from ada_url import URL

    try:
        host = URL(f"{scheme}://{authority}/").host
    except ValueError:
        return ""
    return host if _NAME.fullmatch(host) else ""


def _encoded(unclear: re.Match[str]) -> str:
    return quote(unclear[0].encode("utf-8", "replace"), safe="")
