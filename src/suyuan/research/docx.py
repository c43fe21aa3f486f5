"""The report as a Word document (``suyuan[docx]``)."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from ..core.causes.research import DOCX_MISSING
from .request import label

Row = Mapping[str, Any]


def docx_report(result: Row) -> bytes:
    """The report with its references; numbers are those of the ledger."""
    try:
        from docx import Document
    except ModuleNotFoundError:
        raise DOCX_MISSING() from None
    document = Document()
    _WordReport(document, result).write()
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


class _WordReport:
    """Writes a report into a document of python-docx."""

    def __init__(self, document: Any, result: Row) -> None:
        self._document = document
        self._result = result
        self._say = partial(label, lang=result["lang"])

    def write(self) -> None:
        """Write all of it."""
        result = self._result
        self._document.add_heading(_plain(result["question"]), 0)
        self._document.add_paragraph(self._say("facts", **result["counts"], date=result["finished_at"][:10]))
        for place, section in enumerate(result["sections"]):
            self._document.add_heading(_plain(section["title"]), 1)
            claims = [claim for claim in result["claims"] if claim["section"] == place and claim["kept"]]
            for claim in claims:
                self._sentence(claim, "List Bullet" if section["by"] == "embedded" else None)
            if not claims:
                self._document.add_paragraph(self._say("nothing"))
        self._disagreements()
        self._figures()
        self._references()

    def _sentence(self, claim: Row, style: str | None) -> None:
        paragraph = self._document.add_paragraph(style=style)
        paragraph.add_run(_plain(claim["text"]) + " ")
        paragraph.add_run(_numbers(claim["ledger"])).font.superscript = True
        marks = [self._say("partly")] if claim["verdict"] == "weak" else []
        marks += [self._say("one_source")] if claim["one_source"] else []
        if marks:
            paragraph.add_run(f" ({self._say('between').join(marks)})").italic = True

    def _disagreements(self) -> None:
        if not self._result["disagreements"]:
            return
        self._document.add_heading(self._say("disagreements"), 1)
        for each in self._result["disagreements"]:
            self._document.add_paragraph(_plain(each["sentence"]), style="List Bullet")
            for side in each["sides"]:
                self._document.add_paragraph(
                    f"{_plain(side['says'])} {_numbers(side['ledger'])}", style="List Bullet 2"
                )

    def _figures(self) -> None:
        if not self._result["figures"]:
            return
        self._document.add_heading(self._say("figures"), 1)
        table = self._document.add_table(rows=1, cols=3, style="Table Grid")
        for cell, name in zip(table.rows[0].cells, ("figure", "sentence", "cited"), strict=True):
            cell.text = self._say(name)
        for row in self._result["figures"]:
            texts = row["figure"], row["sentence"], _numbers(row["ledger"])
            for cell, text in zip(table.add_row().cells, texts, strict=True):
                cell.text = _plain(text)

    def _references(self) -> None:
        self._document.add_heading(self._say("references"), 1)
        cited = sorted({id for claim in self._result["claims"] if claim["kept"] for id in claim["ledger"]})
        rows = {row["id"]: row for row in self._result["ledger"]}
        for row in (rows[id] for id in cited):
            read = self._say("read_at", date=row["fetched_at"][:10], hash=row["sha256"][:12])
            self._document.add_paragraph(_plain(f"[{row['id']}] {row['title']}. {row['final_url']}. {read}"))


def _numbers(ids: Iterable[int]) -> str:
    return "".join(f"[{id}]" for id in ids)


def _plain(text: str) -> str:
    """``text`` without control characters, which XML cannot hold."""
    return "".join(char for char in text if char >= " " or char in "\t\n")
