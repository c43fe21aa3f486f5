"""Baidu: its result page, and its JSON answer (``tn=json``) as a second door."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..core.causes.engine import CAPTCHA, UNREADABLE
from ..core.engine import Engine, Exchange
from ..core.errors import WebParseError
from ..core.query import SearchQuery
from ..core.result import EngineResults, SearchResult
from ..core.urls import domain_of
from ..core.wire import Request, Response
from ..text.dates import read_date
from ._html import attribute, distinct, first, has_class, text_of, tree_of
from ._query import fitted
from ._status import check_status, redirect_target

_LONGEST_QUERY = 76
_CAPTCHA_HOSTS = ("wappass.baidu.com", "seccaptcha.baidu.com")
_TAGS = re.compile(r"<[^>]*>")
# Baidu's own cards (result-op) are widgets, except where they present one page of these.
_CARD_PAGES = re.compile(
    r"https?://(?:baike\.baidu\.com/(?:item|view)/|zhidao\.baidu\.com/question/|tieba\.baidu\.com/p/|jingyan\.baidu\.com/article/"
    r"|wenku\.baidu\.com/view/|baijiahao\.baidu\.com/s|(?![\w.-]*\.?baidu\.com(?:[/:?#]|$))[^/]+)"
)
_WIDGETS = re.compile(
    r"image|video|recommend|fanyi|calculator|weather|rel[-_]|relate|map|short_|hot|app_|game|news-realtime|ai_"
)


class Baidu(Engine):
    """Asks ``/s`` as a browser does; a CAPTCHA is recognised and reported, never bypassed."""

    name = "baidu_html"
    title = "百度"
    default_url = "https://www.baidu.com"
    supported_params = frozenset({"freshness", "allowed_domains", "blocked_domains"})
    rate_per_minute = 20
    burst = 3
    redirect_hosts = ("www.baidu.com", "m.baidu.com")

    def exchange(self, query: SearchQuery) -> Exchange:
        """Ask the result page; where it cannot be read, ask the JSON answer once."""
        text, notes = fitted(query, _LONGEST_QUERY)
        params = {"wd": text, "rn": "10", "pn": "0", "ie": "utf-8"}
        if query.freshness:
            params["gpc"] = _period(*query.freshness.dates(self.today()))
        response = yield Request.get(f"{self.base_url}/s", params)
        try:
            found = self.read(response, query)
        except WebParseError:
            response = yield Request.get(f"{self.base_url}/s", {**params, "tn": "json"})
            found = self.read(response, query)
            notes += ("page not readable, JSON answer asked",)
        return EngineResults(found.results, notes + found.notes)

    def read(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Read a result page or a JSON answer."""
        if redirect_target(response) in _CAPTCHA_HOSTS or domain_of(response.url) in _CAPTCHA_HOSTS:
            raise CAPTCHA(engine=self.name)
        check_status(response, self.name)
        if response.body.lstrip()[:1] == b"{":
            return self._read_json(response)
        tree = tree_of(response, self.name)
        if results := distinct(_results(tree, response)):
            return EngineResults(results)
        if _is_captcha(tree):
            raise CAPTCHA(engine=self.name)
        if tree.css_first(".content_none, .nors, .c-noresult") is not None:
            return EngineResults()
        raise UNREADABLE(engine=self.name)

    def _read_json(self, response: Response) -> EngineResults:
        try:
            # Baidu puts raw control characters into its strings.
            data = json.loads(response.text, strict=False)
            if data.get("antiFlag") == 1:
                raise CAPTCHA(engine=self.name)
            rows = data["feed"]["entry"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise UNREADABLE(engine=self.name) from None
        if not isinstance(rows, list):
            raise UNREADABLE(engine=self.name)
        # The list ends with an empty entry.
        rows = [row for row in rows if row]
        results = [result for row in rows if (result := _json_result(row))]
        notes = (f"{len(rows) - len(results)} malformed results skipped",) if len(results) < len(rows) else ()
        return EngineResults(distinct(results), notes)

    @staticmethod
    def today() -> date:
        """The day that "the last week" counts back from."""
        return datetime.now(UTC).date()


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
    """The page of an organic result: ``mu`` where it is given, else Baidu's own link; empty for ads and widgets."""
    href = attribute(first(node, "h3 a", ".c-title a", "a.c-blocka"), "href")
    page = attribute(node, "mu")
    if has_class(node, "result-op", "result-op-san"):
        # A card names itself by its template; one without a page behind it is no result.
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
    if (
        tree.css_first(
            "script[src*='wappass.'], link[href*='wappass.'], #captcha, .passMod_dialog-container, .mkd-captcha"
        )
        is not None
    ):
        return True
    return text_of(tree.css_first("title")) in ("百度安全验证", "安全验证")


def _json_result(row: object) -> SearchResult | None:
    if not isinstance(row, dict) or not str(row.get("url") or "").startswith(("http://", "https://")):
        return None
    time = row.get("time")
    day = datetime.fromtimestamp(time, UTC).date().isoformat() if isinstance(time, int) and 0 < time < 4e9 else None
    return SearchResult(
        _plain(row.get("title")), str(row["url"]), _plain(row.get("abs")), "baidu_html", published_at=day
    )


def _plain(text: object) -> str:
    return " ".join(html.unescape(_TAGS.sub("", str(text or ""))).split())


def _period(first_day: date, last_day: date) -> str:
    start = datetime(first_day.year, first_day.month, first_day.day, tzinfo=UTC)
    end = datetime(last_day.year, last_day.month, last_day.day, tzinfo=UTC)
    return f"stf={int(start.timestamp())},{int(end.timestamp()) + 86400}|stftype=1"
