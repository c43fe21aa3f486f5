"""Engines on the page: the keys and addresses that they need, a test, and what the server keeps of them.

A key goes from the browser to the server once, and never back.
"""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from ..client import AsyncClient
from ..core.causes.asked import UNKNOWN_ENGINE
from ..core.engine import EngineSettings
from ..core.errors import SuyuanError
from ..core.person import require
from ..doctor.engines import check_settings
from .api import FAILURES, client_from
from .errors import language_of
from .schemas import ApiKey, BaseUrl, example

router = APIRouter(prefix="/api/engines", responses=FAILURES, tags=["engines"])


class EngineIn(BaseModel):
    """What an engine needs; what is empty stays as it is configured."""

    model_config = example(api_key="…")
    api_key: ApiKey = ""
    base_url: BaseUrl = ""
    options: dict[str, str] = Field(
        {}, max_length=100, description="Other settings of the engine, such as the cx of google_cse."
    )


def needs(client: AsyncClient, name: str) -> tuple[str, ...]:
    """What can be entered for an engine: its key, its address, the options that it cannot do without."""
    try:
        return client.engines[name].engine.entered_settings
    except SuyuanError:
        # A package that cannot be loaded.
        return ()


def _entered(client: AsyncClient, name: str, body: EngineIn) -> tuple[dict[str, Any], EngineSettings]:
    """What was entered as it is kept, and the settings that come of it."""
    require("admin")
    if name not in client.engines or not needs(client, name):
        raise UNKNOWN_ENGINE(name=name[:40], known=", ".join(each for each in client.engines if needs(client, each)))
    entered = body.model_dump()
    return entered, client.connected_engines.settings(name, entered)


@router.post("/{name}/test")
async def test_engine(request: Request, name: str, body: EngineIn) -> dict[str, Any]:
    """Whether an engine answers with this key or address; an error comes with its hint."""
    client = client_from(request)
    _, settings = _entered(client, name, body)
    secrets = (*client.settings.secrets, settings.api_key)
    findings = [each.redacted(secrets) for each in await check_settings(client, name, settings)]
    shown = [each.as_dict(language_of(request)) for each in findings]
    return {"ok": not any(each["level"] == "error" for each in shown), "findings": shown}


@router.put("/{name}", status_code=204)
async def connect_engine(request: Request, name: str, body: EngineIn) -> Response:
    """Keep a key or an address on the server; from now on the engine is asked with it."""
    client = client_from(request)
    entered, _ = _entered(client, name, body)
    # In a thread, since another process may be writing.
    await asyncio.to_thread(client.connected_engines.add, name, entered)
    _use(request)
    return Response(status_code=204)


@router.delete("/{name}", status_code=204)
async def disconnect_engine(request: Request, name: str) -> Response:
    """Forget what was entered for an engine; what is configured counts again."""
    require("admin")
    await asyncio.to_thread(client_from(request).connected_engines.remove, name)
    _use(request)
    return Response(status_code=204)


def _use(request: Request) -> None:
    client_from(request).connect_engines()
    request.app.state.health.start()
