"""DuckDuckGo: pictures, and the pages that they are on."""

from __future__ import annotations

from typing import Any

from .ddg_json import DdgJson
from .json_kit import TAGS
from .kit import Details, SearchResult, plain_text

_PERIODS = {"day": "Day", "week": "Week", "month": "Month"}


class DdgImages(DdgJson):
    """Requests ``i.js``."""

    name = "ddg_images"
    title = "DuckDuckGo Images"
    script = "/i.js"
    kind = "images"
    per_page = 100

    def period_params(self, period: str) -> dict[str, str]:
        """The parameter that limits results to a period, which is one of several filters."""
        return {"f": f"time:{_PERIODS[period]},,,,,"}

    def result(self, row: dict[str, Any]) -> SearchResult:
        """The page that a picture is on."""
        size = f"{row.get('width')} × {row.get('height')}" if row.get("width") and row.get("height") else ""
        return SearchResult(
            plain_text(row["title"], TAGS), str(row["url"]), size, self.name, details=Details(image=str(row["image"]))
        )
