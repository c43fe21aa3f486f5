"""The evidence ledger: one row for each passage that may be cited, with where, when and by which search it was read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..core.urls import domain_of, page_key
from ..pages.passages import cut, rank
from .origins import Origin, PageText, find_origins
from .plan import ResearchPlan

_SHORTEST = 20
_OF_PAGE = (
    "url", "final_url", "title", "author", "published_at", "fetched_at", "sha256", "engine", "query", "origin", "cut",
)  # fmt: skip
"""What a row has of its page."""
_LEAST_SCORE = 0.25
"""Of the best passage's score in the page."""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """A passage of a page that was read: ``text`` is the page's text from ``start`` to ``end``."""

    id: int
    """The number by which the report cites it."""
    source: int
    """The number of the page in the list of sources."""
    url: str
    final_url: str
    title: str
    author: str | None
    published_at: str | None
    fetched_at: str
    sha256: str
    """Of the whole text of the page."""
    start: int
    end: int
    text: str
    heading: str
    sub_questions: tuple[int, ...]
    engine: str
    """The engine that found the page,"""
    query: str
    """and the search that it answered."""
    origin: str
    """Pages that print one text have one origin."""
    cut: Mapping[str, Any] | None = None
    """How much of the page was read, where it was not all."""


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page of the job: read, or why not."""

    number: int
    url: str
    final_url: str
    title: str
    site: str
    author: str | None
    published_at: str | None
    fetched_at: str | None
    sha256: str | None
    status: str
    """``read`` or ``failed``."""
    error: Mapping[str, Any] | None
    engine: str
    query: str
    origin: str = ""
    is_primary: bool = True
    """Whether it is the first of the pages that print its text."""
    from_archive: bool = False
    cut: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Ledger:
    """All passages that may be cited, the pages that they are from, and the origins of these."""

    rows: tuple[LedgerRow, ...]
    sources: tuple[SourcePage, ...]
    origins: tuple[Origin, ...]

    def row(self, id: int) -> LedgerRow:
        """The row with this number."""
        return self.rows[id - 1]

    def of_sub_question(self, at: int) -> list[LedgerRow]:
        """The rows that were chosen for a sub-question."""
        return [row for row in self.rows if at in row.sub_questions]

    def count_origins(self, ids: Iterable[int]) -> int:
        """How many origins these rows have."""
        return len({self.row(id).origin for id in ids})


def rows_by_page(rows: Iterable[LedgerRow]) -> dict[int, list[LedgerRow]]:
    """Rows of a ledger by the number of their page."""
    found: dict[int, list[LedgerRow]] = {}
    for row in rows:
        found.setdefault(row.source, []).append(row)
    return found


def ledger_from(data: Mapping[str, Any]) -> Ledger:
    """Read what ``asdict`` has written."""
    rows = tuple(LedgerRow(**{**row, "sub_questions": tuple(row["sub_questions"])}) for row in data["rows"])
    sources = tuple(SourcePage(**source) for source in data["sources"])
    origins = tuple(Origin(**{**origin, "sources": tuple(origin["sources"])}) for origin in data["origins"])
    return Ledger(rows, sources, origins)


def build_ledger(pages: Sequence[Mapping[str, Any]], plan: ResearchPlan, most: int) -> Ledger:
    """The ledger of what was read: of each page the passages that fit its sub-questions best."""
    unique = _once_each(pages)
    sources = [_source(number, page) for number, page in enumerate(unique, 1)]
    read = [(source, page) for source, page in zip(sources, unique, strict=True) if page.get("text")]
    origins = find_origins([_page_text(source, page) for source, page in read])
    origin_of: dict[int, Origin] = {}
    for origin in origins:
        origin_of |= dict.fromkeys(origin.sources, origin)
    sources = [_with_origin(source, origin_of.get(source.number)) for source in sources]
    rows: list[LedgerRow] = []
    for source, page in zip(sources, unique, strict=True):
        if page.get("text"):
            rows += _rows(source, page, plan, most, len(rows))
    return Ledger(tuple(rows), tuple(sources), tuple(origins))


def _with_origin(source: SourcePage, origin: Origin | None) -> SourcePage:
    if origin is None:
        return source
    return replace(source, origin=origin.id, is_primary=origin.sources[0] == source.number)


def _once_each(pages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The pages without those that were found under two addresses."""
    seen: dict[str, Mapping[str, Any]] = {}
    for page in pages:
        key = page_key(str(page.get("final_url") or page["url"]))
        if key in seen:
            both = {*seen[key]["sub_questions"], *page["sub_questions"]}
            seen[key] = {**seen[key], "sub_questions": sorted(both)}
        else:
            seen[key] = page
    return list(seen.values())


def _source(number: int, page: Mapping[str, Any]) -> SourcePage:
    address = str(page.get("final_url") or page["url"])
    status = "failed" if page.get("failure") else "read"
    return SourcePage(
        number,
        str(page["url"]),
        address,
        str(page.get("title") or address),
        str(page.get("site_name") or domain_of(address)),
        page.get("author"),
        page.get("published_at"),
        page.get("fetched_at"),
        page.get("sha256"),
        status,
        page.get("failure"),
        str(page.get("engine") or ""),
        str(page.get("query") or ""),
        from_archive=bool(page.get("from_archive")),
        cut=page.get("cut"),
    )


def _page_text(source: SourcePage, page: Mapping[str, Any]) -> PageText:
    canonical = str(page.get("canonical_url") or "")
    return PageText(
        source.number, source.final_url, canonical, source.title, page["text"], source.published_at or "", source.site
    )


def _rows(source: SourcePage, page: Mapping[str, Any], plan: ResearchPlan, most: int, known: int) -> list[LedgerRow]:
    # Only what stands in the text alone: a heading or a word says nothing that could be cited.
    passages = [each for each in cut(page["text"]) if len(each.text) >= _SHORTEST and not each.text.startswith("#")]
    chosen: dict[int, list[int]] = {}
    for at in page["sub_questions"]:
        if at >= len(plan.sub_questions):
            continue
        part = plan.sub_questions[at]
        ranked = rank(passages, f"{part.question} {' '.join(part.queries[:1])}")
        for score, passage in ranked[:most]:
            if score >= _LEAST_SCORE * ranked[0][0]:
                chosen.setdefault(passage.start, []).append(at)
    own = [passage for passage in passages if passage.start in chosen]
    known_of_page = {name: getattr(source, name) for name in _OF_PAGE}
    return [
        LedgerRow(
            id=known + place,
            source=source.number,
            start=passage.start,
            end=passage.end,
            text=passage.text,
            heading=passage.heading,
            sub_questions=tuple(chosen[passage.start]),
            **known_of_page,
        )
        for place, passage in enumerate(own, 1)
    ]
