"""Makes pages, style sheets and documents that are built to cost time or memory, of any size; no two need be alike.

Each maker repeats one construct, or nests it, until the size is reached: what is slow at one depth is found at another.
"""

from __future__ import annotations

import base64
import io
import zipfile
import zlib
from collections.abc import Callable

PROSE = "The harbour was built in three stages, and each of them answered a need of its time. " * 3
HTML = "text/html; charset=utf-8"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
Maker = Callable[[int], str]


def repeated(piece: str, after: str = "") -> Maker:
    """``piece`` as often as the size allows."""
    return lambda size: piece * max(1, (size - len(after)) // len(piece)) + after


def numbered(piece: str) -> Maker:
    """``piece`` with another number in each place of ``#``."""
    return lambda size: "".join(piece.replace("#", str(number)) for number in range(max(1, size // (len(piece) + 4))))


def nested(before: str, after: str, within: str = "") -> Maker:
    """A construct within itself, as deep as the size allows."""

    def make(size: int) -> str:
        depth = max(1, size // (len(before) + len(after)))
        return before * depth + within + after * depth

    return make


HIDE = ".x{display:none}"
SHEETS: dict[str, Maker] = {
    "has, open": lambda size: "i:has(" * (size // 6) + HIDE,
    "has": nested("i:has(", ")", "b"),
    "has of rows": lambda size: f"i:has({'~ i ' * (size // 4)}){{display:none}}",
    "is of rows": lambda size: f"i:is([y]{' i' * (size // 2)}){{display:none}}",
    "not of rows": lambda size: f"i:not([y]{'~i' * (size // 2)}){{display:none}}",
    "is": nested(":is(", ")", "i"),
    "list": lambda size: f":is({'[a],' * (size // 4)}i){{display:none}}",
    "nth": numbered("i:nth-child(#n+1){opacity:0}"),
    "attributes": numbered("[a#]{opacity:0}"),
    "ampersands": lambda size: ".x{" + "& &,& &{" * (size // 9) + "display:none",
    "ampersands within": lambda size: ".x{" + "&:is(&,& &){" * (size // 13) + "display:none",
    "nested": nested("i{", "}", "display:none"),
    "nested lists": nested("i,b,p,x{", "}", "display:none"),
    "media": nested("@media all{", "}", HIDE),
    "supports": nested("@supports (display:block){", "}", HIDE),
    "layers": nested("@layer a{", "}", HIDE),
    "scopes": nested("@scope (i){", "}", HIDE),
    "containers": nested("@container (min-width:1px){", "}", HIDE),
    "conditions": lambda size: f"@media {'(' * (size // 2)}min-width:1px{')' * (size // 2)}{{{HIDE}}}",
    "layer names": lambda size: f"@layer {'a.' * (size // 2)}a{{{HIDE}}}",
    "layer statements": lambda size: "@layer a " * (size // 9) + "(" + HIDE,
    "imports": lambda size: "@import 'data:text/css,i%7Bopacity:0%7D';" * (size // 42) + HIDE,
    "rules": numbered(".c#{display:none}"),
    "same rules": repeated(HIDE),
    "variables": lambda size: ":root{" + numbered("--v#:var(--w#);")(size) + "}i{opacity:var(--v1)}",
    "chain": lambda size: (
        ":root{" + "".join(f"--v{n}:var(--v{n + 1});" for n in range(size // 18)) + "}i{opacity:var(--v0)}"
    ),
    "doubling": lambda size: (
        ":root{"
        + "".join(f"--v{n}:var(--v{n + 1})var(--v{n + 1});" for n in range(size // 30))
        + "}i{opacity:var(--v0)}"
    ),
    "calc": lambda size: f"i{{font-size:{'calc(' * (size // 6)}0px{')' * (size // 6)}}}",
    "sums": lambda size: f"i{{font-size:calc(0px{' + 0px' * (size // 6)})}}",
    "brackets": lambda size: f"i{{--a:{'(' * (size // 2)}{')' * (size // 2)};display:none}}",
    "strings": lambda size: f'i{{--a:"{"{;" * (size // 2)}";display:none}}',
    "comments": repeated("/*"),
    "escapes": repeated("\\69 "),
    "gradients": lambda size: f"i{{color:red;background:{'gradient(a ' * (size // 11)}}}",
}
PAGES: dict[str, Maker] = {
    "unclosed": repeated("<div>"),
    "formats": repeated("<p><b>x"),
    "tables": repeated("<table><tr><td>x"),
    "lists": repeated("<ul><li>x"),
    "spans": lambda size: (
        f"<table><tr><td colspan=99999 rowspan=99999>x{'<tr><td colspan=9999>y' * (size // 22)}</table>"
    ),
    "siblings": repeated("<i>x</i>"),
    "classes": lambda size: f"<p class='{numbered('c# ')(size)}'>x",
    "value": lambda size: f"<p title='{'&quot;' * (size // 6)}'>x",
    "attributes": lambda size: f"<p {numbered('a#=1 ')(size)}>x",
    "entities": repeated("&notit;&#x110000;&CounterClockwiseContourIntegral;"),
    "comments": repeated("<!--->x<!--"),
    "base64": lambda size: f"<img src='data:image/png;base64,{'A' * size}'>",
    "one line": repeated("word"),
    "one letter": repeated("a "),
    "inline styles": numbered("<i style='opacity:.#;transform:scale(.#)'>x</i>"),
    "scripts": repeated("<script>if(a<b)</script>"),
    "JSON-LD": lambda size: f"<script type='application/ld+json'>{'[' * size}</script>",
    "quotes": nested("<blockquote>", "</blockquote>", "x"),
    "headings": repeated("<h1>x</h1>"),
    "links": numbered("<a href='/#'>x #</a> "),
    "preformatted": lambda size: f"<pre>{'` ' * (size // 2)}</pre>",
}
TEXTS: dict[str, tuple[str, Maker]] = {
    "JSON": ("application/json", repeated('{"a":[')),
    "Markdown": ("text/markdown", repeated("* > [")),
    "CSV": ("text/csv", repeated('"a,')),
    "dots": ("text/plain", repeated(".")),
    "XML": ("text/xml", repeated("<a>")),
    "feed": ("application/rss+xml", repeated("<item><title>x</title>")),
}


def page_with(body: str, sheet: str = "") -> bytes:
    """A page with some text, and what is hostile about it."""
    elements = "<div>" * 20 + "<i class=x>a <b>b</b></i>" * 40 + "</div>" * 20
    return f"<!doctype html><title>Harbour</title><style>{sheet}</style><p>{PROSE}</p>{elements}{body}".encode()


def word_file(text: bytes, head: bytes = b"") -> bytes:
    """A Word document whose only part is this XML."""
    kinds = b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
    space = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    document = head + b'<w:document xmlns:w="%b"><w:body>%b</w:body></w:document>' % (space, text)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", kinds)
        file.writestr("word/document.xml", document)
    return packed.getvalue()


def pdf_file(*objects: bytes) -> bytes:
    """A PDF of these objects, the first of which is its catalogue; it has no table, as a broken one."""
    body = b"".join(b"%d 0 obj\n%b\nendobj\n" % (number, each) for number, each in enumerate(objects, 1))
    return b"%PDF-1.5\n" + body + b"trailer << /Root 1 0 R >>\n%%EOF"


def _stream(data: bytes, more: bytes = b"") -> bytes:
    packed = zlib.compress(data, 9)
    return b"<< /Length %d /Filter /FlateDecode %b >>\nstream\n%b\nendstream" % (len(packed), more, packed)


_CATALOGUE = b"<< /Type /Catalog /Pages 2 0 R >>"


def _xml_bomb(size: int) -> bytes:
    entities = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10 if n else 'words'}'>" for n in range(max(3, size // 80)))
    head = f"<?xml version='1.0'?><!DOCTYPE d [{entities}]>".encode()
    return word_file(b"<w:p><w:r><w:t>&e2;</w:t></w:r></w:p>", head)


FILES: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "PDF of itself": (
        "application/pdf",
        lambda size: pdf_file(_CATALOGUE, b"<< /Type /Pages /Kids [%b] /Count 9 >>" % (b"2 0 R " * max(1, size // 6))),
    ),
    "PDF tree": (
        "application/pdf",
        lambda size: pdf_file(
            _CATALOGUE, *(b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (n + 3) for n in range(max(1, size // 70)))
        ),
    ),
    "PDF objects": (
        "application/pdf",
        lambda size: pdf_file(_CATALOGUE, _stream(b"0 " * size * 100, b"/Type /ObjStm /N 99999999 /First 9999999")),
    ),
    "PDF content": (
        "application/pdf",
        lambda size: pdf_file(
            _CATALOGUE,
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
            _stream(b"[" * size * 50),
        ),
    ),
    "zip bomb": (WORD, lambda size: word_file(b"<w:p/>" * size * 20)),
    "XML entities": (WORD, _xml_bomb),
    "XML depth": (WORD, lambda size: word_file(b"<w:p>" * size)),
    "zip of nothing": (WORD, lambda size: b"PK\x03\x04" + base64.b64encode(bytes(size))),
}


def cases() -> list[tuple[str, str, Callable[[int], bytes]]]:
    """The name, the content type and the maker of everything that is hostile."""
    found: list[tuple[str, str, Callable[[int], bytes]]] = []
    for name, make in SHEETS.items():
        found.append((f"sheet: {name}", HTML, lambda size, make=make: page_with("", make(size))))  # type: ignore[misc]
    for name, make in PAGES.items():
        found.append((f"page: {name}", HTML, lambda size, make=make: page_with(make(size))))  # type: ignore[misc]
    for name, (kind, make) in TEXTS.items():
        found.append((name, kind, lambda size, make=make: make(size).encode()))  # type: ignore[misc]
    return found + [(name, kind, make) for name, (kind, make) in FILES.items()]
