"""Shared links: the page behind one, and the dialog that makes, lists and revokes them."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from ..chat.verdicts import checks
from .markdown_stream import render
from .page import render_page
from .people_api import own_shares, shared_messages

router = APIRouter(include_in_schema=False)


@router.get("/s/{token}")
async def shared_page(request: Request, token: str) -> Response:
    """A conversation that somebody has shared."""
    title, messages = await shared_messages(request, token)
    turns = await asyncio.to_thread(lambda: list(map(_view, messages)))
    return render_page(request, "shared.html", title=title, turns=turns)


@router.get("/dialog/shares")
async def shares_dialog(request: Request, conversation: str) -> Response:
    """The dialog that makes a link to a conversation, and lists and revokes those that there are."""
    found = await own_shares(request, conversation)
    return render_page(request, "shares.html", shares=found, conversation=conversation)


def _view(message: dict[str, Any]) -> dict[str, Any]:
    answer = message["answer"] or {}
    blocks = render(message["text"], {}) if message["role"] == "assistant" else []
    return {
        "role": message["role"],
        "text": message["text"],
        "html": Markup("".join(blocks)),
        "unverified": answer.get("unverified", False),
        "checks": checks(answer),
    }
