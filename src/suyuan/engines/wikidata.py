"""Wikidata: things by their names, with a description in the language of the query."""

from __future__ import annotations

from typing import Any

from .kit import JsonEngine, Request, SearchQuery, SearchResult, locale, plain_text, skipped


class Wikidata(JsonEngine):
    """Requests ``wbsearchentities``."""

    name = "wikidata"
    title = "Wikidata"
    default_url = "https://www.wikidata.org"
    redirect_hosts = ("www.wikidata.org",)
    supported_params = frozenset({"lang", "page"})
    rate_per_minute = 100
    burst = 10
    live_web = False
    longest_query = 250
    rows = "search"
    error_at = "error.info"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of results."""
        lang = locale(query)[0] or "en"
        params = {"action": "wbsearchentities", "format": "json", "type": "item", "language": lang, "uselang": lang}
        params |= {"search": text, "limit": str(query.count), "continue": str(skipped(query))}
        return Request.get(f"{self.base_url}/w/api.php", params)

    def result(self, row: dict[str, Any]) -> SearchResult:
        """A thing; its address is the one for people."""
        label = plain_text(row.get("label")) or str(row["id"])
        return SearchResult(
            label, f"https://www.wikidata.org/wiki/{row['id']}", plain_text(row.get("description")), self.name
        )
