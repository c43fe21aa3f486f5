"""Brave Search without a key: the result page."""

from __future__ import annotations

from .kit import PageEngine, Request, SearchQuery, text_of
from .page_kit import TitledLink
from .query_kit import brave_period


class BraveHtml(PageEngine):
    """Requests ``/search``; the link of a result contains its address (``cite``) beside its title."""

    name = "brave_html"
    title = "Brave"
    default_url = "https://search.brave.com"
    supported_params = frozenset({"country", "freshness", "allowed_domains", "blocked_domains", "page"})
    rate_per_minute = 15
    burst = 2
    redirect_hosts = ("search.brave.com",)
    # The second form is that of pages of the same site below a result.
    titles = ("a:has(cite), a:has(> span):has(+ p)",)
    boxes = "[data-type='ad'], [class*='carousel'], aside, nav"
    captcha = "[class*='captcha' i], [id*='captcha' i], form[action*='captcha']"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request the result page; the country is a preference, which is a cookie."""
        params = {"q": text, "source": "web"}
        if query.page > 1:
            params["offset"] = str(query.page - 1)
        if query.freshness:
            params["tf"] = brave_period(query.freshness, self.today())
        headers = {}
        if query.country:
            headers["Cookie"] = f"country={query.country.lower()}; useLocation=0"
        return Request.get(f"{self.base_url}/search", params, headers)

    def title_text(self, one: TitledLink) -> str:
        """The longest text in the link beside the address."""
        if one.link.css_first("cite") is None:
            return text_of(one.link)
        parts = [part for part in one.link.iter() if part.css_first("cite") is None and part.tag != "cite"]
        return max(map(text_of, parts), key=len, default="")
