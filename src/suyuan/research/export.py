"""A finished job as a file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ..core.causes.research import BAD_RESEARCH, RESEARCH_STATE
from .bibliography import bibtex, csl, ris
from .docx import docx_report
from .forms import FORMS
from .html import HtmlReport

Result = Mapping[str, Any]


class Printer(Protocol):
    """Prints HTML as PDF; the network does, with its browser."""

    async def print_pdf(self, html: str) -> bytes:
        """The PDF of a page that loads nothing."""


_TEXTS: dict[str, Callable[[Result], str]] = {
    "md": lambda result: str(result["report"]),
    "html": lambda result: HtmlReport(result).text(),
    "json": lambda result: json.dumps(result, ensure_ascii=False, indent=2) + "\n",
    "csl": lambda result: json.dumps(csl(result), ensure_ascii=False, indent=2) + "\n",
    "bib": lambda result: bibtex(result),
    "ris": lambda result: ris(result),
}


async def export(result: Result, form: str, printer: Printer) -> bytes:
    """The report in the format ``form``; raises a cause where there is no report yet."""
    if form not in FORMS:
        raise BAD_RESEARCH(name="form", value=form)
    if not result["report"] and form != "json":
        raise RESEARCH_STATE(id=result["id"], state=result["state"], wanted="done")
    if form == "pdf":
        return await printer.print_pdf(HtmlReport(result).text())
    if form == "docx":
        return await asyncio.to_thread(docx_report, result)
    # Half of a character pair could not be written to a file.
    return _TEXTS[form](result).encode("utf-8", "replace")
