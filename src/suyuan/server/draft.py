"""The settings of a conversation that has no message yet: the search switch is the person's, a cookie has the rest."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel
from starlette.requests import HTTPConnection

from ..chat.commands import parse_command
from ..client import AsyncClient
from ..core.causes.chat import SWITCH_LOCKED
from ..core.errors import SuyuanError
from . import schemas as s
from .api import client_from

router = APIRouter(prefix="/api", include_in_schema=False)

COOKIE = "draft"
_FIELDS = ("mode", "search", "engine", "model", "focus")
_IN_COOKIE = tuple(name for name in _FIELDS if name != "search")


class SearchSwitchLeft(BaseModel):
    """How the person left the search switch."""

    on: bool


class DraftChange(s.ConversationChange):
    """Settings to change, or a command such as ``/search on``."""

    command: str = ""


def draft_settings(client: AsyncClient, connection: HTTPConnection) -> dict[str, Any]:
    """The settings that a new conversation begins with, as the user left them; waits for the disk."""
    search = client.chat.search_switch.setting()
    usual = {"mode": "chat", "search": search, "engine": "", "model": "", "focus": ""}
    kept = _read(connection.cookies.get(COOKIE, ""))
    try:
        return checked(client, usual | kept)
    except (ValueError, SuyuanError):
        # Of another version, or an engine or model that is gone.
        return usual


@router.patch("/draft")
async def change_draft(request: Request, body: DraftChange) -> Response:
    """Change the settings of the conversation that begins with the next message, which is stored with it."""
    client = client_from(request)
    draft = await client.chat.read(draft_settings, client, request)
    change = body.model_dump(include=set(_FIELDS), exclude_none=True)
    command = parse_command(body.command) if body.command else None
    if command is not None and command.name != "help":
        change = {command.name: command.value}
    after = checked(client, draft | change)
    if "search" in change and after["mode"] == "agent":
        raise SWITCH_LOCKED()
    if "search" in change:
        await client.chat.keep_switch(after["search"])
    answer = JSONResponse({"settings": after, "command": command.name if command else ""})
    answer.set_cookie(COOKIE, _written(after), samesite="strict")
    return answer


@router.put("/search-switch", status_code=204)
async def leave_search_switch(request: Request, body: SearchSwitchLeft) -> Response:
    """Begin the next conversations of this person with the switch as they left it in another one."""
    await client_from(request).chat.keep_switch(body.on)
    return Response(status_code=204)


def checked(client: AsyncClient, given: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a conversation as values that exist here; raises where one does not."""
    settings = s.NewConversation.model_validate(given).model_dump(include=set(_FIELDS))
    client.chat.sessions.check(**{name: settings[name] for name in ("mode", "model", "engine", "focus")})
    return settings


def _written(settings: dict[str, Any]) -> str:
    kept = {name: settings[name] for name in _IN_COOKIE}
    written = json.dumps(kept, separators=(",", ":"))
    return urlsafe_b64encode(written.encode()).decode().rstrip("=")


def _read(cookie: str) -> dict[str, Any]:
    try:
        found = json.loads(urlsafe_b64decode(cookie + "=" * (-len(cookie) % 4)))
    except ValueError:
        return {}
    return {name: found[name] for name in _IN_COOKIE if name in found} if isinstance(found, dict) else {}
