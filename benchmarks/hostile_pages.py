"""Hostile pages: small inputs that make parsers slow, large or fail. One table for the tests and the benchmarks."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass

HTML = "text/html; charset=utf-8"
PROSE = "The harbour was built in three stages, and each of them answered a need of its time. " * 4


@dataclass(frozen=True, slots=True)
class HostilePage:
    """A page, its content type, and what it attacks."""

    name: str
    content_type: str
    body: bytes


def names() -> list[str]:
    """The kinds of hostile pages."""
    return list(_MAKERS)


def hostile_page(name: str, scale: float = 1.0) -> HostilePage:
    """One hostile page, at a fraction of its size."""
    content_type, make = _MAKERS[name]
    made = make(scale)
    return HostilePage(name, content_type, made if isinstance(made, bytes) else made.encode())


def pdf(pages: int, text: str = "Teapots in print, and much more about them on every line of the page.") -> bytes:
    """A valid PDF with so many pages of thirty lines."""
    lines = "".join(f"({text} Line {line}) Tj 0 -14 Td " for line in range(30))
    stream = f"BT /F1 11 Tf 60 740 Td {lines} ET".encode()
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    kids = []
    for _ in range(pages):
        kids.append(b"%d 0 R" % (len(objects) + 1))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (len(objects) + 2)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    objects[1] = b"<< /Type /Pages /Kids [" + b" ".join(kids) + b"] /Count %d >>" % pages
    return _assembled(objects)


def _assembled(objects: list[bytes]) -> bytes:
    body, offsets = b"%PDF-1.4\n", []
    pieces = [body]
    at = len(body)
    for number, content in enumerate(objects, 1):
        offsets.append(at)
        pieces.append(b"%d 0 obj\n%s\nendobj\n" % (number, content))
        at += len(pieces[-1])
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    return b"".join(pieces) + (
        b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
        + b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (size, at)
    )


def _pdf_bomb(scale: float) -> bytes:
    """A page whose content is compressed a thousand times."""
    stream = zlib.compress(b"BT /F1 12 Tf (x) Tj ET " * int(scale * 12_000_000))
    return _assembled(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>",
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream),
        ]
    )


def _repeat(piece: str, count: int, after: str = "") -> Callable[[float], str]:
    return lambda scale: piece * int(scale * count) + after


def _attributes(count: int) -> Callable[[float], str]:
    return lambda scale: "<p " + " ".join(f"a{n}=x" for n in range(int(scale * count))) + f">{PROSE}</p>"


def _json_list(scale: float) -> str:
    return json.dumps([{"id": n, "name": f"name {n}", "tags": ["a", "b"]} for n in range(int(scale * 190_000))])


def _rules(scale: float) -> str:
    css = "".join(f".a{n},.b{n} p>em{{color:#fff{n % 10};opacity:.{n % 10}}}" for n in range(int(scale * 40_000)))
    return f"<style>{css}</style>" + f"<p class='a1 b2'>{PROSE}</p>" * 50


def _classes(scale: float) -> str:
    count = int(scale * 20_000)
    names = " ".join(f"c{n}" for n in range(50))
    css = "".join(f".c{n}.d{n}{{display:none}}" for n in range(50))
    return f"<style>{css}</style>" + f"<i class='{names}'>x</i>" * count


def _random_bytes(scale: float) -> bytes:
    return b"<html><body><p>" + random.Random(7).randbytes(int(scale * 1_000_000))


_HTML_MAKERS: dict[str, Callable[[float], str | bytes]] = {
    "div × 60,000": _repeat("<div>", 60_000),
    "div × 300,000": _repeat("<div>", 300_000),
    "div with text × 60,000": _repeat("<div>a", 60_000),
    "span × 200,000": _repeat("<span>", 200_000, PROSE),
    "b × 100,000 unclosed": _repeat("<b>", 100_000, PROSE),
    "p in b × 60,000": _repeat("<p><b>x", 60_000),
    "b with ids × 40,000": lambda scale: "".join(f"<p><b id=b{n}>x" for n in range(int(scale * 40_000))),
    "b in div × 40,000": lambda scale: "".join(f"<div><b id=b{n}>x</div>" for n in range(int(scale * 40_000))),
    "div, wrong end × 60,000": _repeat("<div></b>", 60_000),
    "div, < in attribute × 60,000": _repeat("<div a='<'>", 60_000),
    "div in script × 60,000": _repeat("<div><script></div></script>", 60_000),
    "attributes with < and >": lambda scale: "<p " + " ".join(f"a{n}='<>'" for n in range(int(scale * 40_000))) + f">{PROSE}",
    "a × 60,000 unclosed": _repeat("<a href=/x>x", 60_000),
    "font × 60,000 in table": lambda scale: "<table>" + "<font>x" * int(scale * 60_000),
    "table × 20,000": _repeat("<table><tr><td>", 20_000, PROSE),
    "table × 20,000 with rows": _repeat("<table><tr><td>a</td><td>b</td></tr><tr><td>", 20_000),
    "ul × 40,000": _repeat("<ul><li>x", 40_000),
    "blockquote × 40,000": _repeat("<blockquote><p>x", 40_000),
    "closing tags × 300,000": _repeat("</p>", 300_000, PROSE),
    "form × 60,000": _repeat("<form><input>", 60_000),
    "svg × 60,000": _repeat("<svg><g>", 60_000),
    "math × 30,000": _repeat("<math><mi>x</mi>", 30_000),
    "math nested × 30,000": _repeat("<math><mrow>", 30_000),
    "aria-hidden × 60,000": _repeat("<div aria-hidden=true><main>", 60_000),
    "aria-hidden siblings × 60,000": _repeat("<div aria-hidden=true><h1>x</h1></div>", 60_000),
    "select × 100,000": _repeat("<select><option>", 100_000),
    "template × 60,000": _repeat("<template>", 60_000, PROSE),
    "attributes × 40,000": _attributes(40_000),
    "attributes × 300,000": _attributes(300_000),
    "same attribute × 300,000": lambda scale: "<p " + "a=x " * int(scale * 300_000) + f">{PROSE}</p>",
    "long attribute": lambda scale: f"<p class='{'x ' * int(scale * 1_000_000)}'>{PROSE}</p>",
    "long style": lambda scale: f"<p style='{'color:red;' * int(scale * 200_000)}'>{PROSE}</p>",
    "style nested × 100,000": lambda scale: "<style>" + "a{" * int(scale * 100_000) + f"</style><p>{PROSE}</p>",
    "style parentheses × 100,000": lambda scale: f"<p style='a:{'(' * int(scale * 100_000)}'>{PROSE}</p>",
    "style comments": lambda scale: "<style>" + "/*" * int(scale * 200_000) + f"</style><p>{PROSE}</p>",
    "rules × 40,000": _rules,
    "classes × 20,000": _classes,
    "< × 2,000,000": _repeat("<", 2_000_000),
    "<a × 500,000": _repeat("<a ", 500_000),
    "<!-- × 300,000": _repeat("<!--", 300_000),
    "comment": lambda scale: "<!--" + "-" * int(scale * 4_000_000),
    "entities × 500,000": _repeat("&amp;&lt;&nbsp;", 500_000),
    "one word of 4 MB": lambda scale: "<p>" + "x" * int(scale * 4_000_000),
    "spaces of 4 MB": lambda scale: "<p>a" + " " * int(scale * 4_000_000) + "b",
    "line breaks × 500,000": _repeat("<br>\n", 500_000, PROSE),
    "brackets × 1,000,000": lambda scale: f"<p>{'[' * int(scale * 1_000_000)}{PROSE}",
    "backticks × 500,000": lambda scale: f"<pre>{'`x' * int(scale * 500_000)}</pre><p>{PROSE}",
    "joiners × 500,000": lambda scale: "<p>" + "\u200d\u200c" * int(scale * 500_000) + PROSE,
    "links × 100,000": _repeat("<p><a href='/x'>some words here</a></p>", 100_000),
    "title of 4 MB": lambda scale: f"<title>{'x - ' * int(scale * 1_000_000)}</title><p>{PROSE}</p>",
    "paragraphs × 100,000": _repeat("<p>A short paragraph, with a comma.</p>", 100_000),
    "headings × 60,000": _repeat("<h2>Heading</h2><p>text</p>", 60_000),
    "cells × 200,000": lambda scale: "<table>" + "<tr><td>1<td>2<td>3" * int(scale * 60_000) + "</table>",
    "meta × 200,000": _repeat("<meta name=a content=b>", 200_000, f"<p>{PROSE}"),
    "JSON-LD deep": lambda scale: f"<script type='application/ld+json'>{'[' * int(scale * 300_000)}</script><p>{PROSE}",
    "refresh to a broken address": lambda scale: '<meta http-equiv=refresh content="0;url=http://[">',
    "base of a broken address": lambda scale: f"<base href='http://['><p>{PROSE}<a href='x'>y</a>",
    "null bytes": lambda scale: b"<p>" + b"\x00" * int(scale * 2_000_000) + PROSE.encode(),
    "random bytes": _random_bytes,
}  # fmt: skip
_MAKERS: dict[str, tuple[str, Callable[[float], str | bytes]]] = {
    **{name: (HTML, make) for name, make in _HTML_MAKERS.items()},
    "undeclared random bytes": ("text/html", _random_bytes),
    "JSON of 10 MB": ("application/json", _json_list),
    "JSON nested × 1,000,000": ("application/json", _repeat("[", 1_000_000)),
    "JSON nested objects": ("application/json", lambda scale: '{"a":' * int(scale * 500_000) + "1" + "}" * int(scale * 500_000)),
    "JSON digits": ("application/json", lambda scale: "[" + "9" * int(scale * 4_000_000) + "]"),
    "feed × 100,000": ("application/rss+xml", lambda scale: "<rss><channel>" + "<item><title>a</title>" * int(scale * 100_000)),
    "feed nested × 60,000": ("application/rss+xml", lambda scale: "<rss>" + "<item>" * int(scale * 60_000)),
    "XML entities": ("text/xml", lambda scale: "<?xml version='1.0'?><!DOCTYPE l [<!ENTITY a 'aaaaaaaaaa'>" + "".join(f"<!ENTITY b{n} '&b{n - 1};&b{n - 1};&b{n - 1};'>" for n in range(1, 40)) + "]><l>&b39; words</l>"),
    "XML < × 2,000,000": ("text/xml", _repeat("<", 2_000_000)),
    "PDF bomb": ("application/pdf", _pdf_bomb),
    "PDF of 300 pages": ("application/pdf", lambda scale: pdf(max(1, int(scale * 300)))),
    "PDF loop": ("application/pdf", lambda scale: _assembled([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 9 >>"])),
    "PDF broken": ("application/pdf", lambda scale: b"%PDF-1.4 broken"),
    "text of 8 MB": ("text/plain", _repeat("word ", 1_600_000)),
}  # fmt: skip
