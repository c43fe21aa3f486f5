"""Ecosia: the result page, with the results of Bing and Google."""

from __future__ import annotations

from .kit import PageEngine, Request, SearchQuery


class Ecosia(PageEngine):
    """Requests ``/search``; results are articles, each with its title as a heading."""

    name = "ecosia"
    title = "Ecosia"
    default_url = "https://www.ecosia.org"
    supported_params = frozenset({"allowed_domains", "blocked_domains", "page"})
    rate_per_minute = 10
    burst = 2
    redirect_hosts = ("www.ecosia.org",)
    titles = ("article h2", "main h2", "h2")
    boxes = "[class*='ad-result' i], [class*='ads-' i], [data-test-id*='ad-' i], [class*='carousel' i], aside, nav"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request the result page."""
        return Request.get(
            f"{self.base_url}/search", {"q": text, **({"p": str(query.page - 1)} if query.page > 1 else {})}
        )
