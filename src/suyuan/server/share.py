"""Shared links: the page behind one, and the dialog that makes, lists and revokes them."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup

from ..chat.verdicts import checks
from ..core.at_work import hidden
from ..markup.blocks import Labels, plain_block
from .layout import Layout
from .page import answer_html, render_page
from .people_api import own_shares, shared_messages
from .set_aside import SHARE, why_set_aside

router = APIRouter(include_in_schema=False)


@router.get("/s/{token}")
async def shared_page(request: Request, token: str) -> Response:
    """A conversation that somebody has shared."""
    title, messages = await shared_messages(request, token)
    why = await asyncio.to_thread(why_set_aside, request, SHARE, hidden(token))
    layout, labels = request.app.state.layout, answer_html(request).labels
    turns = [_plain_view(message, why) if why else await _view(message, layout, labels) for message in messages]
    return render_page(request, "shared.html", title=title, turns=turns)


@router.get("/dialog/shares")
async def shares_dialog(request: Request, conversation: str) -> Response:
    """The dialog that makes a link to a conversation, and lists and revokes those that there are."""
    found = await own_shares(request, conversation)
    return render_page(request, "shares.html", shares=found, conversation=conversation)


def _plain_view(message: dict[str, Any], why: str) -> dict[str, Any]:
    return {**message, "html": Markup(plain_block(message["text"], why))}


async def _view(message: dict[str, Any], layout: Layout, labels: Labels) -> dict[str, Any]:
    answer = message["answer"] or {}
    # Nothing can be copied by a button: the page has no script.
    plain = Labels(too_long=labels.too_long, too_slow=labels.too_slow)
    blocks = await layout.blocks(message["text"], {}, plain) if message["role"] == "assistant" else []
    return {
        "role": message["role"],
        "text": message["text"],
        "html": Markup("".join(blocks)),
        "unverified": answer.get("unverified", False),
        "checks": checks(answer),
    }
