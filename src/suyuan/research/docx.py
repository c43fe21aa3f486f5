"""The report as a Word document (``suyuan[docx]``)."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from ..core.causes.research import DOCX_MISSING
from .report_view import ReportView, Row


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
        self._view = ReportView(result, _plain)

    def write(self) -> None:
        """Write all of it."""
        result, view = self._view.result, self._view
        self._document.add_heading(_plain(result["question"]), 0)
        for line in view.head:
            self._document.add_paragraph(line)
        for place, section in enumerate(result["sections"]):
            self._document.add_heading(_plain(section["title"]), 1)
            self._section(place, section)
        self._disagreements()
        self._figures()
        self._list("timeline", (f"{each['date']} — {each['title']}" for each in result["timeline"]))
        self._list("references", map(self._reference, view.cited), None)
        for heading, lines in view.appendix:
            self._document.add_heading(heading, 1)
            for line in lines:
                self._document.add_paragraph(line, style="List Bullet")

    def _section(self, place: int, section: Row) -> None:
        if not self._view.claims(place):
            self._document.add_paragraph(self._view.nothing(section))
            for row in (self._view.rows[id] for id in section["nearest"]):
                self._document.add_paragraph(_plain(f"{row['title']} [{row['id']}]"), style="List Bullet")
        style = "List Bullet" if section["by"] == "embedded" else None
        for claims in self._view.paragraphs(place):
            paragraph = self._document.add_paragraph(style=style)
            for claim in claims:
                paragraph.add_run(_plain(claim["text"]) + " ")
                paragraph.add_run(_numbers(claim["ledger"]) + " ").font.superscript = True
                if marks := self._view.marks(claim):
                    paragraph.add_run(f"({self._view.joined(marks)}) ").italic = True

    def _disagreements(self) -> None:
        if found := self._view.result["disagreements"]:
            self._document.add_heading(self._view.say("disagreements"), 1)
            for each in found:
                self._document.add_paragraph(_plain(each["sentence"]), style="List Bullet")
                for side in each["sides"]:
                    paragraph = self._document.add_paragraph(style="List Bullet 2")
                    paragraph.add_run(_plain(side["says"])).bold = True
                    paragraph.add_run(f" — {self._view.side(side)} {_numbers(side['ledger'])}")

    def _figures(self) -> None:
        head, rows = self._view.figures
        if rows:
            self._document.add_heading(self._view.say("figures"), 1)
            table = self._document.add_table(rows=0, cols=3, style="Table Grid")
            for texts in [head, *((figure, sentence, _numbers(ids)) for figure, sentence, ids in rows)]:
                for cell, text in zip(table.add_row().cells, texts, strict=True):
                    cell.text = text

    def _list(self, heading: str, lines: Iterable[str], style: str | None = "List Bullet") -> None:
        for place, line in enumerate(lines):
            if place == 0:
                self._document.add_heading(self._view.say(heading), 1)
            self._document.add_paragraph(_plain(line), style=style)

    def _reference(self, row: Row) -> str:
        published = f" {row['published_at'][:10]}." if row["published_at"] else ""
        return f"[{row['id']}] {row['title']}. {row['final_url']}.{published} {self._view.read_at(row)}"


def _numbers(ids: Iterable[int]) -> str:
    return "".join(f"[{id}]" for id in ids)


def _plain(text: str) -> str:
    """``text`` without control characters, which XML cannot hold."""
    return "".join(char for char in text if char >= " " or char in "\t\n")
