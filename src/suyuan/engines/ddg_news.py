"""DuckDuckGo: news."""

from __future__ import annotations

from typing import Any

from .ddg_json import DdgJson
from .kit import Details, plain_text


class DdgNews(DdgJson):
    """Requests ``news.js``."""

    name = "ddg_news"
    title = "DuckDuckGo News"
    script = "/news.js"
    kind = "news"
    per_page = 30
    columns = ("title", "url", "excerpt", "date")
    html = True

    def details(self, row: dict[str, Any]) -> Details:
        """The source of an article, and its picture."""
        return Details(venue=plain_text(row.get("source")), image=str(row.get("image") or ""))
