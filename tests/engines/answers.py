"""An answer with results and one without for every engine, in the form that the engine documents or is known to send."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from engines import small_pages as page
from suyuan.core.engine import Engine
from suyuan.core.query import SearchQuery
from suyuan.core.wire import Request, Response
from suyuan.testing.engine_check import Body

URL = "https://pots.example/?a=1&b=%20"


def headed_page(*hrefs: str, before: str = "", after: str = "") -> str:
    """A page of results, each with its title as a heading around a link, as most engines send it."""
    rows = "".join(
        f'<li><div><h3><a href="{escape(href)}">Tea pots {n}</a></h3><cite>pots.example</cite>'
        f"<p>All there is to know about tea pots, number {n}.</p></div></li>"
        for n, href in enumerate(hrefs, 1)
    )
    frame = (
        f'{before}<div id="main"><div id="web"><div class="results"><ul class="result">{rows}</ul></div></div></div>'
    )
    return f"<!DOCTYPE html><html><body><form><input name=q value=tea></form>{frame}{after}</body></html>"


def linked_page(*hrefs: str, before: str = "", after: str = "") -> str:
    """A page of results, each with its title as a heading within a link."""
    rows = "".join(
        f'<article><a href="{escape(href)}"><h2>Tea pots {n}</h2></a>'
        f"<p>All there is to know about tea pots, number {n}.</p></article>"
        for n, href in enumerate(hrefs, 1)
    )
    return f"<!DOCTYPE html><html><body>{before}<main>{rows}</main>{after}</body></html>"


def brave_page(*hrefs: str, before: str = "", after: str = "") -> str:
    """A page of Brave: the link contains the address and the title."""
    rows = "".join(
        f'<div class="snippet"><a href="{escape(href)}"><div><cite>pots.example › {n}</cite></div>'
        f"<div>Tea pots {n}</div></a><div>All there is to know about tea pots, number {n}.</div></div>"
        for n, href in enumerate(hrefs, 1)
    )
    return f'<!DOCTYPE html><html><body>{before}<div id="results">{rows}</div>{after}</body></html>'


NOTHING = '<!DOCTYPE html><html><body><div class="no-results">Nothing was found.</div></body></html>'

ANSWERS: dict[str, tuple[Body, Body]] = {
    "searxng": (page.searxng_data(page.SEARXNG_ROW), page.searxng_data()),
    "brave": (page.brave_data(page.BRAVE_ROW), {"type": "search", "query": {}}),
    "bocha": (page.bocha_data(page.BOCHA_ROW), {"code": 200, "data": {"webPages": None}}),
    "ddg_html": (page.ddg_page(page.ddg_row(page.uddg(URL))), page.ddg_page(page.DDG_NOTHING)),
    "baidu_html": (page.baidu_page(page.baidu_row("/link?url=x", URL)), page.BAIDU_NOTHING),
    "bing_html": (page.bing_page(page.bing_row(page.ck(URL))), page.bing_page(page.BING_NOTHING)),
    "google": (
        f'<div id="search"><a href="{escape(URL)}"><h3>Tea pots</h3></a></div>',
        '<input name="q" value="tea"><div id="topstuff"><p role="heading">Nothing for <em>tea</em></p></div>',
    ),
    "brave_html": (brave_page(URL), NOTHING),
    "yahoo": (headed_page(URL), NOTHING),
    "so360": (headed_page(URL), NOTHING),
    "sogou": (headed_page(URL), '<div class="results"></div>'),
    "mojeek": (headed_page(URL), NOTHING),
    "startpage": (linked_page(URL), NOTHING),
    "ecosia": (linked_page(URL), NOTHING),
}


def body(name: str, kind: str = "ok", path: str = "/") -> Any:
    """The answer of an engine, as data or text."""
    answer = ANSWERS[name][kind == "empty"]
    return answer(path) if callable(answer) else answer


def sample(name: str, kind: str = "ok", path: str = "/") -> bytes:
    """The answer of an engine, as bytes."""
    found = body(name, kind, path)
    return found.encode() if isinstance(found, str) else json.dumps(found).encode()


def requests(engine: Engine, query: SearchQuery) -> list[Request]:
    """The requests of a whole search, each answered with the engine's own answer."""
    sent, exchange = [], engine.exchange(query)
    try:
        request = next(exchange)
        while True:
            sent.append(request)
            request = exchange.send(Response(200, sample(engine.name, path=request.url), request.url))
    except StopIteration:
        return sent
