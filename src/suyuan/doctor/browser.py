"""Chrome, which Google and pages made by scripts need."""

from __future__ import annotations

from ..client import AsyncClient
from .engines import chosen
from .finding import Finding


async def examine(client: AsyncClient) -> list[Finding]:
    """Whether pages can be shown in a browser; that they cannot is an illness only where somebody needs it."""
    problem = client.network.browser_problem()
    if problem is None:
        return [Finding.well("browser", "Chrome or Chromium can be used.", "可以使用 Chrome 或 Chromium。")]
    if chosen(client, "google") or client.settings.pages.render or client.settings.browser.executable:
        return [Finding.ill("browser", problem)]
    (en, hint), (zh, hint_zh) = problem.say("en"), problem.say("zh")
    unused_en, unused_zh = "Only Google and `fetch --render` need it.", "只有 Google 和 `fetch --render` 需要它。"
    return [Finding.well("browser", f"{en} {unused_en} {hint}", f"{zh}{unused_zh}{hint_zh}", code="unused")]
