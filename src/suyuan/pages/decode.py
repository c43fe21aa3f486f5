"""Decodes bytes as a browser does: by byte order mark, header, declaration in the page, or detection."""

from __future__ import annotations

import codecs
import re

import webencodings

SCAN = 10_000
SAMPLE = 65_536

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Where the standard knows no encoding that can be read, or Python a larger one.
_CODECS = {
    "gbk": "gb18030", "hz-gb-2312": "hz", "iso-2022-kr": "iso2022_kr", "csiso2022kr": "iso2022_kr", "unicode": "utf-8",
    "x-user-defined": "cp1252",
}  # fmt: skip
# The encodings that the detector may return: those of browsers and a few old ones.
_DETECTABLE_NAMES = (
    "gb18030 big5hkscs big5 cp932 euc_jp cp949 johab cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 "
    "iso8859_2 iso8859_5 iso8859_7 koi8_r koi8_u cp866 cp855 mac_cyrillic mac_roman tis_620 cp874"
)
_DETECTABLE = _DETECTABLE_NAMES.split()
_SIMILAR = frozenset(("cp1250", "cp1252", "cp1254", "cp1257", "iso8859-2"))
_WESTERN = "English French German Spanish Portuguese Italian Dutch Finnish Swedish Norwegian Danish Indonesian"
_BY_LANGUAGE = dict.fromkeys(_WESTERN.split(), "cp1252")
_BY_LANGUAGE |= dict.fromkeys(["Polish", "Czech", "Slovak", "Hungarian", "Croatian", "Slovene", "Romanian"], "cp1250")
_BY_LANGUAGE["Turkish"] = "cp1254"
_WINDOWS_ONLY = re.compile(rb"[\x80-\x9f]")
_FREQUENT = {
    "gb18030": frozenset("的一是不了在人有我他这中大来上国个到说们为和地出也时年就要下以会后对可能发成于还"),
    "big5hkscs": frozenset("的一是不了在人有我他這中大來上國個到說們為和地出也時年就要下以會後對可能發成於還"),
}
# Seven-bit encodings: their bytes are valid UTF-8, so they are recognised only by their escape sequences.
_ESCAPES = ((b"\x1b$)C", "iso2022_kr"), (b"\x1b$B", "iso2022_jp"), (b"\x1b$@", "iso2022_jp"))
_HEADER = re.compile(r"charset\s*+=\s*+(?:[\"']\s*+)?+([^\s\"';,]+)", re.I)
_XML = re.compile(rb"^\s*<\?xml[^>]*?encoding\s*=\s*[\"']\s*([A-Za-z0-9._:-]+)", re.I)
_TOKEN = re.compile(rb"<!--.*?-->|<meta[\s/]|</?[a-zA-Z]|<[!/?][^>]*>", re.S | re.I)
_ATTRIBUTE = re.compile(rb"[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"'][^\s>]*)))?")
_CHARSET = re.compile(rb"charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;\"']+))", re.I)
_HTML = re.compile(rb"<(?:html|head|body|div|p|title|table|br)\b", re.I)
_TAGS = re.compile(rb"<[^<>]*>")


def decode(body: bytes, content_type: str = "") -> str:
    """Return the text of ``body``; detects the encoding only if it is not declared or the declaration is wrong."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body.decode(name, "replace")
    for declared in (_codec(_header_charset(content_type)), _codec(declared_charset(body))):
        if declared and (text := _decode_as(body, declared)) is not None:
            return text
    if escaped := next((codec for mark, codec in _ESCAPES if mark in body), ""):
        return body.decode(escaped, "replace")
    if (text := _as_utf8(body)) is not None:
        return text
    return _detect(body)


def declared_charset(body: bytes) -> str:
    """The character set that the page declares in ``<meta>`` or its XML declaration; empty if there is none."""
    head = body[:SCAN]
    if match := _XML.match(head):
        return match[1].decode("ascii", "replace")
    if b"<meta" not in head.lower():
        return ""
    at = 0
    while (token := _TOKEN.search(head, at)) is not None:
        at = token.end()
        if token[0][:2] in (b"<!", b"<?"):
            continue
        is_meta = token[0][:5].lower() == b"<meta"
        attributes, at = _attributes(head, at, skip_name=not is_meta)
        if is_meta and (name := _meta_charset(attributes)):
            return name
    return ""


def _attributes(head: bytes, at: int, *, skip_name: bool) -> tuple[dict[bytes, bytes], int]:
    """The attributes of the tag whose name is before ``at``, and the end of the tag."""
    if skip_name:
        while at < len(head) and head[at : at + 1] not in b" \t\r\n\f/>":
            at += 1
    found: dict[bytes, bytes] = {}
    while at < len(head) and (match := _ATTRIBUTE.match(head, at)) is not None:
        found.setdefault(match[1].lower(), match[2] or match[3] or match[4] or b"")
        at = match.end()
    return found, at


def _meta_charset(attributes: dict[bytes, bytes]) -> str:
    name = attributes.get(b"charset", b"")
    if not name and attributes.get(b"http-equiv", b"").lower() == b"content-type":
        match = _CHARSET.search(attributes.get(b"content", b""))
        name = (match[1] or match[2] or match[3] or b"") if match else b""
    text = name.decode("ascii", "replace").strip()
    codec = _codec(text)
    # A declaration that is readable as ASCII cannot be in UTF-16.
    if codec.startswith(("utf-16", "utf-32")):
        return "utf-8"
    return text if codec else ""


def _header_charset(content_type: str) -> str:
    match = _HEADER.search(content_type)
    return match[1] if match else ""


def _codec(name: str) -> str:
    """Python's name of a declared character set, as browsers take it; empty if it is unknown."""
    name = name.strip().lower()
    name = _CODECS.get(name, name)
    try:
        standard = webencodings.lookup(name) or webencodings.lookup(codecs.lookup(name).name.replace("_", "-"))
        codec = standard.codec_info.name if standard else name
        found = codecs.lookup(_CODECS.get(codec, codec))
        "a".encode(found.name)
    except (LookupError, UnicodeError, ValueError):
        return ""
    return found.name if found._is_text_encoding else ""


def _decode_as(body: bytes, codec: str) -> str | None:
    """The text of ``body`` in the declared ``codec``, or None if the bytes contradict it."""
    if codec == "utf-8":
        return _as_utf8(body, max_errors=0.002)
    if codec == "cp1252" and not body.isascii() and (text := _as_utf8(body)) is not None:
        # Many servers declare Latin-1 by default; non-ASCII bytes are hardly ever valid UTF-8 by chance.
        return text
    text = body.decode(codec, "replace")
    if codec == "big5hkscs" and "\ufffd" in text:
        other = body.decode("cp950", "replace")
        text = min(text, other, key=lambda t: t.count("\ufffd"))
    return text if text.count("\ufffd") <= 2 + len(text) * 0.005 else None


def _as_utf8(body: bytes, max_errors: float = 0.0) -> str | None:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        # The page may be truncated within a character.
        rest = len(body) - error.start
        if rest < 4 and len(body) > 64:
            return body.decode("utf-8", "replace")
    if not max_errors:
        return None
    text = body.decode("utf-8", "replace")
    return text if text.count("\ufffd") <= len(text) * max_errors else None


def _detect(body: bytes) -> str:
    """The text of ``body`` in the detected encoding; tags are ignored by the detection."""
    from charset_normalizer import from_bytes

    if (wide := _utf16_or_32(body)) is not None:
        return body.decode(wide, "replace")
    sample = body
    if _HTML.search(body[:SCAN]):
        stripped = _TAGS.sub(b" ", body[: 8 * SAMPLE])
        sample = stripped if sum(byte > 127 for byte in stripped[:SAMPLE]) > 20 else body
    if chinese := _chinese(sample):
        return body.decode(chinese, "replace")
    best = from_bytes(_cut(sample), cp_isolation=_DETECTABLE, enable_fallback=False, preemptive_behaviour=False).best()
    if best is None:
        return body.decode("cp1252", "replace")
    codec = _codec(best.encoding)
    if codec in _SIMILAR:
        # These differ in few letters: the language decides, and ISO 8859-2 has no letters below 0xA0.
        codec = _BY_LANGUAGE.get(best.language, codec)
        if codec == "cp1250" and not _WINDOWS_ONLY.search(sample):
            codec = "iso8859-2"
    return body.decode(codec, "replace")


def _chinese(sample: bytes) -> str:
    """The Chinese encoding in which frequent characters are frequent; the detector fails at the first broken byte."""
    for codec, common in _FREQUENT.items():
        text = sample[:SAMPLE].decode(codec, "replace")
        han = sum("\u4e00" <= character <= "\u9fff" for character in text)
        max_errors, min_frequent = han / 50, han * 0.12
        if han <= 60 or text.count("\ufffd") > max_errors:
            continue
        if sum(map(common.__contains__, text)) > min_frequent:
            return codec
    return ""


def _cut(sample: bytes) -> bytes:
    """At most ``SAMPLE`` bytes, cut at white space and so never within a character."""
    if len(sample) <= SAMPLE:
        return sample
    return sample[: max(sample.rfind(b"\n", 0, SAMPLE), sample.rfind(b" ", 0, SAMPLE)) % (SAMPLE + 1)]


def _utf16_or_32(body: bytes) -> str | None:
    """The name of UTF-16 or UTF-32 without byte order mark, recognised by zero bytes; else None."""
    sample = body[:2000]
    least_zeros = len(sample) / 5
    if len(sample) < 8 or sample.count(0) < least_zeros:
        return None
    zeros = [sample[lane::4].count(0) for lane in range(4)]
    quarter = len(sample) / 4 * 0.7
    if zeros[0] > quarter and zeros[1] > quarter:
        return "utf-32-be"
    if zeros[2] > quarter and zeros[3] > quarter:
        return "utf-32-le"
    return "utf-16-be" if zeros[0] + zeros[2] > zeros[1] + zeros[3] else "utf-16-le"
