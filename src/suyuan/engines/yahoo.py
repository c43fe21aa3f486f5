"""Yahoo: the result page, with the results of Bing."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborNode

from .kit import EngineResults, PageEngine, Request, Response, SearchQuery
from .page_kit import AD

_TARGET = re.compile(r"/RU=([^/]+)/")


class Yahoo(PageEngine):
    """Requests ``/search``; links are the pages or Yahoo's redirects (``r.search.yahoo.com``) to them."""

    name = "yahoo"
    title = "Yahoo"
    default_url = "https://search.yahoo.com"
    supported_params = frozenset({"lang", "freshness", "allowed_domains", "blocked_domains", "page"})
    rate_per_minute = 20
    burst = 3
    redirect_hosts = tuple(
        f"{place}search.yahoo.com" for place in ("", "us.", "uk.", "de.", "fr.", "es.", "it.", "ca.")
    )
    periods = ("day", "week", "month")
    titles = ("#web h3", "h3")
    # Ads, the answers to "people also ask", which are folded, and the column on the right.
    boxes = "[class*='hidden'], [class*='ads' i], .spns, #right, [class*='Carousel'], [class*='CardList'], aside, nav"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request the result page; the language is a preference, which is a cookie."""
        params = {"p": text, "ei": "UTF-8"}
        if query.page > 1:
            params |= {"b": str(7 * query.page - 6), "pz": "7"}
        if period := self.period(query):
            params |= {"btf": period[0], "age": f"1{period[0]}", "fr2": "time"}
        lang = query.lang.partition("-")[0]
        headers = {"Cookie": f"sB=v=1&fl=1&vl=lang_{lang}"} if lang else {}
        return Request.get(f"{self.base_url}/search", params, headers)

    def target(self, link: LexborNode) -> str:
        """The link, which may be a redirect of Yahoo; empty for an ad and for a link within the search."""
        url = super().target(link)
        page = unwrap(url)
        return url if page and not AD.match(page) else ""

    def resolved(self, found: EngineResults, response: Response) -> EngineResults:
        """The results with the addresses that Yahoo's redirects contain."""
        return replace(found, results=tuple(replace(result, url=unwrap(result.url)) for result in found.results))


def unwrap(url: str) -> str:
    """The address in a redirect of Yahoo, or the address itself; empty for any other page of the search."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    if host == "search.yahoo.com" or host.endswith(".search.yahoo.com"):
        target = _TARGET.search(url) if host.startswith("r.") else None
        url = unquote(target[1]) if target else ""
    return url if url.startswith(("http://", "https://")) else ""
