"""The passage behind a citation: the text of a source as it was read."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from markupsafe import Markup, escape

from ..chat.verdicts import checks
from ..client import AsyncClient
from ..core.document import Document
from .api import client_from
from .errors import language_of
from .page import answer_html, render_page
from .set_aside import ANSWER, refuse_set_aside
from .texts import PageTexts

router = APIRouter(include_in_schema=False)

_RUN = re.compile(r"\s+|\S+")


@router.get("/source/{run}/{number}")
async def source_page(request: Request, run: str, number: str) -> Response:
    """The text of a source as it was read, in case its page has changed or is gone."""
    await asyncio.to_thread(refuse_set_aside, request, ANSWER, run)
    client = client_from(request)
    kept = await client.chat.read(client.chat.store.message, run)
    answer = (kept.answer if kept else None) or {}
    source = next((each for each in answer.get("sources", ()) if str(each["number"]) == number), None)
    if kept is None or source is None:
        t = PageTexts(language_of(request))
        return render_page(request, "error.html", 404, message=t("source.none.title"), hint=t("source.none.hint"))
    quotes = [check["quote"] for check in checks(answer) if check["number"] == source["number"] and check["quote"]]
    document = await _cited_text(client, source)
    text = document.text if document else source["snippet"]
    marked, found = await asyncio.to_thread(highlight, text, quotes)
    parts = answer_html(request)
    return render_page(
        request,
        "source.html",
        source=source,
        quotes=quotes,
        text=marked,
        found=found,
        document=document,
        where=source.get("read_from") or (document.final_url if document else ""),
        when=parts.when(source.get("read_at") or (document.fetched_at if document else kept.created_at)),
        back=f"/c/{kept.conversation}",
    )


async def _cited_text(client: AsyncClient, source: Mapping[str, Any]) -> Document | None:
    """The text that was read for the answer, even if the page has changed since; None if it is not archived."""
    if client.archive is None:
        return None
    if "sha256" not in source:
        # An answer of an older release.
        return await client.archive.get(source["url"])
    return await client.archive.version(source["sha256"]) if source["sha256"] else None


def highlight(text: str, quotes: list[str]) -> tuple[Markup, bool]:
    """``text`` with all quotes marked, whatever their line breaks, and whether there is any."""
    squeezed, offsets = _squeeze(text)
    places: set[tuple[int, int]] = set()
    for quote in dict.fromkeys(" ".join(quote.split()) for quote in quotes):
        if quote:
            places.update(_places(squeezed, offsets, quote))
    parts, at = [], 0
    # Of two at one place, the longer one.
    for start, end in sorted(places, key=lambda place: (place[0], -place[1])):
        if start >= at:
            parts += [escape(text[at:start]), Markup("<mark>{}</mark>").format(text[start:end])]
            at = end
    return Markup().join([*parts, escape(text[at:])]), at > 0


def _squeeze(text: str) -> tuple[str, list[int]]:
    """The text with one blank for all space between words, and where each of its characters stands in the text."""
    parts: list[str] = []
    offsets: list[int] = []
    for run in _RUN.finditer(text):
        if run[0].isspace():
            parts.append(" ")
            offsets.append(run.start())
        else:
            parts.append(run[0])
            offsets.extend(range(*run.span()))
    return "".join(parts), offsets


def _places(squeezed: str, offsets: list[int], quote: str) -> Iterator[tuple[int, int]]:
    """Where a quote stands in the text that was squeezed."""
    start = squeezed.find(quote)
    while start >= 0:
        end = start + len(quote)
        yield offsets[start], offsets[end - 1] + 1
        start = squeezed.find(quote, end)
