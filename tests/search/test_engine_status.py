"""The status of an engine, which every view of the engines shows."""

from __future__ import annotations

from support.client import client
from suyuan.client import AsyncClient
from suyuan.config.settings import Settings
from suyuan.core.causes.browser import CHROME_MISSING
from suyuan.core.causes.engine import ENGINE_BUG
from suyuan.core.engine import EngineSettings, SearchEngine
from suyuan.search.engine_status import status_of


async def test_an_engine_is_ready_unless_it_lacks_something() -> None:
    async with client({"ddg_html": "http://127.0.0.1:9"}) as opened:
        ready = opened.engines.status("ddg_html")
        assert (ready.ready, ready.state, ready.title) == (True, "ready", "DuckDuckGo")
        assert (ready.address, ready.key_variable, ready.cooldown) == ("http://127.0.0.1:9", "", 0.0)
        lacking = opened.engines.status("brave")
        assert (lacking.ready, lacking.state, lacking.key_variable) == (False, "no_key", "BRAVE_API_KEY")


async def test_an_engine_that_refused_waits() -> None:
    async with client({"ddg_html": "http://127.0.0.1:9"}) as opened:
        opened.engines["ddg_html"].breaker.refused("http_429", 30.0)
        status = opened.engines.status("ddg_html")
        assert status.state == "circuit_open" and not status.ready and 25 < status.cooldown <= 30
        opened.engines["ddg_html"].breaker.succeeded()


async def test_only_an_engine_that_needs_a_browser_lacks_one() -> None:
    missing = CHROME_MISSING()
    async with client({}) as opened:
        google, other = (status_of(opened.engines[name], missing) for name in ("google", "ddg_html"))
        assert (google.state, google.problem) == ("no_browser", missing)
        assert other.problem is None and other.state != "no_browser"


def refusing(_: EngineSettings | None) -> SearchEngine:
    raise ENGINE_BUG(engine="odd", what="it cannot be imported")


async def test_one_that_cannot_be_loaded_says_why() -> None:
    async with AsyncClient(Settings(), engines={"odd": refusing}) as opened:
        status = opened.engines.status("odd")
        assert (status.state, status.ready) == ("broken", False)
        assert status.problem is not None and "it cannot be imported" in status.problem.message
