"""Bing: pictures, and the pages that they are on."""

from __future__ import annotations

import json
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser

from .kit import Details, PageEngine, Request, Response, SearchQuery, SearchResult, attribute, plain_text
from .query_kit import bing_market

_MINUTES = {"day": 1440, "week": 10_080, "month": 43_200, "year": 525_600}
_PER_PAGE = 35


class BingImages(PageEngine):
    """Requests ``/images/async``; each picture has what is known about it as JSON in an attribute (``m``)."""

    name = "bing_images"
    title = "Bing Images"
    default_url = "https://www.bing.com"
    supported_params = frozenset({"lang", "country", "freshness", "allowed_domains", "blocked_domains", "page", "safe"})
    rate_per_minute = 20
    burst = 4
    redirect_hosts = ("www.bing.com", "cn.bing.com")
    periods = ("day", "week", "month", "year")
    titles = ("a[m]",)
    captcha = "#b_captcha, .captcha, iframe[src*='challenge']"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of pictures."""
        params = {"q": text, "async": "1", "count": str(_PER_PAGE), "first": str(_PER_PAGE * (query.page - 1) + 1)}
        params |= bing_market(query)
        if period := self.period(query):
            params["qft"] = f"filterui:age-lt{_MINUTES[period]}"
        if query.safe:
            params["adlt"] = "strict" if query.safe == 2 else "moderate"
        return Request.get(f"{self.base_url}/images/async", params)

    def results(self, tree: LexborHTMLParser, selector: str, response: Response) -> Iterator[SearchResult]:
        """The pages that the pictures are on."""
        for link in tree.css(selector):
            try:
                known = json.loads(attribute(link, "m"))
                title = plain_text(known.get("t")) or plain_text(known.get("desc"))
                details = Details(image=str(known["murl"]))
                page = str(known["purl"])
            except (ValueError, LookupError, TypeError, AttributeError):
                continue
            if page.startswith(("http://", "https://")):
                yield SearchResult(title or page, page, plain_text(known.get("desc")), self.name, details=details)
