"""DuckDuckGo: news."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from .ddg_kit import DdgJson
from .json_kit import TAGS
from .kit import Details, SearchResult, number_of, plain_text


class DdgNews(DdgJson):
    """Requests ``news.js``."""

    name = "ddg_news"
    title = "DuckDuckGo News"
    script = "/news.js"
    kind = "news"
    per_page = 30

    def result(self, row: dict[str, Any]) -> SearchResult:
        """An article."""
        seconds = number_of(row.get("date"))
        day = datetime.fromtimestamp(seconds, UTC).date().isoformat() if seconds else None
        details = Details(venue=plain_text(row.get("source")), image=str(row.get("image") or ""))
        about = plain_text(row.get("excerpt"), TAGS)
        title = plain_text(row["title"], TAGS)
        return SearchResult(title, str(row["url"]), about, self.name, published_at=day, details=details)
