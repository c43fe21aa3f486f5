"""Bing: the result page."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from datetime import date, timedelta
from urllib.parse import parse_qs, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..core.causes.engine import CAPTCHA, SOFT_BLOCK, UNREADABLE
from ..core.engine import Engine, Exchange
from ..core.freshness import Freshness
from ..core.query import SearchQuery
from ..core.result import EngineResults, SearchResult
from ..core.urls import is_page
from ..core.wire import Request, Response
from ..text.dates import leading_date, read_date
from .html_kit import attribute, distinct, first, parse_html, text_of
from .kit import check_status, is_ordinary, locale, query_text

_MAX_QUERY = 1000
_CAPTCHA = (
    ".captcha, #captcha, #turnstile, .cf-turnstile, script[src*='challenges.cloudflare.com'], form[action*='challenge']"
)

_AD_PATHS = ("/aclk", "/aclick")


class Bing(Engine):
    """Requests ``/search`` with market and language, without which Chinese queries give dictionary pages."""

    name = "bing_html"
    title = "Bing"
    default_url = "https://www.bing.com"
    aliases = ("bing",)
    env_prefix = "BING"
    auto_rank = 21
    auto_rank_zh = 22
    reads_pages = True
    supported_params = frozenset({"lang", "country", "freshness", "allowed_domains", "blocked_domains", "page", "safe"})
    rate_per_minute = 30
    burst = 5
    redirect_hosts = ("www.bing.com", "cn.bing.com", "www4.bing.com")

    def exchange(self, query: SearchQuery) -> Exchange:
        """Request the result page."""
        text, notes = query_text(query, _MAX_QUERY)
        params = {"q": text, "form": "QBLH"}
        if query.page > 1:
            params |= {"first": str(10 * query.page - 9), "form": "PERE"}
        if query.safe:
            params["adlt"] = "strict" if query.safe == 2 else "moderate"
        lang, country = locale(query)
        if lang:
            params["setlang"] = {"zh": "zh-hant" if country in ("TW", "HK") else "zh-hans"}.get(lang, lang)
        if lang and country:
            params["mkt"] = f"{lang}-{country}"
        if country:
            params["cc"] = country
        if query.freshness:
            params["filters"] = _filters(query.freshness, self.today())
        response = yield Request.get(f"{self.base_url}/search", params)
        return self.parse(response, query).with_notes(*notes)

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse a result page; an empty one for an ordinary ``query`` means that Bing blocks this client."""
        check_status(response, self.name)
        tree = parse_html(response, self.name)
        if results := distinct(_results(tree, response)):
            return EngineResults(results)
        if tree.css_first("li.b_no, #b_results .b_no") is not None:
            if query is not None and is_ordinary(query):
                raise SOFT_BLOCK(engine=self.name)
            return EngineResults()
        if tree.css_first(_CAPTCHA) is not None:
            raise CAPTCHA(engine=self.name)
        raise UNREADABLE(engine=self.name)


def _results(tree: LexborHTMLParser, response: Response) -> Iterator[SearchResult]:
    dated = b"news_dt" in response.body
    for node in tree.css("li.b_algo"):
        link = first(node, "h2 a", ".b_title a", "a.tilk")
        url = unwrap(attribute(link, "href"))
        if not url:
            continue
        shown = text_of(node.css_first(".news_dt")) if dated else ""
        # cn.bing.com has no element for the date.
        day, snippet = leading_date(_snippet(node), response.at)
        yield SearchResult(
            text_of(node.css_first("h2")) or text_of(link),
            url,
            snippet.removeprefix(shown).lstrip(" ·•"),
            "bing_html",
            published_at=read_date(shown, response.at) or day,
        )


def _snippet(node: LexborNode) -> str:
    body = first(
        node, ".b_caption p", "p.b_lineclamp4", "p.b_lineclamp3", "p.b_lineclamp2", ".b_snippet p", ".b_snippet", "p"
    )
    # Mobile and old pages have a label ("Web") in front of the text.
    return text_of(body).removeprefix("WEB").lstrip(" ·")


def unwrap(href: str) -> str:
    """The target of a result link: the base64 in ``u`` of Bing's ``ck/a`` redirect, or the link; empty for an ad."""
    if not is_page(href):
        return ""
    if "bing.com" not in href.lower():
        return href
    try:
        parts = urlsplit(href)
        host = parts.hostname or ""
    except ValueError:
        return ""
    if host != "bing.com" and not host.endswith(".bing.com"):
        return href
    if parts.path in _AD_PATHS:
        return ""
    if parts.path != "/ck/a":
        return href
    codes = parse_qs(parts.query).get("u", [])
    return _decoded(codes[0]) if codes else ""


def _decoded(code: str) -> str:
    """The address that a redirect of Bing contains; empty if it contains none."""
    if not code.startswith("a1"):
        return ""
    encoded = code[2:]
    # The link omits the trailing padding.
    padding = "=" * (-len(encoded) % 4)
    try:
        target = base64.urlsafe_b64decode(encoded + padding).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return ""
    if target.startswith("/"):
        return f"https://www.bing.com{target}"
    return target if target.startswith(("http://", "https://")) else ""


def _filters(fresh: Freshness, today: date) -> str:
    known = {"day": "ez1", "week": "ez2", "month": "ez3"}
    if fresh.period in known:
        return f'ex1:"{known[fresh.period]}"'
    since, until = fresh.dates(today)
    epoch = date(1970, 1, 1)
    return f'ex1:"ez5_{(since - epoch) // timedelta(days=1)}_{(until - epoch) // timedelta(days=1)}"'
