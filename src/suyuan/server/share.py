"""Shared links: the page behind one, and the dialog that makes, lists and revokes them."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from ..chat.verdicts import checks, verdict_text
from ..core.errors import SuyuanError
from .errors import language_of
from .markdown_stream import render
from .page import error_page, render_page
from .people_api import own_shares, shared_messages

router = APIRouter(include_in_schema=False)


@router.get("/s/{token}")
async def shared_page(request: Request, token: str) -> Response:
    """A conversation that somebody has shared."""
    try:
        title, messages = await shared_messages(request, token)
    except SuyuanError as error:
        return error_page(request, error)
    lang = language_of(request)
    turns = await asyncio.to_thread(lambda: [_view(each, lang) for each in messages])
    return render_page(request, "shared.html", title=title, turns=turns)


@router.get("/dialog/shares")
async def shares_dialog(request: Request, conversation: str) -> Response:
    """The dialog that makes a link to a conversation, and lists and revokes those that there are."""
    found = await own_shares(request, conversation)
    return render_page(request, "shares.html", shares=found, conversation=conversation)


def _view(message: dict[str, Any], lang: str) -> dict[str, Any]:
    answer = message["answer"] or {}
    blocks = render(message["text"], {}) if message["role"] == "assistant" else []
    found = [{**check, "words": verdict_text(check, lang)} for check in checks(answer)]
    return {
        "role": message["role"],
        "text": message["text"],
        "html": Markup("".join(blocks)),
        "unverified": answer.get("unverified", False),
        "checks": found,
    }
