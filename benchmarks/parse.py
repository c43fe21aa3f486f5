"""Reading one DuckDuckGo page: the engine's ``read`` against the same fields by lxml and XPath."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

from ._child import answer, child, in_turn, questions
from ._pages import MEDIA_TYPES, origin, page
from ._report import Target, ratio, spread, table

ROUNDS = 40
CALLS = 60
NAMES = ("suyuan", "lxml")

Fields = list[tuple[str, str, str]]


def run() -> list[Target]:
    """Run both readers in turn, each in a process of its own, and return the target."""
    print(
        f"\nparse: one DuckDuckGo html page ({origin()}, {len(page('ddg')) / 1000:.0f} kB), {ROUNDS} rounds of {CALLS} readings in turn"
    )
    ours, theirs = suyuan()(), lxml_xpath()()
    if [url for _, url, _ in ours] != [url for _, url, _ in theirs] or len(ours) != 10:
        raise RuntimeError(f"the readers disagree on the URLs: {ours} {theirs}")
    same = sum(a == b for a, b in zip(ours, theirs, strict=True))
    figures: dict[str, list[float]] = {name: [] for name in NAMES}
    with child("parse", NAMES[0]) as first, child("parse", NAMES[1]) as second:
        asks = dict(zip(NAMES, (first, second), strict=True))
        for number in range(ROUNDS + 1):
            for name in in_turn(NAMES, number):
                cost = asks[name](CALLS)
                # The first round warms up.
                if number:
                    figures[name].append(cost)
    share = ratio(figures["suyuan"], figures["lxml"])
    rows = [("CPU ms a page", spread(figures["suyuan"], 3), spread(figures["lxml"], 3), f"{share:.2f}")]
    table(
        f"URLs equal; title, URL and snippet equal in {same} of {len(ours)} results",
        ("", "suyuan", "lxml, XPath", "ratio"),
        rows,
    )
    return [Target("reading a page, against lxml", share, 0.4)]


def suyuan() -> Callable[[], Fields]:
    """Return the engine's reader, which also reads the date and recognises pages that are none."""
    from suyuan.core.wire import Response
    from suyuan.engines.ddg_html import DuckDuckGo

    engine = DuckDuckGo()
    response = Response(200, page("ddg"), "", {"content-type": MEDIA_TYPES["ddg"]}, datetime.now(UTC))
    return lambda: [(r.title, r.url, r.snippet) for r in engine.parse(response).results]


def lxml_xpath() -> Callable[[], Fields]:
    """Return the same reader in lxml, with the parser options that ddgs uses and the expressions compiled once."""
    from lxml import etree, html

    body = page("ddg")
    parser = etree.HTMLParser(remove_blank_text=True, remove_comments=True, remove_pis=True, collect_ids=False)
    items = etree.XPath(
        "//div[contains(concat(' ', normalize-space(@class), ' '), ' result ')][not(contains(@class, 'result--ad'))]",
        smart_strings=False,
    )
    title = etree.XPath(".//a[contains(@class, 'result__a')]//text()", smart_strings=False)
    href = etree.XPath(".//a[contains(@class, 'result__a')]/@href", smart_strings=False)
    snippet = etree.XPath(".//*[contains(@class, 'result__snippet')]//text()", smart_strings=False)

    def read() -> Fields:
        tree = html.fromstring(body.decode("utf-8", "replace"), parser=parser)
        found = []
        for item in items(tree):
            if url := _unwrap("".join(href(item)).strip()):
                found.append((" ".join("".join(title(item)).split()), url, " ".join("".join(snippet(item)).split())))
        return found

    return read


def _unwrap(href: str) -> str:
    if "duckduckgo.com/" not in href:
        return href
    parts = urlsplit(href)
    return "" if parts.path == "/y.js" else parse_qs(parts.query).get("uddg", [href])[0]


def measure(read: Callable[[], Fields], calls: int) -> float:
    """Return the CPU milliseconds of one reading."""
    gc.collect()
    started = time.process_time()
    for _ in range(calls):
        read()
    return (time.process_time() - started) / calls * 1000


if __name__ == "__main__":
    reader = {"suyuan": suyuan, "lxml": lxml_xpath}[sys.argv[1]]()
    for question in questions():
        answer(measure(reader, question))
