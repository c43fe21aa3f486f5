"""GitHub: repositories or issues. A token is optional and allows more requests."""

from __future__ import annotations

from typing import Any

from ..core.causes.engine import RATE_LIMITED
from .json_kit import number_of, plain_text, texts, value_at
from .kit import Details, JsonEngine, Request, Response, SearchQuery, SearchResult, Secret, Setting, choice, read_date

_MAX_SNIPPET = 400


class GitHub(JsonEngine):
    """Requests ``/search/repositories`` or ``/search/issues``; dates are written into the query."""

    name = "github"
    title = "GitHub"
    default_url = "https://api.github.com"
    options = (
        Setting("kind", choice("repositories", "issues"), "What is searched.", env="KIND", default="repositories"),
    )
    supported_params = frozenset({"freshness", "page"})
    # Ten searches a minute without a token.
    rate_per_minute = 10
    burst = 3
    live_web = False
    longest_query = 200
    rows = "items"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of results."""
        kind = self.option("kind")
        if query.freshness:
            since, until = query.freshness.dates(self.today())
            text += f" {'pushed' if kind == 'repositories' else 'created'}:{since}..{until}"
        headers: dict[str, str | Secret] = {
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        if key := self.settings.api_key:
            headers["Authorization"] = Secret(f"Bearer {key.reveal()}")
        return Request.get(
            f"{self.base_url}/search/{kind}",
            {"q": text, "per_page": str(query.count), "page": str(query.page)},
            headers,
        )

    def check(self, response: Response) -> None:
        """Raise what a status stands for; with no requests left GitHub says 403 and when there are some again."""
        reset = response.headers.get("x-ratelimit-reset", "")
        is_used_up = response.headers.get("x-ratelimit-remaining") == "0"
        if response.status in (403, 429) and is_used_up and reset.isdecimal():
            now = response.at.timestamp() if response.at else float(reset)
            raise RATE_LIMITED(engine=self.name, retry_after=min(max(float(reset) - now, 0.0), 3600.0))
        super().check(response)

    def result(self, row: dict[str, Any]) -> SearchResult:
        """A repository or an issue."""
        is_repository = "full_name" in row
        body, title = ("description", "full_name") if is_repository else ("body", "title")
        details = Details(
            authors=texts([value_at(row, "owner.login") or value_at(row, "user.login")]),
            stars=number_of(row.get("stargazers_count")),
            comments=number_of(row.get("comments")),
            topics=texts([row.get("language")]) + (texts(row.get("topics")) or texts(row.get("labels"), "name")),
        )
        snippet = plain_text(row.get(body))[:_MAX_SNIPPET]
        day = read_date(str(row.get("pushed_at") or row.get("created_at") or "")[:10])
        return SearchResult(
            plain_text(row[title]), str(row["html_url"]), snippet, self.name, published_at=day, details=details
        )
