"""Bocha 博查: a paid API with Chinese results and summaries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..core.causes.engine import API_SAID_NO, KEY_REJECTED, RATE_LIMITED, UPSTREAM_BROKEN
from ..core.errors import WebParseError
from ..core.freshness import Freshness
from ..core.http_status import check_status, retry_after
from ..core.query import SearchQuery
from ..core.result import EngineResults, SearchResult
from ..core.setting import Setting, whole
from ..core.wire import Request, Response
from .json_kit import JsonEngine, day_of, plain_text, value_at


class Bocha(JsonEngine):
    """Requests ``/v1/web-search``; errors are a code in the body, as a string or a number."""

    name = "bocha"
    title = "博查 Bocha"
    default_url = "https://api.bochaai.com"
    auto_rank = 3
    auto_rank_zh = 2
    api_key_env = "BOCHA_API_KEY"
    options = (
        Setting(
            "topKDefault", whole(1, 50), "Fewest results to ask for, whatever the query says.", env="TOP_K_DEFAULT"
        ),
    )
    supported_params = frozenset({"freshness", "allowed_domains", "blocked_domains", "need_summary"})
    longest_query = 2000
    rows = "data.webPages.value"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request ``count`` results, with summaries if the query needs them."""
        data: dict[str, Any] = {
            "query": text,
            "freshness": _freshness(query.freshness),
            "summary": query.need_summary,
            "count": min(max(query.count, self.option("topKDefault") or 0), 50),
        }
        if query.allowed_domains:
            data["include"] = "|".join(query.allowed_domains)
        if query.blocked_domains:
            data["exclude"] = "|".join(query.blocked_domains)
        headers = {**self.bearer(), "Accept": "application/json"}
        return Request.post_json(f"{self.base_url}/v1/web-search", data, headers)

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse the JSON answer, with the id of the request."""
        results = super().parse(response, query)
        return replace(results, request_id=str(self.object(response).get("log_id") or ""))

    def check(self, response: Response) -> None:
        """Raise what a status stands for, where the body has no code."""
        if response.status >= 500 or 300 <= response.status < 400:
            check_status(response, self.name)
        try:
            super().object(response)
        except WebParseError:
            # A gateway in front of Bocha refuses without JSON; then the status says more.
            check_status(response, self.name)
            raise

    def check_data(self, data: dict[str, Any], response: Response) -> None:
        """Raise what the code in the body stands for."""
        code = str(data.get("code", response.status))
        said = str(data.get("message") or data.get("msg") or f"code {code}")[:200]
        if code == "200" and response.status == 200:
            return
        if code in ("401", "403"):
            # With 403 Bocha says that the account is empty.
            raise KEY_REJECTED(engine=self.name, said=said)
        if code == "429":
            raise RATE_LIMITED(engine=self.name, retry_after=retry_after(response))
        if code.startswith("5") and len(code) == 3:
            raise UPSTREAM_BROKEN(engine=self.name, status=code)
        raise API_SAID_NO(engine=self.name, said=said)

    def found_nothing(self, data: dict[str, Any]) -> bool:
        """Whether the answer has no list because nothing was found."""
        return isinstance(data.get("data"), dict) and value_at(data, "data.webPages") is None

    def result(self, row: dict[str, Any]) -> SearchResult:
        """A page."""
        title, about = plain_text(row.get("name")), plain_text(row.get("snippet"))
        day, summary = day_of(row.get("datePublished")), str(row.get("summary") or "")
        return SearchResult(title, str(row["url"]), about, self.name, published_at=day, summary=summary)


def _freshness(fresh: Freshness | None) -> str:
    if fresh is None:
        return "noLimit"
    if fresh.period:
        return "one" + fresh.period.title()
    return f"{fresh.since or '1990-01-01'}..{fresh.until}" if fresh.until else f"{fresh.since}..2999-12-31"
