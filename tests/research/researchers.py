"""Clients of the demo web whose research jobs outlive them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from suyuan.client import AsyncClient
from suyuan.demo.web import DemoWeb


class Researchers:
    """Clients of the demo web that share one data folder."""

    def __init__(self, web: DemoWeb, folder: Path) -> None:
        self.web = web
        self.folder = folder

    def client(self, **changes: Any) -> AsyncClient:
        settings = replace(self.web.settings(), data_dir=self.folder, **changes)
        return self.web.client(settings)

    def requests(self, since: int = 0) -> list[str]:
        """The pages and searches that were asked for, after so many requests."""
        return [each for each in self.web.requests[since:] if not each.endswith("/robots.txt")]
