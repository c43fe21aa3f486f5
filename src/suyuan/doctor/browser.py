"""Chrome, which Google and pages made by scripts need."""

from __future__ import annotations

from ..client import AsyncClient
from ..messages.catalog import Text
from .engines import chosen
from .finding import Finding


async def examine(client: AsyncClient) -> list[Finding]:
    """Whether pages can be shown in a browser; that they cannot is an illness only where somebody needs it."""
    problem = client.network.browser_problem()
    if problem is None:
        return [Finding.well("browser", Text("doctor.ok.browser"))]
    if chosen(client, "google") or client.settings.pages.render or client.settings.browser.executable:
        return [Finding.ill("browser", problem)]
    return [Finding.well("browser", Text("doctor.ok.browser_unused", {"problem": problem.failure}), code="unused")]
