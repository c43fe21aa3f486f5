"""Mojeek: the result page of an engine with an index of its own."""

from __future__ import annotations

from .kit import PageEngine, Request, SearchQuery


class Mojeek(PageEngine):
    """Requests ``/search``; dates are written into the query."""

    name = "mojeek"
    title = "Mojeek"
    default_url = "https://www.mojeek.com"
    supported_params = frozenset({"lang", "country", "freshness", "allowed_domains", "blocked_domains", "page"})
    rate_per_minute = 20
    burst = 3
    redirect_hosts = ("www.mojeek.com",)
    titles = ("h2", "h3")

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request the result page; language and country are preferences, which are cookies."""
        if query.freshness:
            since, until = query.freshness.dates(self.today())
            text += f" since:{since:%Y%m%d} before:{until:%Y%m%d}"
        preferences = {"lb": query.lang.partition("-")[0], "arc": query.country.lower()}
        cookies = "; ".join(f"{name}={value}" for name, value in preferences.items() if value)
        headers = {"Cookie": cookies} if cookies else {}
        params = {"q": text}
        # A start on the first page counts as a sign of a program.
        if query.page > 1:
            params["s"] = str(10 * query.page - 9)
        return Request.get(f"{self.base_url}/search", params, headers)
