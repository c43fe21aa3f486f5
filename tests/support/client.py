"""A client whose engines are on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from suyuan.client import AsyncClient
from suyuan.config.settings import SearchSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.core.secret import Secret

KEY = "sk-very-secret-key-0123456789"


@asynccontextmanager
async def client(
    urls: dict[str, str],
    *,
    cache_minutes: float = 0.0,
    rate: float = 0.0,
    seconds: float = 30.0,
    state_dir: Path | None = None,
    **search: Any,
) -> AsyncIterator[AsyncClient]:
    """A client with the engines ``urls`` at these addresses; all others lead nowhere."""
    nowhere = "http://127.0.0.1:9"
    names = ("searxng", "brave", "bocha", "ddg_html", "baidu_html", "bing_html")
    engines = {
        name: EngineSettings(
            base_url=urls.get(name, nowhere),
            api_key=Secret(KEY if name in urls and name in ("brave", "bocha") else ""),
            rate_per_minute=rate,
        )
        for name in names
    }
    search_settings = SearchSettings(cache_minutes=cache_minutes, seconds=seconds, **search)
    settings = Settings(search=search_settings, engines=engines, state_dir=state_dir)
    async with AsyncClient(settings) as opened:
        yield opened
