"""A server that stops does not wait for ever: a request that is not done then is told so, as JSON, with 503."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.serving import client, serving, settings_of
from support.timing import PATIENCE


async def test_a_request_that_is_not_done_when_the_server_stops_gets_503(caplog: pytest.LogCaptureFixture) -> None:
    begun = asyncio.Event()
    with serving(settings_of()) as served:
        loop = asyncio.get_running_loop()

        async def held() -> Any:
            loop.call_soon_threadsafe(begun.set)
            # Longer than the server waits, as when what answers need is being imported.
            await asyncio.Event().wait()

        served.app.add_api_route("/api/held", held, methods=["POST"])
        async with client(served.url) as ask, asyncio.timeout(PATIENCE):
            asked = asyncio.create_task(ask("POST", "/api/held", {}))
            await begun.wait()
            served.server.should_exit = True
            status, answer = await asked
    assert status == 503 and answer["error"]["detail_code"] == "shutting_down"
    assert "Exception in ASGI application" not in caplog.text
