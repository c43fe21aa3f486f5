"""What was set aside, cut, dropped or started anew, for the page and for programs."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from ..client import AsyncClient
from ..core.kept_files import tell_missing
from .api import FAILURES, client_from
from .errors import language_of

router = APIRouter(prefix="/api/notices", responses=FAILURES, tags=["status"])


class NoticeOut(BaseModel):
    """One notice: what happened, when, to which file, and what helps."""

    id: str
    at: str
    file: str
    code: str
    message: str
    hint: str | None


class NoticeList(BaseModel):
    """The notices that nobody has dismissed yet, newest first."""

    notices: list[NoticeOut]


class Dismissal(BaseModel):
    """Which notice was seen."""

    id: str = Field("", max_length=40, description="The id of a notice; empty for all of them.")


class Dismissed(BaseModel):
    """How many notices were dismissed."""

    dismissed: int


@router.get("", response_model=NoticeList)
async def list_notices(request: Request) -> dict[str, Any]:
    """What was set aside, cut, dropped or started anew and not dismissed yet."""
    lang = language_of(request)
    return {"notices": await asyncio.to_thread(open_notices, client_from(request), lang)}


@router.post("/dismiss", response_model=Dismissed)
async def dismiss_notices(request: Request, body: Dismissal) -> dict[str, int]:
    """Do not show a notice again."""
    client = client_from(request)
    return {"dismissed": await asyncio.to_thread(_dismiss, client, body.id)}


def open_notices(client: AsyncClient, lang: str) -> list[dict[str, Any]]:
    """The notices for the person who asks, newest first; waits for the disk."""
    seen = client.notices()
    tell_missing(notices.folder for notices in seen if notices.folder is not None)
    found = [notice for notices in seen for notice in notices.open()]
    found.sort(key=lambda notice: notice.at, reverse=True)
    return [notice.published(lang) for notice in found]


def _dismiss(client: AsyncClient, id: str) -> int:
    return sum(notices.dismiss(id) for notices in client.notices())
