"""The passage behind a citation: the text of a source as it was read."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
from .texts import PageTexts

router = APIRouter(include_in_schema=False)


@router.get("/source/{run}/{number}")
async def source_page(request: Request, run: str, number: str) -> Response:
    """The text of a source as it was read, in case its page has changed or is gone."""
    client = client_from(request)
    kept = await client.chat.read(client.chat.store.message, run)
    answer = (kept.answer if kept else None) or {}
    source = next((each for each in answer.get("sources", ()) if str(each["number"]) == number), None)
    if kept is None or source is None:
        t = PageTexts(language_of(request))
        return render_page(request, "error.html", 404, message=t("source.none.title"), hint=t("source.none.hint"))
    quotes = [check["quote"] for check in checks(answer) if check["number"] == source["number"] and check["quote"]]
    document = await _cited_text(client, source)
    marked, found = highlight(document.text if document else source["snippet"], quotes)
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
    wanted = [
        r"\s+".join(re.escape(word) for word in quote.split()) for quote in dict.fromkeys(quotes) if quote.strip()
    ]
    if not wanted:
        return escape(text), False
    html, at = Markup(), 0
    for found in re.finditer("|".join(sorted(wanted, key=len, reverse=True)), text):
        html += escape(text[at : found.start()]) + Markup("<mark>{}</mark>").format(found[0])
        at = found.end()
    return html + escape(text[at:]), at > 0
