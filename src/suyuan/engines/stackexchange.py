"""Stack Exchange: questions and answers of Stack Overflow or another of its sites."""

from __future__ import annotations

import re
from typing import Any

from .json_kit import TAGS, any_json, error_text, number_of, plain_text, texts, value_at
from .kit import RATE_LIMITED, Details, JsonEngine, Request, Response, SearchQuery, Setting, text

_SECONDS = re.compile(r"(?<!\d)(\d++) seconds")
_THROTTLED = 502


class StackExchange(JsonEngine):
    """Requests ``/2.3/search/advanced``; a refusal is an error number in the body."""

    name = "stackexchange"
    title = "Stack Exchange"
    default_url = "https://api.stackexchange.com"
    aliases = ("stackoverflow",)
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
    columns = ("title", "link", "body", "creation_date")
    html = True
    longest_snippet = 400

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of questions with their text."""
        params = {"q": text, "site": self.option("site"), "sort": "relevance", "order": "desc", "filter": "withbody"}
        params |= {"pagesize": str(query.count), "page": str(query.page)}
        if query.freshness:
            start, end = query.freshness.seconds(self.today())
            params |= {"fromdate": str(start), "todate": str(end)}
        request = Request.get(f"{self.base_url}/2.3/search/advanced", params)
        return request.with_secret("key", self.settings.api_key)

    def check(self, response: Response) -> None:
        """Raise what a status stands for; too many requests come with the status of a bad one."""
        if response.status == 400 and value_at(any_json(response), "error_id") == _THROTTLED:
            wait = _SECONDS.search(error_text(response, "error_message"))
            seconds = min(float(wait[1]), 3600.0) if wait else None
            raise RATE_LIMITED(engine=self.name, retry_after=seconds)
        super().check(response)

    def details(self, row: dict[str, Any]) -> Details:
        """What is known about a question."""
        return Details(
            authors=texts([plain_text(value_at(row, "owner.display_name"), TAGS)]),
            venue=self.option("site"),
            score=number_of(row.get("score")),
            comments=number_of(row.get("answer_count")),
            accepted="accepted_answer_id" in row,
            topics=texts(row.get("tags")),
        )
