"""The report as one HTML file: it loads nothing, works offline, prints well; a citation opens its passage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from ..chat.html_page import html_page
from ..citations.text_fragment import fragment_link
from .report import ledger_ids, placed
from .report_view import ReportView, Row


class HtmlReport:
    """Writes one finished job; everything that came from pages is escaped."""

    def __init__(self, result: Row) -> None:
        self._view = ReportView(result, escape)
        self._say = self._view.say

    def text(self) -> str:
        """The whole file."""
        result = self._view.result
        facts, *notices = self._view.head
        parts = [
            f'<p class="meta">{facts}</p>',
            *(f'<p class="notice">{notice}</p>' for notice in notices),
            *(_section(each["title"], self._sentences(at, each)) for at, each in enumerate(result["sections"])),
            *self._disagreements(),
            *self._figures(),
            _section(self._say("coverage"), self._coverage()),
            *self._timeline(),
            *self._claim_table(),
            _section(self._say("references"), "\n".join(map(self._passage, self._shown_passages()))),
            *(_section(heading, _list(lines)) for heading, lines in self._view.appendix),
        ]
        return html_page(result["question"], result["lang"], parts)

    def _sentences(self, place: int, section: Row) -> str:
        told = ["".join(self._sentence(claim) for claim in own) for own in self._view.paragraphs(place)]
        if not told:
            rows = [self._view.rows[id] for id in section["nearest"]]
            nearest = _list(f"{escape(row['title'])} {self._cited([row['id']])}" for row in rows)
            return f"<p>{escape(self._view.nothing(section))}</p>{nearest}"
        return _list(told) if section["by"] == "embedded" else "\n".join(f"<p>{text}</p>" for text in told)

    def _sentence(self, claim: Row) -> str:
        shown = "".join(f' <span class="mark">{escape(mark)}</span>' for mark in self._view.marks(claim))
        return f"{escape(claim['text'])}{self._cited(claim['ledger'])}{shown} "

    def _cited(self, ids: Iterable[int]) -> str:
        return "".join(
            f'<a class="cite" href="#p{id}" title="{escape(self._view.rows[id]["title"])}">[{id}]</a>' for id in ids
        )

    def _disagreements(self) -> Iterator[str]:
        if found := self._view.result["disagreements"]:
            items = (f"{escape(each['sentence'])}{_list(map(self._side, each['sides']))}" for each in found)
            yield _section(self._say("disagreements"), _list(items))

    def _side(self, side: Row) -> str:
        return f"<strong>{escape(side['says'])}</strong> — {self._view.side(side)}{self._cited(side['ledger'])}"

    def _figures(self) -> Iterator[str]:
        head, rows = self._view.figures
        if rows:
            cells = [(figure, sentence, self._cited(ids)) for figure, sentence, ids in rows]
            yield _section(self._say("figures"), _table(head, cells))

    # --- charts --------------------------------------------------------------------------------------------------
    def _coverage(self) -> str:
        """A bar for each section: how many independent origins its sentences have."""
        bars = []
        for place, section in enumerate(self._view.result["sections"]):
            if not section["is_summary"]:
                claims = self._view.claims(place)
                origins = {self._view.rows[id]["origin"] for id in ledger_ids(claims)}
                bars.append((section["title"], len(origins), len(claims)))
        most = max((origins for _, origins, _ in bars), default=0) or 1
        drawn = "".join(
            f'<dt>{escape(title)}</dt><dd><span class="bar" style="width:{60 * origins // most}%"></span> '
            f"{escape(self._say('covered', origins=origins, sentences=sentences))}</dd>"
            for title, origins, sentences in bars
        )
        return (
            f'<dl>{drawn}</dl><p class="meta">{escape(self._say("coverage_note", **self._view.result["counts"]))}</p>'
        )

    def _timeline(self) -> Iterator[str]:
        """The dates of the sources on a line, and as a list."""
        if entries := self._view.result["timeline"]:
            points = "".join(
                f'<a href="#p{entry["ledger"][0]}" style="left:{int(100 * place)}%" '
                f'title="{entry["date"]} {escape(entry["title"])}"></a>'
                for entry, place in placed(entries)
            )
            told = (f"{entry['date']} — {escape(entry['title'])}{self._cited(entry['ledger'])}" for entry in entries)
            yield _section(self._say("timeline"), f'<div class="line">{points}</div>{_list(told)}')

    # --- what can be checked -------------------------------------------------------------------------------------
    def _claim_table(self) -> Iterator[str]:
        head = (self._say("claim"), self._say("passage"), self._say("verdict_title"))
        rows = []
        # A summary repeats sentences.
        for claim in {claim["text"]: claim for claim in self._view.result["claims"]}.values():
            quotes = "".join(
                f"<p>{self._cited([each['id']])} {escape(each['quote'])}</p>" for each in claim["citations"]
            )
            verdict = f'<span class="{claim["verdict"]}">{escape(self._say("verdict." + claim["verdict"]))}</span>'
            left_out = "" if claim["kept"] else f"<br>{escape(self._say('left_out'))}"
            rows.append((escape(claim["text"]), quotes or "–", verdict + left_out))
        if rows:
            yield _section(self._say("claims"), _table(head, rows))

    def _shown_passages(self) -> list[Row]:
        """Every passage that something of the report leads to."""
        ids = ledger_ids(self._view.result["claims"])
        ids.update(*(section["nearest"] for section in self._view.result["sections"]))
        ids.update(row["id"] for row in self._view.cited)
        return [self._view.rows[id] for id in sorted(ids)]

    def _passage(self, row: Row) -> str:
        url, title = row["final_url"], escape(row["title"])
        if url.startswith(("http://", "https://")):
            link = escape(fragment_link(url, row["text"]))
            title = f'<a href="{link}" rel="noopener noreferrer nofollow">{title}</a>'
        facts = [
            escape(url),
            *([row["published_at"][:10]] if row["published_at"] else []),
            *self._copies(row),
            *map(escape, self._view.cut(row)),
        ]
        read = escape(self._say("stored", date=row["fetched_at"], start=row["start"], end=row["end"]))
        return (
            f'<article class="passage" id="p{row["id"]}"><strong>[{row["id"]}]</strong> {title}'
            f'<p class="where">{" · ".join(facts)}</p><blockquote>{escape(row["text"])}</blockquote>'
            f'<p class="where">{read} <code>sha256 {row["sha256"]}</code></p></article>'
        )

    def _copies(self, row: Row) -> list[str]:
        """How many pages print the text of this one."""
        origin = next(each for each in self._view.result["origins"] if each["id"] == row["origin"])
        pages = len(origin["sources"])
        return [f"{escape(origin['name'])}: {self._say('origins', sources=pages, origins=1)}"] if pages > 1 else []


def _section(heading: str, content: str) -> str:
    return f"<section>\n<h2>{escape(heading)}</h2>\n{content}\n</section>"


def _list(items: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
