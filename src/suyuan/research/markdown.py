"""The report as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..chat.export import literal
from .report_view import ReportView, Row


class MarkdownReport:
    """Writes one finished job; everything that came from pages is shown as plain text."""

    def __init__(self, result: Row) -> None:
        self._view = ReportView(result, literal)

    def text(self) -> str:
        """The whole report."""
        view, result = self._view, self._view.result
        facts, *notices = view.head
        parts = [f"# {literal(result['question'])}", facts, *(f"> {notice}" for notice in notices)]
        for place, section in enumerate(result["sections"]):
            parts += [f"## {literal(section['title'])}", *self._section(place, section)]
        parts += [*self._disagreements(), *self._figures(), *self._timeline(), *self._references()]
        for heading, lines in view.appendix:
            parts += [f"## {heading}", "\n".join(f"- {line}" for line in lines)]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _section(self, place: int, section: Row) -> Iterator[str]:
        claims = self._view.claims(place)
        if not claims:
            yield self._view.nothing(section)
            rows = [self._view.rows[id] for id in section["nearest"]]
            yield "\n".join(f"- {literal(row['title'])} {self._cited([row['id']])}" for row in rows)
            return
        alone = len(claims) > 1 and all(claim["sources"] == 1 for claim in claims)
        if alone:
            yield f"*{self._view.say('one_source_each')}*"
        space = "" if self._view.result["lang"] == "zh" else " "
        told = [space.join(self._sentence(claim, alone) for claim in own) for own in self._view.paragraphs(place)]
        yield "\n".join(f"- {text}" for text in told) if section["by"] == "embedded" else "\n\n".join(told)

    def _sentence(self, claim: Row, alone: bool) -> str:
        known = {self._view.say("one_source")} if alone else set()
        marks = [mark for mark in self._view.marks(claim) if mark not in known]
        shown = f" *({self._view.joined(marks)})*" if marks else ""
        return f"{literal(claim['text'])} {self._cited(claim['ledger'])}{shown}"

    def _cited(self, ids: Iterable[int]) -> str:
        return "".join(f"[[{id}]]({_target(self._view.rows[id]['final_url'])})" for id in ids)

    def _disagreements(self) -> Iterator[str]:
        if found := self._view.result["disagreements"]:
            yield f"## {self._view.say('disagreements')}"
            for each in found:
                sides = (
                    f"  - **{literal(side['says'])}** — {self._view.side(side)} {self._cited(side['ledger'])}"
                    for side in each["sides"]
                )
                yield "\n".join([f"- {literal(each['sentence'])}", *sides])

    def _figures(self) -> Iterator[str]:
        head, rows = self._view.figures
        if rows:
            yield f"## {self._view.say('figures')}"
            yield _table(head, [(figure, sentence, self._cited(ids)) for figure, sentence, ids in rows])

    def _timeline(self) -> Iterator[str]:
        if found := self._view.result["timeline"]:
            yield f"## {self._view.say('timeline')}"
            yield "\n".join(
                f"- {entry['date']} — {literal(entry['title'])} {self._cited(entry['ledger'])}" for entry in found
            )

    def _references(self) -> Iterator[str]:
        if cited := self._view.cited:
            yield f"## {self._view.say('references')}"
            yield "\n".join(f"- [{row['id']}] {self._reference(row)}" for row in cited)

    def _reference(self, row: Row) -> str:
        published = [row["published_at"][:10]] if row["published_at"] else []
        address = f"<{_target(row['final_url'])}>"
        return " · ".join([literal(row["title"]), address, *published, self._view.read_at(row)])


def _target(url: str) -> str:
    """An address that ends neither a link nor a line."""
    codes = {"(": "%28", ")": "%29", "<": "%3C", ">": "%3E", " ": "%20", "\n": "", "\\": "%5C"}
    return "".join(codes.get(char, char) for char in url)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])
