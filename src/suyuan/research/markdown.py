"""The report as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..chat.export import literal
from .request import label

Row = Mapping[str, Any]


class MarkdownReport:
    """Writes one finished job; everything that came from pages is shown as plain text."""

    def __init__(self, result: Mapping[str, Any]) -> None:
        self._result = result
        self._rows = {row["id"]: row for row in result["ledger"]}
        self._claims: dict[int, list[Row]] = {}
        for claim in result["claims"]:
            if claim["kept"]:
                self._claims.setdefault(claim["section"], []).append(claim)
        self._say = partial(label, lang=result["lang"])

    def text(self) -> str:
        """The whole report."""
        result = self._result
        parts = [f"# {literal(result['question'])}", self._facts(), *self._notices()]
        for place, section in enumerate(result["sections"]):
            parts += self._section(place, section)
        parts += [*self._disagreements(), *self._figures(), *self._timeline(), *self._references(), *self._appendix()]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _facts(self) -> str:
        counts = self._result["counts"]
        line = self._say("facts", **counts, date=self._result["finished_at"][:10])
        reached = self._result["budget"]["reached"]
        names = self._say("between").join(self._say(f"limit.{name}") for name in reached)
        return f"{line}{' ' + self._say('limits', names=names) if reached else ''}"

    def _notices(self) -> Iterator[str]:
        for notice in self._result["notices"]:
            yield f"> {literal(notice['message'])} {literal(notice['hint'] or '')}".rstrip()

    def _section(self, place: int, section: Row) -> Iterator[str]:
        claims = self._claims.get(place, [])
        yield f"## {literal(section['title'])}"
        if not claims:
            yield self._say("nothing")
            yield "\n".join(f"- {literal(self._rows[id]['title'])} {self._cited([id])}" for id in section["nearest"])
            return
        alone = len(claims) > 1 and all(claim["one_source"] for claim in claims)
        if alone:
            yield f"*{self._say('one_source_each')}*"
        sentences = [self._sentence(claim, mark=not alone) for claim in claims]
        if section["by"] == "embedded":
            yield "\n".join(f"- {sentence}" for sentence in sentences)
        else:
            yield from self._paragraphs(section, sentences)

    def _paragraphs(self, section: Row, sentences: Sequence[str]) -> Iterator[str]:
        space = "" if self._result["lang"] == "zh" else " "
        paragraphs: dict[int, list[str]] = {}
        for sentence, text in zip(section["sentences"], sentences, strict=True):
            paragraphs.setdefault(sentence["paragraph"], []).append(text)
        yield from (space.join(own) for own in paragraphs.values())

    def _sentence(self, claim: Row, *, mark: bool) -> str:
        marks = [self._say("partly")] if claim["verdict"] == "weak" else []
        if mark and claim["one_source"]:
            marks.append(self._say("one_source"))
        elif claim["sources"] > claim["origins"] > 0:
            marks.append(self._say("origins", sources=claim["sources"], origins=claim["origins"]))
        shown = f" *({self._say('between').join(marks)})*" if marks else ""
        return f"{literal(claim['text'])} {self._cited(claim['ledger'])}{shown}"

    def _cited(self, ids: Iterable[int]) -> str:
        return "".join(f"[[{id}]]({_target(self._rows[id]['final_url'])})" for id in ids)

    def _disagreements(self) -> Iterator[str]:
        if found := self._result["disagreements"]:
            yield f"## {self._say('disagreements')}"
            for each in found:
                yield "\n".join(
                    [f"- {literal(each['sentence'])}", *(f"  - {self._side(side)}" for side in each["sides"])]
                )

    def _side(self, side: Row) -> str:
        who = self._say("between").join(dict.fromkeys(literal(source["site"]) for source in side["sources"]))
        since = self._say("since", date=side["since"]) if side["since"] else ""
        return f"**{literal(side['says'])}** — {who}{since} {self._cited(side['ledger'])}"

    def _figures(self) -> Iterator[str]:
        if found := self._result["figures"]:
            yield f"## {self._say('figures')}"
            head = [self._say("figure"), self._say("sentence"), self._say("cited")]
            yield _table(
                head, [(literal(r["figure"]), literal(r["sentence"]), self._cited(r["ledger"])) for r in found]
            )

    def _timeline(self) -> Iterator[str]:
        if found := self._result["timeline"]:
            yield f"## {self._say('timeline')}"
            yield "\n".join(
                f"- {entry['date']} — {literal(entry['title'])} {self._cited(entry['ledger'])}" for entry in found
            )

    def _references(self) -> Iterator[str]:
        cited = sorted({id for claim in self._result["claims"] if claim["kept"] for id in claim["ledger"]})
        if not cited:
            return
        yield f"## {self._say('references')}"
        yield "\n".join(f"- [{id}] {self._reference(self._rows[id])}" for id in cited)

    def _reference(self, row: Row) -> str:
        published = [row["published_at"][:10]] if row["published_at"] else []
        read = self._say("read_at", date=row["fetched_at"][:10], hash=row["sha256"][:12])
        return " · ".join([literal(row["title"]), f"<{_target(row['final_url'])}>", *published, read])

    def _appendix(self) -> Iterator[str]:
        yield f"## {self._say('searches')}"
        yield "\n".join(self._search(each) for each in self._result["receipts"]) or self._say("no_searches")
        unread = [source for source in self._result["sources"] if source["status"] != "read"]
        if unread:
            yield f"## {self._say('unread')}"
            yield "\n".join(f"- <{_target(each['url'])}> — {literal(each['error']['message'])}" for each in unread)
        if skipped := self._result["skipped"]:
            yield f"## {self._say('skipped')}"
            yield "\n".join(f"- <{_target(url)}>" for url in skipped)

    def _search(self, receipt: Row) -> str:
        engines = self._say("between").join(
            f"{each['engine']}: {each['detail_code'] or each['outcome']}" for each in receipt["engines"]
        )
        return f"- {literal(receipt['query'])} — {self._say('results', count=receipt['count'])} ({literal(engines)})"


def _target(url: str) -> str:
    """An address that ends neither a link nor a line."""
    codes = {"(": "%28", ")": "%29", "<": "%3C", ">": "%3E", " ": "%20", "\n": "", "\\": "%5C"}
    return "".join(codes.get(char, char) for char in url)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])
