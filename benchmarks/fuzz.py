"""Mutated pages through every reader: nothing may raise outside the error tree, and nothing may take long."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from suyuan.core.errors import SuyuanError
from suyuan.core.wire import Response
from suyuan.engines import registry
from suyuan.pages.decode import decode
from suyuan.pages.extract import extract
from suyuan.pages.formats import feed_text, json_text
from suyuan.pages.interstitial import interstitial_error
from suyuan.pages.kind import kind_of

from ._report import Target, table

PAGES = 20_000
SLOW = 2.0
_BENCH = Path(__file__).resolve().parents[2] / "shared" / "bench"
_REPLY = re.compile(rb"<data[^>]*>\n(.*?)</data>", re.S)
_PIECES = (
    b"\x00", b"\xff\xfe", b"<div>" * 300, b"</div>" * 300, b"<table><tr><td>" * 50, b"<!--", b"]]>", b"&#x110000;", b"\xf0\x9f\x92\xa9",
    b"<svg><style>", b"<template>", b"<script>", b"<meta charset=utf-7>", b'<a href="http://[">', b"<p hidden>", b"\xe4\xb8\xad" * 200,
)  # fmt: skip


def run() -> list[Target]:
    """Read the mutated pages, and print how many failed in a way of their own and the slowest."""
    seeds = list(_seeds())
    if not seeds:
        print("\nfuzz: skipped, the benchmark data is not beside the project")
        return []
    chance = random.Random(2026)
    strange, slowest, slow_name = 0, 0.0, ""
    for number in range(PAGES):
        page = mutated(chance.choice(seeds), chance)
        for name, read in READERS.items():
            begun = time.process_time()
            try:
                read(page)
            except SuyuanError:
                pass
            except Exception as error:  # noqa: BLE001 - that there is none is what is measured
                strange += 1
                print(f"  page {number}, {name}: {type(error).__name__}: {error}"[:160])
            if (took := time.process_time() - begun) > slowest:
                slowest, slow_name = took, f"{name}, page {number}, {len(page)} bytes"
    rows = [("errors outside the tree", str(strange)), ("slowest", f"{slowest:.2f} s ({slow_name})")]
    table(f"fuzz: {PAGES} mutated pages from {len(seeds)} seeds, {len(READERS)} readers each", ("", ""), rows)
    return [Target("fuzz, errors outside the tree", strange, 0), Target("fuzz, slowest reading, s", slowest, SLOW)]


def mutated(page: bytes, chance: random.Random) -> bytes:
    """``page`` with up to six cuts, copies, replacements and insertions."""
    for _ in range(chance.randint(1, 6)):
        at, until = sorted(chance.randrange(len(page) + 1) for _ in range(2))
        how = chance.randrange(4)
        if how == 0:
            page = page[:at] + page[until:]
        elif how == 1:
            page = page[:until] + page[at:until] + page[until:]
        elif how == 2:
            page = page[:at] + chance.choice(_PIECES) + page[until:]
        else:
            page = page[:at] + chance.choice(_PIECES) + page[at:]
        page = page[:200_000]
    return page


def _seeds() -> Iterator[bytes]:
    for file in sorted((_BENCH / "robust-html5lib").rglob("*")):
        if file.is_file() and file.suffix in (".dat", ".test"):
            yield from (part for part in re.split(rb"\n#data\n", file.read_bytes())[:400] if part)
    for file in sorted((_BENCH / "robust-curl-http").glob("test*")):
        yield from (found[1] for found in _REPLY.finditer(file.read_bytes()) if found[1].strip())


def _page(body: bytes) -> None:
    html = decode(body, "text/html")
    interstitial_error(html, extract(html, "https://fuzz.example/x").text, "fuzz.example")


def _format(body: bytes) -> None:
    text = decode(body, "")
    if kind_of("", body) == "xml":
        feed_text(text)
    json_text(text)


def _engine(name: str) -> Callable[[bytes], None]:
    engine = registry.load(name)(None)

    def read(body: bytes) -> None:
        engine.parse(Response(200, body, "https://fuzz.example/"))  # type: ignore[attr-defined]

    return read


READERS: dict[str, Callable[[bytes], None]] = {"page": _page, "format": _format} | {
    name: _engine(name) for name in registry.BUILT_IN if name != "stub"
}
