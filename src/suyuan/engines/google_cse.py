"""Google's Programmable Search Engine: its JSON API, for keys of old, until the end of 2026."""

from __future__ import annotations

from typing import Any

from ..core.causes.engine import OPTION_MISSING
from .kit import JsonEngine, Request, Response, SearchQuery, Setting, error_text, skipped, text
from .query_kit import google_locale

_PERIODS = {"day": "d1", "week": "w1", "month": "m1", "year": "y1"}


class GoogleCse(JsonEngine):
    """Requests ``/customsearch/v1``."""

    name = "google_cse"
    title = "Google Programmable Search"
    default_url = "https://customsearch.googleapis.com"
    aliases = ("google_pse",)
    auto_rank = 15
    api_key_env = "GOOGLE_CSE_API_KEY"
    options = (Setting("cx", text(), "The id of the search engine that was set up at Google.", env="CX"),)
    required_options = ("cx",)
    supported_params = frozenset({"lang", "country", "freshness", "allowed_domains", "blocked_domains", "page"})
    operators = True
    longest_query = 2000
    rows = "items"
    columns = ("title", "link", "snippet", "")

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request as many results as wanted."""
        if not (engine_id := self.option("cx")):
            raise OPTION_MISSING(engine=self.name, setting="web.providers.google_cse.cx", variable="GOOGLE_CSE_CX")
        locale = google_locale(query)
        params = {"cx": engine_id, "q": text, "num": str(query.count), "start": str(skipped(query) + 1)} | locale
        if query.lang:
            params["lr"] = f"lang_{locale['hl']}"
        if fresh := query.freshness:
            since, until = (str(day).replace("-", "") for day in fresh.dates(self.today()))
            params |= {"dateRestrict": _PERIODS[fresh.period]} if fresh.period else {"sort": f"date:r:{since}:{until}"}
        return Request.get(f"{self.base_url}/customsearch/v1", params, {"X-Goog-Api-Key": self.require_key()})

    def out_of_quota(self, said: str, status: int) -> bool:
        """Whether the day's requests are used up, which Google says with the status of too many requests."""
        text = said.lower()
        is_daily_quota = "quota" in text and "per day" in text
        return is_daily_quota or super().out_of_quota(said, status)

    def check(self, response: Response) -> None:
        """Raise what a status stands for; a wrong key is a bad request."""
        if response.status == 400 and "api key" in error_text(response).lower():
            response = Response(401, response.body, response.url, response.headers, response.at)
        super().check(response)

    def found_nothing(self, data: dict[str, Any]) -> bool:
        """Whether the answer has no list because nothing was found."""
        return data.get("kind") == "customsearch#search"
