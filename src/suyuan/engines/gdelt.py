"""GDELT: news of the last months from all over the world."""

from __future__ import annotations

from typing import Any

from ..core.causes.engine import API_SAID_NO
from ..core.errors import WebParseError
from .json_kit import plain_text
from .kit import Details, EngineResults, JsonEngine, Request, Response, SearchQuery, SearchResult, read_date
from .query_kit import locale

_LANGUAGES = {
    "ar": "arabic", "bg": "bulgarian", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "fi": "finnish", "fr": "french", "he": "hebrew", "hi": "hindi", "hu": "hungarian",
    "id": "indonesian", "it": "italian", "ja": "japanese", "ko": "korean", "nl": "dutch", "no": "norwegian",
    "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish", "th": "thai",
    "tr": "turkish", "uk": "ukrainian", "vi": "vietnamese", "zh": "chinese",
}  # fmt: skip
_TIMESPANS = {"day": "1d", "week": "1w", "month": "1m", "year": "1y"}


class Gdelt(JsonEngine):
    """Requests ``/api/v2/doc/doc``; language and domains are written into the query, errors come as plain text."""

    name = "gdelt"
    title = "GDELT"
    default_url = "https://api.gdeltproject.org"
    supported_params = frozenset({"lang", "freshness", "allowed_domains", "blocked_domains"})
    # One request in five seconds.
    rate_per_minute = 12
    live_web = False
    longest_query = 200
    rows = "articles"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request a list of articles."""
        words = [text]
        if name := _LANGUAGES.get(query.lang.partition("-")[0] or locale(query)[0]):
            words.append(f"sourcelang:{name}")
        either = " OR ".join(f"domainis:{domain}" for domain in query.allowed_domains)
        words += [f"({either})" if len(query.allowed_domains) > 1 else either] if either else []
        words += [f"-domainis:{domain}" for domain in query.blocked_domains]
        params = {"query": " ".join(words), "mode": "artlist", "format": "json", "sort": "hybridrel"}
        params["maxrecords"] = str(query.count)
        if fresh := query.freshness:
            if fresh.period:
                params["timespan"] = _TIMESPANS[fresh.period]
            else:
                since, until = (day.isoformat().replace("-", "") for day in fresh.dates(self.today()))
                params["startdatetime"] = f"{since}000000"
                params["enddatetime"] = f"{until}235959"
        return Request.get(f"{self.base_url}/api/v2/doc/doc", params)

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse the list; an empty object means that there is nothing, a line of text is an error."""
        try:
            return super().parse(response, query)
        except WebParseError:
            text = response.text.strip()
            if response.status != 200:
                raise
            if text == "{}":
                return EngineResults()
            is_line = 0 < len(text) < 300 and text.isprintable()
            if is_line and not text.startswith(("<", "{", "[")):
                raise API_SAID_NO(engine=self.name, said=text[:200]) from None
            raise

    def result(self, row: dict[str, Any]) -> SearchResult:
        """An article."""
        seen = str(row.get("seendate") or "")
        day = read_date(f"{seen[:4]}-{seen[4:6]}-{seen[6:8]}")
        source = plain_text(row.get("domain"))
        where = ", ".join(part for part in (source, plain_text(row.get("sourcecountry"))) if part)
        return SearchResult(
            plain_text(row["title"]), str(row["url"]), where, self.name, published_at=day, details=Details(venue=source)
        )
