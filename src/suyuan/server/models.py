"""Connecting a model on the page: what runs on this machine, a test, and models that the server keeps.

A key goes from the browser to the server once, and never back.
"""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from ..client import AsyncClient
from ..core.causes.asked import BAD_ARGUMENT
from ..core.errors import SuyuanError
from ..core.person import require
from ..doctor.model import check_server, listed_models
from ..llm.settings import ModelSettings
from ..messages.catalog import Text
from .api import client_from
from .errors import language_of
from .page import render_page
from .schemas import ApiKey, BaseUrl, example

router = APIRouter(tags=["models"])

# Programs that serve models, where they listen by default.
_LOCAL = (
    ("Ollama", "http://127.0.0.1:11434/v1"),
    ("LM Studio", "http://127.0.0.1:1234/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
    ("vLLM", "http://127.0.0.1:8000/v1"),
)
_PROBE_SECONDS = 1.5
_TEST_SECONDS = 30.0


class ServerIn(BaseModel):
    """A server with the interface of OpenAI."""

    model_config = example(base_url="http://127.0.0.1:11434/v1", name="qwen3")
    base_url: BaseUrl = Field(min_length=1)
    name: str = Field("", max_length=200)
    api_key: ApiKey = ""


def _settings(request: Request, body: ServerIn) -> ModelSettings:
    """The settings of a model for what was entered, which is for administrators."""
    require("admin")
    return client_from(request).connected_models.settings(body.base_url, body.name, body.api_key)


@router.get("/dialog/connect", include_in_schema=False)
async def connect_dialog(request: Request) -> Response:
    """The dialog that connects a model."""
    return render_page(request, "connect.html", connected=list(client_from(request).connected_models.all()))


@router.get("/api/models/local")
async def local_models(request: Request) -> dict[str, Any]:
    """The model servers that answer on this machine, with their models."""
    require("admin")
    client = client_from(request)
    found = await asyncio.gather(*(_local(client, title, url) for title, url in _LOCAL))
    return {"servers": [each for each in found if each]}


async def _local(client: AsyncClient, title: str, url: str) -> dict[str, Any] | None:
    settings = client.connected_models.settings(url, "", "")
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            names = await listed_models(client, settings)
    except (SuyuanError, TimeoutError):
        return None
    return {"title": title, "base_url": url, "models": names} if names else None


@router.post("/api/models/list")
async def list_server(request: Request, body: ServerIn) -> dict[str, Any]:
    """The models of a server."""
    return {"models": await listed_models(client_from(request), _settings(request, body))}


@router.post("/api/models/test")
async def test_model(request: Request, body: ServerIn) -> dict[str, Any]:
    """Whether a model can be reached, answers, streams and calls tools; an error comes with its hint."""
    findings = await check_server(client_from(request), _settings(request, body), _TEST_SECONDS)
    shown = [each.as_dict(language_of(request)) for each in findings]
    return {"ok": not any(each["level"] == "error" for each in shown), "findings": shown}


@router.post("/api/models", status_code=201)
async def connect_model(request: Request, body: ServerIn) -> dict[str, Any]:
    """Keep a model on the server; from now on it can be chosen in every conversation."""
    require("admin")
    if not body.name:
        raise BAD_ARGUMENT(name="name", why=Text("config.why.empty"))
    model = _settings(request, body)
    # In a thread, since another process may be writing.
    await asyncio.to_thread(client_from(request).connected_models.add, model)
    return {"name": model.label, "provider": model.provider}


@router.delete("/api/models/{name:path}", status_code=204)
async def disconnect_model(request: Request, name: str) -> Response:
    """Forget a model that was connected, and its key."""
    require("admin")
    client = client_from(request)
    await asyncio.to_thread(client.connected_models.remove, name)
    await client.chat.sessions.close_unused()
    return Response(status_code=204)
