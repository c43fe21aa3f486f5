"""The report as one HTML file: it loads nothing, works offline, prints well; a citation opens its passage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import Any

from ..citations.text_fragment import fragment_link
from .request import label

Row = Mapping[str, Any]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_BAR, _LABELS, _WIDE = 16, 210, 640


class HtmlReport:
    """Writes one finished job; everything that came from pages is escaped."""

    def __init__(self, result: Row) -> None:
        self._result = result
        self._rows = {row["id"]: row for row in result["ledger"]}
        self._say = partial(label, lang=result["lang"])

    def text(self) -> str:
        """The whole file."""
        result, lang = self._result, "zh-CN" if self._result["lang"] == "zh" else "en"
        title = escape(result["question"])
        parts = [
            f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{title}</title>\n<style>{_style()}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>",
            *self._head(),
            *(part for place, section in enumerate(result["sections"]) for part in self._section(place, section)),
            *self._disagreements(),
            *self._figures(),
            *self._charts(),
            *self._claim_table(),
            *self._passages(),
            *self._appendix(),
            "</main>\n</body>\n</html>\n",
        ]
        return "\n".join(parts)

    def _head(self) -> Iterator[str]:
        result = self._result
        yield f'<p class="meta">{escape(self._say("facts", **result["counts"], date=result["finished_at"][:10]))}</p>'
        if reached := result["budget"]["reached"]:
            names = self._say("between").join(self._say(f"limit.{name}") for name in reached)
            yield f'<p class="notice">{escape(self._say("limits", names=names))}</p>'
        for notice in result["notices"]:
            yield f'<p class="notice">{escape(notice["message"])} {escape(notice["hint"] or "")}</p>'

    def _section(self, place: int, section: Row) -> Iterator[str]:
        claims = [claim for claim in self._result["claims"] if claim["section"] == place and claim["kept"]]
        yield f"<section>\n<h2>{escape(section['title'])}</h2>"
        if not claims:
            nearest = "".join(
                f"<li>{escape(self._rows[id]['title'])} {self._cited([id])}</li>" for id in section["nearest"]
            )
            yield f"<p>{escape(self._say('nothing'))}</p><ul>{nearest}</ul>"
        elif section["by"] == "embedded":
            yield "<ul>" + "".join(f"<li>{self._sentence(claim)}</li>" for claim in claims) + "</ul>"
        else:
            paragraphs: dict[int, list[str]] = {}
            for sentence, claim in zip(section["sentences"], claims, strict=True):
                paragraphs.setdefault(sentence["paragraph"], []).append(self._sentence(claim))
            yield "\n".join(f"<p>{' '.join(own)}</p>" for own in paragraphs.values())
        yield "</section>"

    def _sentence(self, claim: Row) -> str:
        marks = [self._say("partly")] if claim["verdict"] == "weak" else []
        if claim["one_source"]:
            marks.append(self._say("one_source"))
        elif claim["sources"] > claim["origins"]:
            marks.append(self._say("origins", sources=claim["sources"], origins=claim["origins"]))
        shown = "".join(f' <span class="mark">{escape(mark)}</span>' for mark in marks)
        return f"{escape(claim['text'])}{self._cited(claim['ledger'])}{shown}"

    def _cited(self, ids: Iterable[int]) -> str:
        return "".join(
            f'<a class="cite" href="#p{id}" title="{escape(self._rows[id]["title"])}">[{id}]</a>' for id in ids
        )

    def _disagreements(self) -> Iterator[str]:
        if found := self._result["disagreements"]:
            yield f"<section>\n<h2>{escape(self._say('disagreements'))}</h2>\n<ul>"
            for each in found:
                sides = "".join(f"<li>{self._side(side)}</li>" for side in each["sides"])
                yield f"<li>{escape(each['sentence'])}<ul>{sides}</ul></li>"
            yield "</ul>\n</section>"

    def _side(self, side: Row) -> str:
        who = self._say("between").join(dict.fromkeys(source["site"] for source in side["sources"]))
        since = self._say("since", date=side["since"]) if side["since"] else ""
        return f"<strong>{escape(side['says'])}</strong> — {escape(who + since)}{self._cited(side['ledger'])}"

    def _figures(self) -> Iterator[str]:
        if found := self._result["figures"]:
            head = (self._say("figure"), self._say("sentence"), self._say("cited"))
            rows = [(escape(r["figure"]), escape(r["sentence"]), self._cited(r["ledger"])) for r in found]
            yield f"<section>\n<h2>{escape(self._say('figures'))}</h2>\n{_table(head, rows)}\n</section>"

    # --- charts --------------------------------------------------------------------------------------------------
    def _charts(self) -> Iterator[str]:
        yield f"<section>\n<h2>{escape(self._say('coverage'))}</h2>\n{self._coverage()}\n</section>"
        if dates := self._result["timeline"]:
            entries = "".join(
                f"<li>{entry['date']} — {escape(entry['title'])}{self._cited(entry['ledger'])}</li>" for entry in dates
            )
            heading = escape(self._say("timeline"))
            yield f"<section>\n<h2>{heading}</h2>\n{_date_line(dates)}\n<ul>{entries}</ul>\n</section>"

    def _coverage(self) -> str:
        """A bar for each section: how many independent origins its sentences have."""
        bars = []
        for place, section in enumerate(self._result["sections"]):
            if section["is_summary"]:
                continue
            claims = [claim for claim in self._result["claims"] if claim["section"] == place and claim["kept"]]
            ids = {id for claim in claims for id in claim["ledger"]}
            bars.append((section["title"], len({self._rows[id]["origin"] for id in ids}), len(claims)))
        most = max((origins for _, origins, _ in bars), default=0) or 1
        height = len(bars) * (_BAR + 10) + 4
        drawn = "".join(
            f'<text x="0" y="{at * (_BAR + 10) + 14}">{escape(_short(title))}</text>'
            f'<rect x="{_LABELS}" y="{at * (_BAR + 10) + 2}" width="{max(2, 260 * origins // most)}" height="{_BAR}" '
            f'fill="#2da44e"/><text x="{_LABELS + 266 * origins // most + 8}" y="{at * (_BAR + 10) + 14}">'
            f"{escape(self._say('covered', origins=origins, sentences=sentences))}</text>"
            for at, (title, origins, sentences) in enumerate(bars)
        )
        return (
            f'<figure><svg role="img" viewBox="0 0 {_WIDE} {height}" width="{_WIDE}" height="{height}">{drawn}</svg>'
            f"<figcaption>{escape(self._say('coverage_note', **self._result['counts']))}</figcaption></figure>"
        )

    # --- what can be checked -------------------------------------------------------------------------------------
    def _claim_table(self) -> Iterator[str]:
        head = (self._say("claim"), self._say("passage"), self._say("verdict_title"))
        rows = []
        for claim in self._result["claims"]:
            quotes = "".join(
                f"<p>{self._cited([each['id']])} {escape(each['quote'])}</p>" for each in claim["citations"]
            )
            verdict = f'<span class="{claim["verdict"]}">{escape(self._say("verdict." + claim["verdict"]))}</span>'
            left_out = "" if claim["kept"] else f"<br>{escape(self._say('left_out'))}"
            rows.append((escape(claim["text"]), quotes or "–", verdict + left_out))
        if rows:
            yield f"<section>\n<h2>{escape(self._say('claims'))}</h2>\n{_table(head, rows)}\n</section>"

    def _passages(self) -> Iterator[str]:
        cited = {id for claim in self._result["claims"] for id in claim["ledger"]}
        cited |= {id for section in self._result["sections"] for id in section["nearest"]}
        cited |= {id for each in self._result["disagreements"] for side in each["sides"] for id in side["ledger"]}
        yield f"<section>\n<h2>{escape(self._say('references'))}</h2>"
        for id in sorted(cited):
            yield self._passage(self._rows[id])
        yield "</section>"

    def _passage(self, row: Row) -> str:
        url = row["final_url"]
        link = escape(fragment_link(url, row["text"])) if url.startswith(("http://", "https://")) else ""
        name = (
            f'<a href="{link}" rel="noopener noreferrer nofollow">{escape(row["title"])}</a>'
            if link
            else escape(row["title"])
        )
        facts = [escape(url), *([row["published_at"][:10]] if row["published_at"] else []), escape(row["origin"])]
        read = escape(self._say("stored", date=row["fetched_at"], start=row["start"], end=row["end"]))
        return (
            f'<article class="passage" id="p{row["id"]}"><strong>[{row["id"]}]</strong> {name}'
            f'<p class="where">{" · ".join(facts)}</p><blockquote>{escape(row["text"])}</blockquote>'
            f'<p class="where">{read} <code>sha256 {row["sha256"]}</code></p></article>'
        )

    def _appendix(self) -> Iterator[str]:
        searches = "".join(f"<li>{self._search(each)}</li>" for each in self._result["receipts"])
        yield f"<section>\n<h2>{escape(self._say('searches'))}</h2>\n<ul>{searches}</ul>"
        unread = [source for source in self._result["sources"] if source["status"] != "read"]
        if unread:
            items = "".join(f"<li>{escape(each['url'])} — {escape(each['error']['message'])}</li>" for each in unread)
            yield f"<h2>{escape(self._say('unread'))}</h2>\n<ul>{items}</ul>"
        yield "</section>"

    def _search(self, receipt: Row) -> str:
        engines = ", ".join(
            f"{each['engine']}: {each['detail_code'] or each['outcome']}" for each in receipt["engines"]
        )
        count = self._say("results", count=receipt["count"])
        return escape(f"{receipt['query']} — {count} ({engines})")


@cache
def _style() -> str:
    return Path(__file__).with_name("report.css").read_text(encoding="utf-8")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _short(text: str) -> str:
    return text if len(text) <= 28 else text[:27] + "…"


def _date_line(entries: Sequence[Row]) -> str:
    """The dates of the sources on a line."""
    days = [_day(entry["date"]) for entry in entries]
    first, last = min(days), max(days)
    span = (last - first) or 1
    points = "".join(
        f'<a href="#p{entry["ledger"][0]}">'
        f'<circle cx="{20 + 600 * (day - first) // span}" cy="20" r="6" fill="#0969da">'
        f"<title>{escape(entry['date'])} {escape(entry['title'])}</title></circle></a>"
        for entry, day in zip(entries, days, strict=True)
    )
    return (
        f'<figure><svg role="img" viewBox="0 0 {_WIDE} 50" width="{_WIDE}" height="50">'
        f'<line x1="20" y1="20" x2="620" y2="20" stroke="#8c959f"/>{points}'
        f'<text x="0" y="46">{escape(entries[0]["date"])}</text>'
        f'<text x="{_WIDE}" y="46" text-anchor="end">{escape(entries[-1]["date"])}</text></svg></figure>'
    )


def _day(text: str) -> int:
    try:
        return date.fromisoformat(text[:10]).toordinal()
    except ValueError:
        return 0
