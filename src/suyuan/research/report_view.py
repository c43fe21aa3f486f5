"""``ReportView``: what every form of a report shows, in the words of its language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ..core.document import cut_from
from .report import ledger_ids
from .request import label

Row = Mapping[str, Any]


class ReportView:
    """A finished job; ``plain`` makes a text that came from pages harmless in the form that is written."""

    def __init__(self, result: Row, plain: Callable[[str], str]) -> None:
        self.result = result
        self.plain = plain
        self.rows = {row["id"]: row for row in result["ledger"]}
        self.say = partial(label, lang=result["lang"])

    def joined(self, texts: Iterable[str]) -> str:
        """Several texts as one, as the language puts it."""
        return self.say("between").join(texts)

    @property
    def head(self) -> list[str]:
        """What was cited and read, the limits that were reached, and what failed."""
        facts = self.say("facts", **self.result["counts"], date=self.result["finished_at"][:10])
        reached = [self.say(f"limit.{name}") for name in self.result["budget"]["reached"]]
        limits = [self.say("limits", names=self.joined(reached))] if reached else []
        told = (f"{each['message']} {each['hint'] or ''}".rstrip() for each in self.result["notices"])
        return [facts, *limits, *map(self.plain, told)]

    def claims(self, place: int) -> list[Row]:
        """The sentences of the section at ``place``."""
        return [claim for claim in self.result["claims"] if claim["section"] == place and claim["kept"]]

    def paragraphs(self, place: int) -> list[list[Row]]:
        """The sentences of a section, those of one paragraph together; quotes stand alone."""
        section, paragraphs = self.result["sections"][place], dict[int, list[Row]]()
        if section["by"] == "embedded":
            return [[claim] for claim in self.claims(place)]
        for sentence, claim in zip(section["sentences"], self.claims(place), strict=True):
            paragraphs.setdefault(sentence["paragraph"], []).append(claim)
        return list(paragraphs.values())

    def nothing(self, section: Row) -> str:
        """Why a section has no sentences: nothing was read, nothing fits, or something only comes near."""
        if section["nearest"]:
            return self.say("nothing")
        return self.say("no_answer") if self.rows else self.say("nothing_read")

    def marks(self, claim: Row) -> list[str]:
        """What a reader must know of a sentence: partly supported, or how few origins it has."""
        sources, origins = claim["sources"], claim["origins"]
        found = [self.say("partly")] if claim["verdict"] == "weak" else []
        if sources > origins > 0:
            found.append(self.say("origins", sources=sources, origins=origins))
        elif claim["one_source"]:
            found.append(self.say("one_source"))
        return found

    def side(self, side: Row) -> str:
        """Who says so, and since when."""
        who = self.joined(dict.fromkeys(self.plain(source["site"]) for source in side["sources"]))
        return who + (self.say("since", date=side["since"]) if side["since"] else "")

    @property
    def figures(self) -> tuple[Sequence[str], list[tuple[str, str, Sequence[int]]]]:
        """The heading and the rows of the table of figures: figure, sentence, passages."""
        rows = [
            (self.plain(row["figure"]), self.plain(row["sentence"]), row["ledger"]) for row in self.result["figures"]
        ]
        return [self.say(name) for name in ("figure", "sentence", "cited")], rows

    @property
    def cited(self) -> list[Row]:
        """The passages that the report cites."""
        ids = ledger_ids(claim for claim in self.result["claims"] if claim["kept"])
        for disagreement in self.result["disagreements"]:
            ids |= ledger_ids(disagreement["sides"])
        return [self.rows[id] for id in sorted(ids)]

    def read_at(self, row: Row) -> str:
        """When a passage was read, the hash of its page, and how much of the page was read where it was not all."""
        read = self.say("read_at", date=row["fetched_at"][:10], hash=row["sha256"][:12])
        return self.joined([read, *self.cut(row)])

    def cut(self, row: Row) -> list[str]:
        """How much of the page of a passage was read, where it was not all."""
        # Reports of older releases do not have it.
        cut = cut_from(row.get("cut"))
        return [cut.message(self.result["lang"])] if cut else []

    @property
    def appendix(self) -> list[tuple[str, list[str]]]:
        """Headings with lines: the searches, what could not be read, and what was not read on purpose."""
        searches = [self._search(each) for each in self.result["receipts"]] or [self.say("no_searches")]
        failed = [source for source in self.result["sources"] if source["status"] != "read"]
        unread = [f"{self.plain(each['url'])} — {self.plain(each['error']['message'])}" for each in failed]
        skipped = [self.plain(url) for url in self.result["skipped"]]
        parts = {"searches": searches, "unread": unread, "skipped": skipped}
        return [(self.say(name), lines) for name, lines in parts.items() if lines]

    def _search(self, receipt: Row) -> str:
        engines = self.joined(
            f"{each['engine']}: {each['detail_code'] or each['outcome']}" for each in receipt["engines"]
        )
        failure = receipt["failure"]
        came = failure["message"] if failure else self.say("results", count=receipt["count"])
        return self.plain(f"{receipt['query']} — {came}{f' ({engines})' if engines else ''}")
