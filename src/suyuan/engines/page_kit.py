"""Result pages read by their structure, and ``PageEngine``, the base class of engines that send them.

A result is a title with a link in or around it. What else belongs to it follows in the same part of the page; a part
with two titles is larger than one result. Class names change from week to week, so they matter little here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from typing import ClassVar
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..core.causes.engine import CAPTCHA, CONSENT, UNREADABLE
from ..core.engine import Exchange
from ..core.http_status import check_status, is_challenge
from ..core.query import SearchQuery
from ..core.result import EngineResults, SearchResult
from ..core.urls import domain_of
from ..core.wire import Response
from ..text.dates import read_date
from .html_kit import attribute, distinct, parse_html, text_of
from .query_kit import OneRequestEngine

_MAX_DEPTH = 100
_SHORTEST_SNIPPET = 20
FRAME_IDS = frozenset({"rso", "search", "ires", "res", "main", "center_col", "botstuff", "results", "web"})
"""The ids of lists of results, which are larger than one result."""
_DATED = re.compile(r"(.{4,30}?)\s+[-—–·]\s+(?=\S)")
_URL_LINE = re.compile(r"^\S+ › |^https?://\S+$|^[\w.-]+\.\w{2,}(?:/\S*)?$")
AD = re.compile(
    r"https?://(?:[\w-]+\.)*(?:bing\.com/(?:aclick|aclk)|googleadservices\.com|doubleclick\.net|duckduckgo\.com/y\.js)"
)
"""The addresses of ads, which several engines show."""
_NOTHING = (
    "[class*='no-result' i], [id*='no-result' i], [class*='noresult' i], [id*='noresult' i], [class*='no_result' i], "
    "[id*='no_result' i], [data-test-id*='no-result'], [data-testid*='no-result'], .zrp"
)


@dataclass(frozen=True, slots=True)
class TitledLink:
    """A title, its link, and the ancestors of the link, the nearest first."""

    title: LexborNode
    link: LexborNode
    path: list[LexborNode]


def titled_links(tree: LexborHTMLParser, selector: str) -> Iterator[TitledLink]:
    """Each title that ``selector`` finds, with the link that it is in, is itself, or contains."""
    for title in tree.css(selector):
        link = link_of(title) or title.css_first("a[href]")
        if link is not None:
            yield TitledLink(title, link, list(islice(ancestors(link), _MAX_DEPTH)))


def link_of(title: LexborNode) -> LexborNode | None:
    """The link that ``title`` is or is in."""
    return next((node for node in islice(chain((title,), ancestors(title)), _MAX_DEPTH) if node.tag == "a"), None)


def ancestors(node: LexborNode) -> Iterator[LexborNode]:
    """The nodes that ``node`` is in, the nearest first, without the body."""
    parent = node.parent
    while parent is not None and parent.tag not in ("body", "html"):
        yield parent
        parent = parent.parent


def title_counts(titles: list[TitledLink]) -> Counter[int]:
    """How many titles each node of a page contains, by its ``mem_id``."""
    counts: Counter[int] = Counter()
    for title in titles:
        counts.update(node.mem_id for node in title.path)
    return counts


def following_parts(one: TitledLink, counts: Counter[int]) -> Iterator[LexborNode]:
    """The elements that follow the link in its own result, the nearest first."""
    node = one.link
    for parent in one.path:
        shared = counts[parent.mem_id] > 1 or parent.attributes.get("id") in FRAME_IDS
        # Beside the link itself, everything up to the next title belongs to it even in a list without parts.
        if shared and node is not one.link:
            return
        following = node.next
        while following is not None and not (shared and counts[following.mem_id]):
            if following.is_element_node:
                yield following
            following = following.next
        if shared:
            return
        node = parent


def dated(text: str, now: datetime | None) -> tuple[str, str | None]:
    """A snippet without the date in front of it, and that date."""
    match = _DATED.match(text)
    day = read_date(match[1], now) if match else None
    return (text[match.end() :], day) if match and day else (text, None)


def check_redirect(response: Response, engine: str) -> None:
    """Raise the error that a page of CAPTCHAs or consent stands for, by its address or that of a redirect to it."""
    for url in (response.url, response.headers.get("location", "")):
        try:
            parts = urlsplit(urljoin(response.url, url))
        except ValueError:
            continue
        if re.search("captcha|antispider|/sorry", f"{parts.hostname}{parts.path}"):
            raise CAPTCHA(engine=engine)
        if (parts.hostname or "").startswith(("consent.", "guce.")):
            raise CONSENT(engine=engine)


class PageEngine(OneRequestEngine):
    """An engine with a result page. It says what to request and, as CSS, where titles are and what is no result.

    Statuses, challenges, pages without results and dates are dealt with here.
    """

    operators = True
    reads_pages = True
    titles: ClassVar[tuple[str, ...]] = ("h3", "h2")
    """Where titles are, in or around their links; the first that finds results is used."""
    boxes: ClassVar[str] = ""
    """The parts of the page whose titles are not results, such as ads, videos and questions."""
    nothing: ClassVar[str] = _NOTHING
    """What only a page has on which nothing was found."""
    captcha: ClassVar[str] = ""
    """What only a page has that asks for a CAPTCHA, beside the common challenges."""
    own_paths: ClassVar[tuple[str, ...]] = ("/",)
    """The paths on the engine's own hosts that are no results."""

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse a result page; one without results is told apart by its structure, never by a word."""
        self.check(response)
        tree = parse_html(response, self.name)
        # The text of a node would contain their code.
        tree.strip_tags(["script", "style", "template", "noscript"])
        for selector in self.titles:
            if results := distinct(self.results(tree, selector, response)):
                return EngineResults(results)
        if is_challenge(response) or self.captcha and tree.css_first(self.captcha) is not None:
            raise CAPTCHA(engine=self.name)
        if tree.css_first(self.nothing) is not None:
            return EngineResults()
        raise UNREADABLE(engine=self.name)

    def resolved(self, found: EngineResults, response: Response) -> EngineResults:
        """The results with the targets of links that are redirects of the engine, where they can be known.

        ``parse`` gives the links as they are on the page.
        """
        return found

    def exchange(self, query: SearchQuery) -> Exchange:
        """Request the result page."""
        text, notes = self.search_text(query)
        response = yield self.request(query, text)
        return self.resolved(self.parse(response, query), response).with_notes(*notes)

    def check(self, response: Response) -> None:
        """Raise the error that the status or a redirect to another page stands for."""
        check_redirect(response, self.name)
        check_status(response, self.name)

    def results(self, tree: LexborHTMLParser, selector: str, response: Response) -> Iterator[SearchResult]:
        """The results whose titles ``selector`` finds."""
        boxes = {node.mem_id for node in tree.css(self.boxes)} if self.boxes else set()
        titles = [one for one in titled_links(tree, selector) if not boxes.intersection(n.mem_id for n in one.path)]
        counts = title_counts(titles)
        for one in titles:
            url = self.target(one.link)
            title = self.title_text(one)
            if url and title:
                snippet, day = dated(self.snippet(one, counts), response.at)
                yield SearchResult(title, url, snippet, self.name, published_at=day)

    def target(self, link: LexborNode) -> str:
        """The address that a link stands for; empty for an ad and for a link within the engine."""
        try:
            url = urljoin(self.default_url, attribute(link, "href"))
            path = urlsplit(url).path
        except ValueError:
            return ""
        own = domain_of(url) == domain_of(self.default_url) and path.startswith(self.own_paths)
        return "" if own or not url.startswith(("http://", "https://")) or AD.match(url) else url

    def title_text(self, one: TitledLink) -> str:
        """The text of a title without the address that some engines put in front of it."""
        title = one.title if one.title.tag != "a" and one.link.css_first("h1, h2, h3, h4") is not None else one.link
        text = text_of(title)
        start = next((child for child in title.iter(include_text=False) if text_of(child)), None)
        shown = text_of(start)
        return text.removeprefix(shown).strip() if shown != text and _URL_LINE.match(shown) else text

    def snippet(self, one: TitledLink, counts: Counter[int]) -> str:
        """The first text of some length below a title that is not its address."""
        for part in following_parts(one, counts):
            for piece in (*part.css("p"), part):
                text = text_of(piece)
                if (cite := piece.css_first("cite")) is not None:
                    text = text.partition(text_of(cite))[0].rstrip(" -·")
                if len(text) >= _SHORTEST_SNIPPET and not _URL_LINE.match(text):
                    return text
        return ""
