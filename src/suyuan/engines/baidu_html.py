"""Baidu: the result page, with the JSON answer (``tn=json``) as fallback."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..core.causes.engine import CAPTCHA, UNREADABLE
from ..core.engine import Engine, Exchange
from ..core.errors import WebParseError
from ..core.query import SearchQuery
from ..core.result import EngineResults, SearchResult
from ..core.urls import domain_of
from ..core.wire import Request, Response
from ..text.dates import read_date
from .html_kit import attribute, distinct, first, has_class, parse_html, text_of
from .json_kit import TAGS, day_of, parse_rows, plain_text
from .kit import check_status, query_text, redirect_domain

_MAX_QUERY = 76
_CAPTCHA_HOSTS = ("wappass.baidu.com", "seccaptcha.baidu.com")
_CAPTCHA = "script[src*='wappass.'], link[href*='wappass.'], #captcha, .passMod_dialog-container, .mkd-captcha"
# Baidu's own cards (result-op) are widgets, except those for one page of these sites.
_CARD_PAGES = re.compile(
    r"https?://(?:baike\.baidu\.com/(?:item|view|subview)/|zhidao\.baidu\.com/question/|tieba\.baidu\.com/p/"
    r"|jingyan\.baidu\.com/article/|wenku\.baidu\.com/view/|baijiahao\.baidu\.com/s"
    r"|(?![\w.-]*\.?baidu\.com(?:[/:?#]|$))[^/]+)"
)
_WIDGETS = re.compile(
    r"image|video|recommend|fanyi|calculator|weather|rel[-_]|relate|map|short_|hot|app_|game|news-realtime|ai_"
)


class Baidu(Engine):
    """Requests ``/s`` as a browser does; a CAPTCHA is recognised and reported, never bypassed."""

    name = "baidu_html"
    title = "百度"
    default_url = "https://www.baidu.com"
    aliases = ("baidu",)
    env_prefix = "BAIDU"
    auto_rank = 22
    auto_rank_zh = 21
    opaque_links = ("https://www.baidu.com/link?", "http://www.baidu.com/link?")
    reads_pages = True
    supported_params = frozenset({"freshness", "allowed_domains", "blocked_domains", "page"})
    rate_per_minute = 20
    burst = 3
    redirect_hosts = ("www.baidu.com", "m.baidu.com")

    def exchange(self, query: SearchQuery) -> Exchange:
        """Request the result page, and the JSON answer once if the page cannot be parsed."""
        text, notes = query_text(query, _MAX_QUERY)
        params = {"wd": text, "rn": "10", "pn": str(10 * query.page - 10), "ie": "utf-8"}
        if query.freshness:
            start, end = query.freshness.seconds(self.today())
            params["gpc"] = f"stf={start},{end}|stftype=1"
        response = yield Request.get(f"{self.base_url}/s", params)
        try:
            return self.parse(response, query).with_notes(*notes)
        except WebParseError:
            notes += ("page not readable, JSON answer used",)
        response = yield Request.get(f"{self.base_url}/s", {**params, "tn": "json"})
        return self.parse(response, query).with_notes(*notes)

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse a result page or a JSON answer."""
        if redirect_domain(response) in _CAPTCHA_HOSTS or domain_of(response.url) in _CAPTCHA_HOSTS:
            raise CAPTCHA(engine=self.name)
        check_status(response, self.name)
        if response.body.lstrip()[:1] == b"{":
            return self._parse_json(response)
        tree = parse_html(response, self.name)
        if results := distinct(_results(tree, response)):
            return EngineResults(results)
        if _is_captcha(tree):
            raise CAPTCHA(engine=self.name)
        if tree.css_first(".content_none, .nors, .c-noresult") is not None:
            return EngineResults()
        raise UNREADABLE(engine=self.name)

    def _parse_json(self, response: Response) -> EngineResults:
        try:
            # The strings contain raw control characters.
            data = json.loads(response.text, strict=False)
            if data.get("antiFlag") == 1:
                raise CAPTCHA(engine=self.name)
            rows = data["feed"]["entry"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise UNREADABLE(engine=self.name) from None
        # The list ends with an empty entry.
        rows = [row for row in rows if row] if isinstance(rows, list) else rows
        results = parse_rows(rows, _parse_row, self.name)
        return replace(results, results=distinct(results.results))


def _results(tree: LexborHTMLParser, response: Response) -> Iterator[SearchResult]:
    for node in tree.css("#content_left > .c-container, #content_left > .result, #results > .c-result"):
        url = _url(node)
        link = first(node, "h3 a", ".c-title a", "a.c-blocka h3", "h3")
        if not url or link is None or not text_of(link):
            continue
        date_node = first(
            node, ".newTimeFactor_before_abs", "[class*='cosc-source-time']", ".c-color-gray2", "[class*='time']"
        )
        shown = text_of(date_node)
        snippet = _snippet(node).removeprefix(shown).lstrip(" -·")
        yield SearchResult(text_of(link), url, snippet, "baidu_html", published_at=read_date(shown, response.at))


def _url(node: LexborNode) -> str:
    """The URL of an organic result: ``mu`` if there is one, else Baidu's own link; empty for ads and widgets."""
    href = attribute(first(node, "h3 a", ".c-title a", "a.c-blocka"), "href")
    page = attribute(node, "mu")
    if has_class(node, "result-op", "result-op-san"):
        # The template says what kind of card it is; a card without a page is no result.
        if _WIDGETS.search(attribute(node, "tpl")) or not _CARD_PAGES.match(page):
            return ""
        return page
    if "baidu.php?" in href or node.css_first(".ec-tuiguang, [data-tuiguang]") is not None:
        return ""
    if page.startswith(("http://", "https://")):
        return page
    if href.startswith("/link?"):
        return "https://www.baidu.com" + href
    return href if href.startswith(("http://", "https://")) else ""


def _snippet(node: LexborNode) -> str:
    body = first(
        node,
        ".c-abstract",
        "[class*='content-right']",
        "[class*='summary-text']",
        "[class*='summary']",
        "[class*='abstract']",
        ".c-font-normal.c-color-text",
        ".c-span-last",
        ".c-span-last p",
    )
    return text_of(body)


def _is_captcha(tree: LexborHTMLParser) -> bool:
    if tree.css_first(_CAPTCHA) is not None:
        return True
    return text_of(tree.css_first("title")) in ("百度安全验证", "安全验证")


def _parse_row(row: dict[str, Any]) -> SearchResult:
    title, about = (plain_text(row.get(name), TAGS) for name in ("title", "abs"))
    return SearchResult(title, str(row["url"]), about, "baidu_html", published_at=day_of(row.get("time")))
