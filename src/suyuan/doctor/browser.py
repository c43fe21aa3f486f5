"""Chrome, which Google and pages made by scripts need."""

from __future__ import annotations

from ..wiring import House
from .engines import chosen
from .finding import Finding


async def examine(house: House) -> list[Finding]:
    """Whether pages can be shown in a browser; that they cannot is an illness only where somebody needs it."""
    problem = house.network.browser_problem()
    if problem is None:
        return [Finding.well("browser", "Chrome or Chromium can be used.", "可以使用 Chrome 或 Chromium。")]
    if chosen(house, "google") or house.settings.pages.render or house.settings.browser.executable:
        return [Finding.ill("browser", problem)]
    (en, cure), (zh, cure_zh) = problem.say("en"), problem.say("zh")
    unused_en, unused_zh = "Only Google and `fetch --render` need it.", "只有 Google 和 `fetch --render` 需要它。"
    return [Finding.well("browser", f"{en} {unused_en} {cure}", f"{zh}{unused_zh}{cure_zh}", code="unused")]
