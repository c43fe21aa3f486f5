"""``verify``: reads the pages of a report again and says which of its claims still hold."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..citations.claims import verdict_of
from ..citations.matching import SourceText, Statement, match
from ..core.allowance import FOR_A_JOB, current_allowance
from ..core.causes.research import NOT_A_REPORT
from ..core.document import Document
from ..core.errors import SuyuanError
from ..core.person import require
from .report import ledger_ids
from .web import Web

_PARALLEL = 8


def read_report(file: Path) -> dict[str, Any]:
    """The report in ``file``; raises a cause where it is none."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(data, dict) and isinstance(data["claims"], list) and isinstance(data["ledger"], list):
            return data
    except (OSError, ValueError, KeyError):
        pass
    raise NOT_A_REPORT(file=str(file))


async def verify(report: Mapping[str, Any], web: Web) -> dict[str, Any]:
    """Each claim with what its pages say now; one holds if any page that it cites still says so."""
    require("read")
    # It is as much work as an answer.
    await current_allowance.get().take("answers", *FOR_A_JOB)
    claims = [claim for claim in report["claims"] if claim["kept"]]
    rows = {row["id"]: row for row in report["ledger"]}
    urls = sorted({rows[id]["final_url"] for id in ledger_ids(claims) if id in rows})
    slots = asyncio.Semaphore(_PARALLEL)

    async def one(url: str) -> Document | SuyuanError:
        async with slots:
            try:
                return await web.read(url, fresh=True)
            except SuyuanError as error:
                return error

    pages = dict(zip(urls, await asyncio.gather(*(one(url) for url in urls)), strict=True))
    # In a thread, since each sentence is compared with whole pages.
    checked = await asyncio.to_thread(_all_checked, claims, rows, pages)
    return {
        "id": report.get("id"),
        "held": sum(claim["holds"] for claim in checked),
        "claims": checked,
        "pages": [{"url": url, "state": _state(page, rows)} for url, page in pages.items()],
    }


def _all_checked(
    claims: Sequence[Mapping[str, Any]],
    rows: Mapping[int, Mapping[str, Any]],
    pages: Mapping[str, Document | SuyuanError],
) -> list[dict[str, Any]]:
    texts = {url: SourceText(page.text, page.title) for url, page in pages.items() if isinstance(page, Document)}
    return [_checked(claim, rows, pages, texts) for claim in claims]


def _checked(
    claim: Mapping[str, Any],
    rows: Mapping[int, Mapping[str, Any]],
    pages: Mapping[str, Document | SuyuanError],
    texts: Mapping[str, SourceText],
) -> dict[str, Any]:
    citations = []
    for id in claim["ledger"]:
        # A number that the ledger does not have was written into the report by somebody else.
        row = rows.get(id)
        page = pages.get(row["final_url"]) if row else None
        if row is None or not isinstance(page, Document):
            message = page.message if isinstance(page, SuyuanError) else None
            citations.append({"id": id, "state": "gone" if row else "unknown", "verdict": "unread", "error": message})
            continue
        state = "same" if page.sha256 == row["sha256"] else "changed"
        found = match(Statement(claim["text"]), texts[row["final_url"]])
        citations.append({"id": id, "state": state, "verdict": verdict_of(found), "error": None})
    holds = any(citation["verdict"] == "supported" for citation in citations)
    return {"id": claim["id"], "text": claim["text"], "holds": holds, "citations": citations}


def _state(page: Document | SuyuanError, rows: Mapping[int, Mapping[str, Any]]) -> str:
    if isinstance(page, SuyuanError):
        return "gone"
    known = {row["sha256"] for row in rows.values()}
    return "same" if page.sha256 in known else "changed"
