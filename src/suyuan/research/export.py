"""A finished job as a file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from ..core.causes.research import BAD_RESEARCH, RESEARCH_STATE
from ..net.network import Network
from .bibliography import bibtex, csl, ris
from .docx import docx_report
from .forms import FORMS
from .html import HtmlReport

Result = Mapping[str, Any]
_TEXTS: dict[str, Callable[[Result], str]] = {
    "md": lambda result: str(result["report"]),
    "html": lambda result: HtmlReport(result).text(),
    "json": lambda result: json.dumps(result, ensure_ascii=False, indent=2) + "\n",
    "csl": lambda result: json.dumps(csl(result), ensure_ascii=False, indent=2) + "\n",
    "bib": bibtex,
    "ris": ris,
}


async def export(result: Result, form: str, network: Network) -> bytes:
    """The report in the format ``form``, as PDF by the browser; raises a cause where there is no report yet."""
    if form not in FORMS:
        raise BAD_RESEARCH(name="form", value=form)
    if not result["report"] and form != "json":
        raise RESEARCH_STATE(id=result["id"], state=result["state"], wanted="done")
    if form == "pdf":
        return await network.print_pdf(HtmlReport(result).text())
    if form == "docx":
        return await asyncio.to_thread(docx_report, result)
    # Half of a character pair could not be written to a file.
    return _TEXTS[form](result).encode("utf-8", "replace")
