"""DuckDuckGo without JavaScript: the html page, with the lite page as fallback."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

# Not by the kit, which loads what reads JSON and dates: a search with this engine is to start soon.
from ..core.causes.engine import API_SAID_NO, CAPTCHA, JAVASCRIPT_SHELL, UNREADABLE
from ..core.engine import Engine, Exchange
from ..core.errors import WebBlocked, WebProviderError
from ..core.http_status import check_status
from ..core.query import SearchQuery
from ..core.result import EngineResults, SearchResult
from ..core.wire import Request, Response
from .html_kit import attribute, distinct, first, has_class, parse_html, text_of
from .query_kit import ddg_region, query_text

_MAX_QUERY = 499
# The start of the list of results.
_LIST = b'id="links"'
_PARTS = ", ".join(
    f".result:not(.result--ad) {part}"
    for part in ("a.result__a", ".result__snippet", ".result__date", ".result__extras__url > span:not(.result__icon)")
)
# A URL that is used as it is: its host is a plain name and not DuckDuckGo's.
_PLAIN = re.compile(r"https?://(?!(?:[\w-]+\.)*duckduckgo\.com)[\w.-]+(?::\d{1,5})?(?:[/?#]|$)", re.A | re.I)
_AD = re.compile(r"https?://(?:[\w-]+\.)*duckduckgo\.com/y\.js(?:[?#]|$)")

_CAPTCHA = "#challenge-form, .anomaly-modal__modal, form[action*='anomaly.js']"
_NO_RESULTS = ".no-results, .result--no-result, [data-testid='no-results-message']"
_SHELL = ".js-results, #react-layout, [data-testid='react-layout']"


class DuckDuckGo(Engine):
    """Requests ``/html/`` by POST, as the form on that page does."""

    name = "ddg_html"
    title = "DuckDuckGo"
    default_url = "https://html.duckduckgo.com"
    aliases = ("duck-duck-scrape", "duckduckgo", "ddg")
    env_prefix = "DDG"
    auto_rank = 20
    reads_pages = True
    supported_params = frozenset({"lang", "country", "freshness", "allowed_domains", "blocked_domains", "safe"})
    rate_per_minute = 30
    burst = 5
    redirect_hosts = ("duckduckgo.com", "html.duckduckgo.com", "lite.duckduckgo.com")

    def exchange(self, query: SearchQuery) -> Exchange:
        """Request the html page, and the lite page once if the html page is broken."""
        text, notes = query_text(query, _MAX_QUERY)
        form = {"q": text, "b": ""}
        if code := ddg_region(query):
            form["kl"] = code
        elif query.country:
            notes += (f"DuckDuckGo has no region for {query.country}",)
        if query.safe:
            form["kp"] = "1" if query.safe == 2 else "-1"
        if query.freshness:
            fresh = query.freshness
            form["df"] = fresh.period[0] if fresh.period else "..".join(map(str, fresh.dates(self.today())))
        headers = {"Referer": f"{self.base_url}/"}
        response = yield Request.post_form(f"{self.base_url}/html/", form, headers)
        try:
            return self.parse(response, query).with_notes(*notes)
        except WebProviderError as error:
            # Only if the page itself is broken: who is blocked on one page is blocked on both.
            if isinstance(error, WebBlocked) or error.detail_code not in ("api_error", "layout_changed", "empty_body"):
                raise
        response = yield Request.post_form(f"{self.base_url}/lite/", form, headers)
        return self.parse(response, query).with_notes(*notes, "html page broken, lite page used")

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse an html, lite or rendered result page."""
        if response.status not in (200, 202):
            check_status(response, self.name)
        results = distinct(_html_results(parse_html(response, self.name, _LIST), response))
        if results:
            return EngineResults(results)
        tree = parse_html(response, self.name)
        results = distinct(_html_results(tree, response) or _lite_results(tree, response) or _rendered_results(tree))
        if results:
            return EngineResults(results)
        return self._without_results(tree, response)

    def _without_results(self, tree: LexborHTMLParser, response: Response) -> EngineResults:
        """What a page without results means: that there are none, or a refusal, which is raised."""
        if tree.css_first(_CAPTCHA) is not None:
            raise CAPTCHA(engine=self.name)
        if tree.css_first(_NO_RESULTS) is not None or _lite_says_none(tree):
            return EngineResults()
        if tree.css_first(_SHELL) is not None or "DDG.Pages.SERP" in response.text:
            raise JAVASCRIPT_SHELL(engine=self.name)
        if len(response.body) < 500 and b"error-lite@duckduckgo.com" in response.body:
            raise API_SAID_NO(engine=self.name, said="If this error persists, please let us know")
        raise UNREADABLE(engine=self.name)


def _html_results(tree: LexborHTMLParser, response: Response) -> list[SearchResult]:
    rows: list[dict[str, str]] = []
    # One search of the page for all parts of all results is several times faster than one for each part.
    for node in tree.css(_PARTS):
        name = attribute(node, "class")
        if name.startswith("result__a"):
            rows.append({"title": text_of(node), "url": unwrap(attribute(node, "href"))})
        elif rows:
            part = "snippet" if name.startswith("result__snippet") else "date"
            rows[-1].setdefault(part, text_of(node))
    return [_result(row, response) for row in rows if row["url"]]


def _result(parts: dict[str, str], response: Response) -> SearchResult:
    date, snippet = parts.get("date", ""), parts.get("snippet", "")
    # On rendered pages the date is in front of the snippet, on plain ones behind the URL.
    snippet = snippet.removeprefix(date).lstrip() if date else snippet
    return SearchResult(parts["title"], parts["url"], snippet, "ddg_html", published_at=_day(date, response))


def _day(shown: str, response: Response) -> str | None:
    if not shown:
        return None
    # Most pages show none, and what reads dates takes a while to load.
    from ..text.dates import read_date

    return read_date(shown, response.at)


def _lite_results(tree: LexborHTMLParser, response: Response) -> list[SearchResult]:
    results = []
    for link in tree.css("a.result-link"):
        row = _row_of(link)
        if row is None or has_class(row, "result-sponsored"):
            continue
        snippet = date = ""
        # The snippet and the URL are in rows of their own, up to the row of the next result.
        while (row := row.next) is not None:
            if row.tag != "tr":
                continue
            if row.css_first("a.result-link") is not None:
                break
            snippet = snippet or text_of(row.css_first(".result-snippet"))
            date = date or text_of(row.css_first(".timestamp"))
        if url := unwrap(attribute(link, "href")):
            results.append(SearchResult(text_of(link), url, snippet, "ddg_html", published_at=_day(date, response)))
    return results


def _rendered_results(tree: LexborHTMLParser) -> list[SearchResult]:
    results = []
    for node in tree.css("article[data-testid='result']"):
        link = node.css_first("a[data-testid='result-title-a']")
        if url := unwrap(attribute(link, "href")):
            results.append(
                SearchResult(text_of(link), url, text_of(first(node, "[data-result='snippet']")), "ddg_html")
            )
    return results


def _row_of(node: LexborNode) -> LexborNode | None:
    parent = node.parent
    while parent is not None and parent.tag != "tr":
        parent = parent.parent
    return parent


def _lite_says_none(tree: LexborHTMLParser) -> bool:
    if tree.css_first("form[action^='/lite']") is None:
        return False
    return any(text_of(cell).lower().startswith(("no results", "no more results")) for cell in tree.css("td, p"))


def unwrap(href: str) -> str:
    """The target of a result link: ``uddg`` of DuckDuckGo's own redirect, or the link; empty for an ad or no link."""
    if _PLAIN.match(href):
        return href
    if href.startswith("//"):
        href = "https:" + href
    try:
        parts = urlsplit(href)
        host = parts.hostname or ""
    except ValueError:
        return ""
    is_own = f".{host}".endswith(".duckduckgo.com")
    if is_own and parts.path == "/y.js":
        return ""
    is_redirect = parts.path.startswith("/l/")
    if is_redirect and (is_own or not host):
        targets = parse_qs(parts.query).get("uddg", [href])
        href = "" if _AD.match(targets[0]) else targets[0]
    return href if href.startswith(("http://", "https://")) else ""
