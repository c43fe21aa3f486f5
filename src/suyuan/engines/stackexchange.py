"""Stack Exchange: questions and answers of Stack Overflow or another of its sites."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from .json_kit import TAGS, error_text, number_of, plain_text, texts, value_at
from .kit import RATE_LIMITED, Details, JsonEngine, Request, Response, SearchQuery, SearchResult, Setting, text

_SECONDS = re.compile(r"(\d+) seconds")
_THROTTLED = 502
_LONGEST_SNIPPET = 400


class StackExchange(JsonEngine):
    """Requests ``/2.3/search/advanced``; a refusal is an error number in the body."""

    name = "stackexchange"
    title = "Stack Exchange"
    default_url = "https://api.stackexchange.com"
    options = (
        Setting(
            "site", text(), "The site that is searched, such as superuser or math.", env="SITE", default="stackoverflow"
        ),
    )
    supported_params = frozenset({"freshness", "page"})
    rate_per_minute = 30
    burst = 5
    live_web = False
    longest_query = 240
    rows = "items"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of questions with their text."""
        params = {"q": text, "site": self.option("site"), "sort": "relevance", "order": "desc", "filter": "withbody"}
        params |= {"pagesize": str(query.count), "page": str(query.page)}
        if query.freshness:
            since, until = query.freshness.dates(self.today())
            params |= {
                "fromdate": _seconds(since),
                "todate": _seconds(until + timedelta(days=1) if until < date.max else until),
            }
        request = Request.get(f"{self.base_url}/2.3/search/advanced", params)
        return request.with_secret("key", self.settings.api_key)

    def check(self, response: Response) -> None:
        """Raise what a status stands for; too many requests come with the status of a bad one."""
        if response.status == 400 and self._error_number(response) == _THROTTLED:
            wait = _SECONDS.search(error_text(response, "error_message"))
            raise RATE_LIMITED(engine=self.name, retry_after=min(float(wait[1]), 3600.0) if wait else None)
        super().check(response)

    def _error_number(self, response: Response) -> int | None:
        try:
            return number_of(value_at(response.json(), "error_id"))
        except ValueError:
            return None

    def result(self, row: dict[str, Any]) -> SearchResult:
        """A question."""
        details = Details(
            authors=texts([plain_text(value_at(row, "owner.display_name"), TAGS)]),
            venue=self.option("site"),
            score=number_of(row.get("score")),
            comments=number_of(row.get("answer_count")),
            accepted="accepted_answer_id" in row,
            topics=texts(row.get("tags")),
        )
        body = plain_text(row.get("body"), TAGS)[:_LONGEST_SNIPPET]
        asked = number_of(row.get("creation_date"))
        day = str(datetime.fromtimestamp(asked, UTC).date()) if asked is not None else None
        return SearchResult(
            plain_text(row["title"], TAGS), str(row["link"]), body, self.name, published_at=day, details=details
        )


def _seconds(day: date) -> str:
    return str(max(int(datetime.combine(day, time(), UTC).timestamp()), 0))
