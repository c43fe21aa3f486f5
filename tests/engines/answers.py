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

NEWS_ROW = {
    "date": 1741089600, "title": "Tea pots", "excerpt": "All <b>about</b> pots.", "url": URL, "source": "Pot News",
    "image": "https://pots.example/pot.jpg",
}  # fmt: skip
PICTURE_ROW = {
    "title": "Tea pots", "url": URL, "image": "https://pots.example/pot.jpg", "width": 640, "height": 480,
}  # fmt: skip


def news_page(*hrefs: str) -> str:
    """A page of news: a card for each article."""
    cards = "".join(
        f'<div class="news-card newsitem cardcommon" data-author="Pot News"><div class="news-card-body">'
        f'<a class="imagelink" href="{escape(href)}"><img src="https://pots.example/pot.jpg"></a>'
        f'<div class="caption"><a class="title" href="{escape(href)}">Tea pots {n}</a>'
        f'<div class="snippet">All there is to know about tea pots, number {n}.</div>'
        f'<div class="source"><a href="/news/search?q=site">Pot News</a><span aria-label="3 days ago">3d</span></div>'
        "</div></div></div>"
        for n, href in enumerate(hrefs, 1)
    )
    return f'<!DOCTYPE html><html><body><div id="algocore">{cards}</div></body></html>'


def pictures_page(*hrefs: str) -> str:
    """A page of pictures: what is known about each is JSON in an attribute."""
    known = (
        {"purl": href, "murl": "https://pots.example/pot.jpg", "t": "Tea pots", "desc": "A blue tea pot on a table"}
        for href in hrefs
    )
    cells = "".join(f'<li><a class="iusc" m="{escape(json.dumps(one))}"></a></li>' for one in known)
    return f'<!DOCTYPE html><html><body><ul class="dgControl_list">{cells}<li><a m="x"></a></li></ul></body></html>'


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
    "bing_news": (news_page(URL), NOTHING),
    "bing_images": (pictures_page(URL), NOTHING),
    # The same answer to both requests: it has a token, and it is the list.
    "ddg_news": ({"vqd": "4-12345678", "results": [NEWS_ROW]}, {"vqd": "4-12345678", "results": []}),
    "ddg_images": ({"vqd": "4-12345678", "results": [PICTURE_ROW]}, {"vqd": "4-12345678", "results": []}),
}

OPENALEX_ROW = {
    "id": "https://openalex.org/W1", "doi": "https://doi.org/10.1000/pots", "title": "Tea pots",
    "publication_date": "2025-03-04", "cited_by_count": 7, "authorships": [{"author": {"display_name": "Ada Pot"}}],
    "primary_location": {"landing_page_url": URL, "source": {"display_name": "Journal of Pots"}},
    "abstract_inverted_index": {"All": [0], "about": [1], "pots": [2, 4], "and": [3]},
}  # fmt: skip
CROSSREF_ROW = {
    "DOI": "10.1000/pots", "URL": "https://doi.org/10.1000/pots", "title": ["Tea pots"], "publisher": "Pot Press",
    "author": [{"given": "Ada", "family": "Pot"}, {"name": "The Potters"}], "container-title": ["Journal of Pots"],
    "published": {"date-parts": [[2025, 3, 4]]}, "abstract": "<jats:p>All about <b>pots</b>.</jats:p>",
    "is-referenced-by-count": 7,
}  # fmt: skip
ARXIV_FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom">{entries}</feed>"""
ARXIV_ENTRY = """<entry><id>http://arxiv.org/abs/2503.00001v1</id><published>2025-03-04T10:00:00Z</published>
<title>Tea
 pots</title><summary> All about pots. </summary><author><name>Ada Pot</name></author>
<arxiv:doi>10.1000/pots</arxiv:doi><arxiv:journal_ref>Journal of Pots 1</arxiv:journal_ref>
<category term="cs.CL"/></entry>"""
PUBMED_ROW = {
    "uid": "123", "title": "Tea <i>pots</i>.", "authors": [{"name": "Pot A"}], "fulljournalname": "Journal of Pots",
    "pubdate": "2025 Mar 4", "sortpubdate": "2025/03/04 00:00",
    "articleids": [{"idtype": "pubmed", "value": "123"}, {"idtype": "doi", "value": "10.1000/pots"}],
}  # fmt: skip
SEMANTIC_ROW = {
    "paperId": "1", "url": "https://www.semanticscholar.org/paper/1", "title": "Tea pots", "abstract": "All about pots.",
    "venue": "Journal of Pots", "publicationDate": "2025-03-04", "authors": [{"authorId": "1", "name": "Ada Pot"}],
    "citationCount": 7, "externalIds": {"DOI": "10.1000/pots"},
}  # fmt: skip
STACK_ROW = {
    "title": "How to use tea &amp; pots?", "link": "https://stackoverflow.com/questions/1/pots", "score": 12,
    "answer_count": 3, "accepted_answer_id": 2, "tags": ["pots", "tea"], "owner": {"display_name": "Ada"},
    "creation_date": 1741082400, "body": "<p>All about <code>pots</code>.</p>",
}  # fmt: skip
REPOSITORY = {
    "full_name": "ada/pots", "html_url": "https://github.com/ada/pots", "description": "All about pots",
    "stargazers_count": 42, "language": "Python", "topics": ["tea"], "pushed_at": "2025-03-04T10:00:00Z",
    "owner": {"login": "ada"},
}  # fmt: skip
ISSUE = {
    "title": "Pots leak", "html_url": "https://github.com/ada/pots/issues/1", "body": "They do.", "comments": 4,
    "user": {"login": "ada"}, "labels": [{"name": "bug"}], "created_at": "2025-03-04T10:00:00Z",
}  # fmt: skip
STORY = {
    "objectID": "99", "title": "Tea pots", "url": URL, "points": 12, "num_comments": 3, "author": "ada",
    "created_at": "2025-03-04T10:00:00Z", "story_text": None,
}  # fmt: skip
ARTICLE = {
    "url": URL, "title": "Tea pots", "seendate": "20250304T100000Z", "domain": "pots.example", "language": "English",
    "sourcecountry": "United Kingdom",
}  # fmt: skip
BOOK = {
    "key": "/works/OL1W", "title": "Tea pots", "author_name": ["Ada Pot"], "first_publish_year": 1925,
    "publisher": ["Pot Press"], "subject": ["Tea"], "first_sentence": ["All about pots."],
}  # fmt: skip
PAGE = {"title": "Tea pots", "url": URL}


def pubmed(*rows: dict[str, Any]) -> Body:
    """Both answers of PubMed."""
    numbers = [row["uid"] for row in rows]
    found = {"result": {"uids": numbers, **{row["uid"]: row for row in rows}}}
    return lambda path: found if "esummary" in path else {"esearchresult": {"count": "1", "idlist": numbers}}


ANSWERS |= {
    "wikipedia": ({"query": {"search": [{"title": "Tea pot", "snippet": "A <b>pot</b>"}]}}, {"query": {"search": []}}),
    "wikidata": (
        {"search": [{"id": "Q1", "label": "Tea pot", "description": "a vessel"}], "success": 1},
        {"search": [], "success": 1},
    ),
    "openalex": ({"meta": {"count": 1}, "results": [OPENALEX_ROW]}, {"meta": {"count": 0}, "results": []}),
    "crossref": ({"status": "ok", "message": {"items": [CROSSREF_ROW]}}, {"status": "ok", "message": {"items": []}}),
    "arxiv": (ARXIV_FEED.format(entries=ARXIV_ENTRY), ARXIV_FEED.format(entries="")),
    "pubmed": (pubmed(PUBMED_ROW), pubmed()),
    "semantic_scholar": ({"total": 1, "data": [SEMANTIC_ROW]}, {"total": 0, "offset": 0}),
    "stackexchange": ({"items": [STACK_ROW], "has_more": False}, {"items": [], "has_more": False}),
    "github": ({"total_count": 1, "items": [REPOSITORY]}, {"total_count": 0, "items": []}),
    "hackernews": ({"hits": [STORY]}, {"hits": []}),
    "gdelt": ({"articles": [ARTICLE]}, {}),
    "openlibrary": ({"numFound": 1, "docs": [BOOK]}, {"numFound": 0, "docs": []}),
    "marginalia": ({"license": "x", "query": "tea", "results": [{**PAGE, "description": "All"}]}, {"results": []}),
    "tavily": (
        {"query": "tea", "results": [{**PAGE, "content": "All about pots.", "score": 0.9}], "response_time": 1.0},
        {"query": "tea", "results": [], "response_time": 1.0},
    ),
    "exa": (
        {"requestId": "1", "results": [{**PAGE, "highlights": ["All about", "pots"], "author": "Ada Pot"}]},
        {"requestId": "1", "results": []},
    ),
    "serper": (
        {"searchParameters": {"q": "tea"}, "organic": [{"title": "Tea pots", "link": URL, "snippet": "All"}]},
        {"searchParameters": {"q": "tea"}, "credits": 1},
    ),
    "firecrawl": (
        {"success": True, "data": {"web": [{**PAGE, "description": "All about pots."}]}}, {"success": True, "data": {}},
    ),
    "jina": ({"code": 200, "data": [{**PAGE, "description": "All", "date": "4 Mar 2025"}]}, {"code": 200, "data": []}),
    "kagi": (
        {"meta": {"id": "1"}, "data": {"search": [{**PAGE, "snippet": "All", "time": "2025-03-04T00:00:00Z"}]}},
        {"meta": {"id": "1"}, "data": {"related_search": []}},
    ),
    "google_cse": (
        {"kind": "customsearch#search", "items": [{"title": "Tea pots", "link": URL, "snippet": "All"}]},
        {"kind": "customsearch#search", "searchInformation": {"totalResults": "0"}},
    ),
    "serpapi": (
        {"search_metadata": {"status": "Success"}, "organic_results": [{"title": "Tea pots", "link": URL}]},
        {"search_metadata": {"status": "Success"}, "error": "Google hasn't returned any results for this query."},
    ),
}  # fmt: skip
OPTIONS: dict[str, dict[str, Any]] = {"google_cse": {"cx": "0123:abc"}}
"""The settings without which an engine cannot search."""


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
