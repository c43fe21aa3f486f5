"""Bytes to text, as a browser would: byte order mark, header, declaration in the page, then a guess."""

from __future__ import annotations

import codecs
import re

SCAN = 10_000
SAMPLE = 65_536

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# The names that pages declare and what browsers take them for; a superset is never worse than what was declared.
_TAKEN_FOR = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "hz": "hz",
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
    "iso8859-11": "cp874",
}
_ALIASES = {
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "ks_c_5601-1987": "cp949",
    "ksc5601": "cp949",
    "x-gbk": "gb18030",
    "gb_2312-80": "gb18030",
    "big5-hkscs": "big5hkscs",
    "x-x-big5": "big5hkscs",
    "utf8": "utf-8",
    "unicode-1-1-utf-8": "utf-8",
    "x-mac-cyrillic": "mac_cyrillic",
    "x-user-defined": "cp1252",
    "macintosh": "mac_roman",
    "windows-874": "cp874",
    "dos-874": "cp874",
    "x-euc-jp": "euc_jp",
    "unicode": "utf-8",
}
# What the detector may find: the encodings of browsers, and three old ones of the East and of the Mac.
_ENCODINGS = (
    "gb18030 big5hkscs big5 cp932 euc_jp cp949 johab cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 iso8859_2 "
    "iso8859_5 iso8859_7 koi8_r koi8_u cp866 cp855 mac_cyrillic mac_roman tis_620 cp874"
)
_ON_THE_WEB = _ENCODINGS.split()
_NEIGHBOURS = frozenset(("cp1250", "cp1252", "cp1254", "cp1257", "iso8859-2"))
_WESTERN = "English French German Spanish Portuguese Italian Dutch Finnish Swedish Norwegian Danish Indonesian"
_HOME = dict.fromkeys(_WESTERN.split(), "cp1252")
_HOME |= dict.fromkeys(["Polish", "Czech", "Slovak", "Hungarian", "Croatian", "Slovene", "Romanian"], "cp1250")
_HOME["Turkish"] = "cp1254"
_WINDOWS_ONLY = re.compile(rb"[\x80-\x9f]")
_COMMON = {
    "gb18030": frozenset("的一是不了在人有我他这中大来上国个到说们为和地出也时年就要下以会后对可能发成于还"),
    "big5hkscs": frozenset("的一是不了在人有我他這中大來上國個到說們為和地出也時年就要下以會後對可能發成於還"),
}
# Seven-bit encodings: their bytes are valid UTF-8, so they show themselves only by how they change the alphabet.
_ESCAPES = ((b"\x1b$)C", "iso2022_kr"), (b"\x1b$B", "iso2022_jp"), (b"\x1b$@", "iso2022_jp"))
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.I)
_XML = re.compile(rb"^\s*<\?xml[^>]*?encoding\s*=\s*[\"']\s*([A-Za-z0-9._:-]+)", re.I)
_TOKEN = re.compile(rb"<!--.*?-->|<meta[\s/]|</?[a-zA-Z]|<[!/?][^>]*>", re.S | re.I)
_ATTRIBUTE = re.compile(rb"[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"'][^\s>]*)))?")
_CHARSET = re.compile(rb"charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;\"']+))", re.I)
_HTML = re.compile(rb"<(?:html|head|body|div|p|title|table|br)\b", re.I)
_TAGS = re.compile(rb"<[^<>]*>")


def decode(body: bytes, content_type: str = "") -> str:
    """The text of ``body``: never raises, and guesses only where nothing is declared or the declaration is plainly wrong."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body.decode(name, "replace")
    for declared in (_codec(_in_header(content_type)), _codec(declared_in(body))):
        if declared and (text := _fitting(body, declared)) is not None:
            return text
    if escaped := next((codec for mark, codec in _ESCAPES if mark in body), ""):
        return body.decode(escaped, "replace")
    if (text := _as_utf8(body)) is not None:
        return text
    return _guessed(body)


def declared_in(body: bytes) -> str:
    """The character set that the page itself declares (``<meta>`` or XML declaration), empty where it declares none."""
    head = body[:SCAN]
    if match := _XML.match(head):
        return match[1].decode("ascii", "replace")
    at = 0
    while (token := _TOKEN.search(head, at)) is not None:
        at = token.end()
        if token[0][:2] in (b"<!", b"<?"):
            continue
        is_meta = token[0][:5].lower() == b"<meta"
        attributes, at = _attributes(head, at, skip_name=not is_meta)
        if is_meta and (name := _in_meta(attributes)):
            return name
    return ""


def _attributes(head: bytes, at: int, *, skip_name: bool) -> tuple[dict[bytes, bytes], int]:
    """The attributes of the tag whose name ends at ``at``, and where the tag ends."""
    if skip_name:
        while at < len(head) and head[at : at + 1] not in b" \t\r\n\f/>":
            at += 1
    found: dict[bytes, bytes] = {}
    while at < len(head) and (match := _ATTRIBUTE.match(head, at)) is not None:
        found.setdefault(match[1].lower(), match[2] or match[3] or match[4] or b"")
        at = match.end()
    return found, at


def _in_meta(attributes: dict[bytes, bytes]) -> str:
    name = attributes.get(b"charset", b"")
    if not name and attributes.get(b"http-equiv", b"").lower() == b"content-type":
        match = _CHARSET.search(attributes.get(b"content", b""))
        name = (match[1] or match[2] or match[3] or b"") if match else b""
    text = name.decode("ascii", "replace").strip()
    # What is read byte by byte to find this very declaration cannot be UTF-16.
    return "utf-8" if text.lower().startswith(("utf-16", "utf16", "utf-32")) else text if _codec(text) else ""


def _in_header(content_type: str) -> str:
    match = _HEADER.search(content_type)
    return match[1] if match else ""


def _codec(name: str) -> str:
    """Python's name for a declared character set, empty where it knows none."""
    name = name.strip().lower()
    if not name:
        return ""
    if name in _ALIASES:
        return _ALIASES[name]
    try:
        found = codecs.lookup(name)
        "a".encode(found.name)
    except (LookupError, UnicodeError, ValueError):
        return ""
    return _TAKEN_FOR.get(found.name, found.name) if found._is_text_encoding else ""


def _fitting(body: bytes, codec: str) -> str | None:
    """``body`` in the declared ``codec``, or None where the bytes contradict it."""
    if codec == "utf-8":
        return _as_utf8(body, most=0.002)
    if codec == "cp1252" and not body.isascii() and (text := _as_utf8(body)) is not None:
        # Servers declare Latin-1 by default; bytes that are valid UTF-8 with characters beyond ASCII are no accident.
        return text
    text = body.decode(codec, "replace")
    if codec == "big5hkscs" and "\ufffd" in text:
        other = body.decode("cp950", "replace")
        text = min(text, other, key=lambda t: t.count("\ufffd"))
    return text if text.count("\ufffd") <= 2 + len(text) * 0.005 else None


def _as_utf8(body: bytes, most: float = 0.0) -> str | None:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        # A page that was cut off inside a character is UTF-8 all the same.
        if len(body) - error.start < 4 and len(body) > 64:
            return body.decode("utf-8", "replace")
    if not most:
        return None
    text = body.decode("utf-8", "replace")
    return text if text.count("\ufffd") <= len(text) * most else None


def _guessed(body: bytes) -> str:
    """``body`` in the character set that a detector takes it for; only the words are shown to it, not the tags."""
    from charset_normalizer import from_bytes

    if (wide := _wide(body)) is not None:
        return body.decode(wide, "replace")
    sample = body
    if _HTML.search(body[:SCAN]):
        stripped = _TAGS.sub(b" ", body[: 8 * SAMPLE])
        sample = stripped if sum(byte > 127 for byte in stripped[:SAMPLE]) > 20 else body
    if chinese := _chinese(sample):
        return body.decode(chinese, "replace")
    best = from_bytes(_cut(sample), cp_isolation=_ON_THE_WEB, enable_fallback=False, preemptive_behaviour=False).best()
    if best is None:
        return body.decode("cp1252", "replace")
    codec = _codec(best.encoding)
    if codec in _NEIGHBOURS:
        # They differ in few letters; the language tells which of them it is, and ISO 8859-2 has no letters below 0xA0.
        codec = _HOME.get(best.language, codec)
        if codec == "cp1250" and not _WINDOWS_ONLY.search(sample):
            codec = "iso8859-2"
    return body.decode(codec, "replace")


def _chinese(sample: bytes) -> str:
    """The encoding in which the commonest characters are common: a detector gives up on Chinese at the first broken byte."""
    for codec, common in _COMMON.items():
        text = sample[:SAMPLE].decode(codec, "replace")
        han = sum("\u4e00" <= character <= "\u9fff" for character in text)
        if han > 60 and text.count("\ufffd") <= han / 50 and sum(map(common.__contains__, text)) > han * 0.12:
            return codec
    return ""


def _cut(sample: bytes) -> bytes:
    """At most ``SAMPLE`` bytes, cut where a line ends and so never inside a character."""
    if len(sample) <= SAMPLE:
        return sample
    return sample[: max(sample.rfind(b"\n", 0, SAMPLE), sample.rfind(b" ", 0, SAMPLE)) % (SAMPLE + 1)]


def _wide(body: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark, seen by its zero bytes."""
    sample = body[:2000]
    if len(sample) < 8 or sample.count(0) < len(sample) / 5:
        return None
    zeros = [sample[lane::4].count(0) for lane in range(4)]
    quarter = len(sample) / 4 * 0.7
    if zeros[0] > quarter and zeros[1] > quarter:
        return "utf-32-be"
    if zeros[2] > quarter and zeros[3] > quarter:
        return "utf-32-le"
    return "utf-16-be" if zeros[0] + zeros[2] > zeros[1] + zeros[3] else "utf-16-le"
