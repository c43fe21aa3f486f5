"""Check of Chrome, which Google and pages rendered by scripts need."""

from __future__ import annotations

from ..client import AsyncClient
from ..messages.catalog import Text
from .finding import Finding


async def check(client: AsyncClient) -> list[Finding]:
    """Check whether pages can be rendered; a missing browser is a problem only where the configuration needs one."""
    problem = client.network.browser_problem()
    if problem is None:
        return [Finding.ok("browser", Text("doctor.ok.browser"))]
    if client.needs_browser:
        return [Finding.problem("browser", problem)]
    return [Finding.ok("browser", Text("doctor.ok.browser_unused", {"problem": problem.failure}), code="unused")]
