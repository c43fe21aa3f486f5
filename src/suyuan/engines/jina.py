"""Jina: a paid search API."""

from __future__ import annotations

from typing import Any

from .kit import EngineResults, JsonEngine, Request, Response, SearchQuery, error_text, locale


class Jina(JsonEngine):
    """Requests ``s.jina.ai`` without the pages themselves; that nothing was found comes as status 422."""

    name = "jina"
    title = "Jina"
    default_url = "https://s.jina.ai"
    auto_rank = 17
    api_key_env = "JINA_API_KEY"
    supported_params = frozenset({"lang", "country", "allowed_domains", "blocked_domains", "page"})
    operators = True
    rows = "data"
    columns = ("title", "url", "description", "date")

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request as many results as wanted."""
        data: dict[str, Any] = {"q": text, "num": query.count, "page": query.page}
        if lang := locale(query)[0]:
            data["hl"] = lang
        if query.country:
            data["gl"] = query.country.lower()
        headers = {**self.bearer(), "Accept": "application/json", "X-Respond-With": "no-content"}
        return Request.post_json(f"{self.base_url}/", data, headers)

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse the JSON answer."""
        if response.status == 422 and "no search results" in error_text(response).lower():
            return EngineResults()
        return super().parse(response, query)
