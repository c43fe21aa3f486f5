"""From what an engine found to what callers get: real addresses, each page once, ranked from 1.

This is the one place that every result passes, whatever engine, plugin, archive or library it comes from: what leaves
it may be shown as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, islice

from ..core.extras import DirectAnswer, Extras, Infobox
from ..core.query import SearchQuery
from ..core.result import Details, EngineResults, SearchResult
from ..core.urls import page_key, within
from ..text.shown_address import shown_address
from ..text.visible import shown_line, shown_text

# Of one answer, and of each of its texts, in characters. Real ones have a tenth of this.
MOST_RESULTS = 200
_MAX_SKIPPED = 1_000
_MAX_CHARACTERS = 200_000
_MAX_LINE, _MAX_ADDRESS, _MAX_TEXT = 1_000, 4_000, 20_000
_MAX_ITEMS, _FEW = 50, 5


def bounded(found: EngineResults) -> EngineResults:
    """``found`` with texts of bounded length: what is done with them on the event loop takes milliseconds.

    Long texts are cut. A result is left out whole where its address is longer than any that is one, or where those in
    front of it are as much as an answer may be.
    """
    kept: list[SearchResult] = []
    left = _MAX_CHARACTERS
    for result in found.results[:MOST_RESULTS]:
        if len(result.url) > _MAX_ADDRESS:
            continue
        short = _short(result)
        left -= _length(short)
        if kept and left < 0:
            break
        kept.append(short)
    notes = tuple(_line(note) for note in found.notes[:_MAX_ITEMS])
    if len(kept) < len(found.results):
        notes += (f"{len(found.results) - len(kept)} results too many or too long",)
    skipped = tuple(replace(row, reason=_line(row.reason)) for row in found.skipped[:_MAX_SKIPPED])
    extras = _short_extras(found.extras) if found.extras else found.extras
    return EngineResults(tuple(kept), notes, _line(found.request_id), extras, skipped)


def normalized(found: EngineResults, query: SearchQuery, opaque_links: tuple[str, ...] = ()) -> EngineResults:
    """What an engine said, as it may be shown; of its results those that fit the query."""
    extras = _shown_extras(found.extras) if found.extras else found.extras
    return EngineResults(
        matching(found.results, query, opaque_links),
        tuple(map(shown_line, found.notes)),
        shown_line(found.request_id),
        extras,
    )


def matching(
    results: Iterable[SearchResult], query: SearchQuery, opaque_links: tuple[str, ...] = ()
) -> tuple[SearchResult, ...]:
    """What is a page, and in the asked domains; each as it may be shown."""
    filtered = query.allowed_domains or query.blocked_domains
    cleaned = (result for raw in results if (result := shown(raw)) is not None)
    return tuple(result for result in cleaned if not filtered or _in_domains(result, query, opaque_links))


def shown(result: SearchResult) -> SearchResult | None:
    """``result`` as it may be shown; None where its address leads to no page."""
    url = shown_address(result.url)
    if not url:
        return None
    title, snippet, summary = shown_line(result.title), shown_text(result.snippet), shown_text(result.summary)
    published_at = shown_line(result.published_at) if result.published_at else None
    details = _shown_details(result.details) if result.details else None
    before = (result.url, result.title, result.snippet, result.summary, result.published_at, result.details)
    after = (url, title, snippet, summary, published_at, details)
    if before == after:
        return result
    return replace(
        result, url=url, title=title, snippet=snippet, summary=summary, published_at=published_at, details=details
    )


def unique(*lists: Iterable[SearchResult]) -> tuple[SearchResult, ...]:
    """Each page once."""
    kept: dict[str, SearchResult] = {}
    for result in chain(*lists):
        kept.setdefault(page_key(result.url), result)
    return tuple(kept.values())


def ranked(results: Iterable[SearchResult], most: int) -> tuple[SearchResult, ...]:
    """The first ``most`` of ``results``, with their ranks."""
    return tuple(result.ranked(rank) for rank, result in enumerate(islice(results, most), 1))


def _line(text: str) -> str:
    return text[:_MAX_LINE]


def _address(text: str) -> str:
    """An address is left out where it is too long: the beginning of one is another."""
    return text if len(text) <= _MAX_ADDRESS else ""


def _short(result: SearchResult) -> SearchResult:
    """``result`` with short texts; itself where they are short, as nearly all are."""
    longest_line = max(len(result.title), len(result.published_at or ""))
    longest_text = max(len(result.snippet), len(result.summary))
    is_short = longest_line <= _MAX_LINE and longest_text <= _MAX_TEXT
    if is_short and result.details is None:
        return result
    published_at = _line(result.published_at) if result.published_at else None
    details = _short_details(result.details) if result.details else None
    return replace(
        result,
        title=_line(result.title),
        snippet=result.snippet[:_MAX_TEXT],
        summary=result.summary[:_MAX_TEXT],
        published_at=published_at,
        details=details,
    )


def _length(result: SearchResult) -> int:
    texts = [result.url, result.title, result.snippet, result.summary]
    if result.details is not None:
        texts += [*result.details.authors, *result.details.topics]
    return sum(map(len, texts))


def _short_details(details: Details) -> Details:
    return replace(
        details,
        authors=tuple(map(_line, details.authors[:_MAX_ITEMS])),
        venue=_line(details.venue),
        doi=_line(details.doi),
        topics=tuple(map(_line, details.topics[:_MAX_ITEMS])),
        image=_address(details.image),
    )


def _short_extras(extras: Extras) -> Extras:
    answers = extras.answers[:_FEW]
    return Extras(
        tuple(DirectAnswer(a.text[:_MAX_TEXT], _address(a.url), a.engine) for a in answers),
        tuple(map(_short_infobox, extras.infoboxes[:_FEW])),
        tuple(map(_line, extras.suggestions[:_MAX_ITEMS])),
        tuple(map(_line, extras.corrections[:_MAX_ITEMS])),
    )


def _short_infobox(box: Infobox) -> Infobox:
    return Infobox(
        _line(box.title),
        box.text[:_MAX_TEXT],
        _address(box.url),
        tuple((_line(name), _line(value)) for name, value in box.facts[:_MAX_ITEMS]),
        tuple((_line(title), address) for title, address in box.links[:_MAX_ITEMS] if _address(address)),
        box.engine,
    )


def _in_domains(result: SearchResult, query: SearchQuery, opaque_links: tuple[str, ...]) -> bool:
    domain = result.source
    if any(within(domain, name) for name in query.blocked_domains):
        return False
    if not query.allowed_domains:
        return True
    # Only the engine itself can have applied the filter to a page that it hides behind a link of its own.
    if opaque_links and result.url.startswith(opaque_links):
        return True
    return any(within(domain, name) for name in query.allowed_domains)


def _shown_details(details: Details) -> Details:
    return replace(
        details,
        authors=tuple(map(shown_line, details.authors)),
        venue=shown_line(details.venue),
        doi=shown_line(details.doi),
        topics=tuple(map(shown_line, details.topics)),
        image=shown_address(details.image),
        file=shown_line(details.file),
    )


def _shown_extras(extras: Extras) -> Extras:
    return Extras(
        tuple(DirectAnswer(shown_text(a.text), shown_address(a.url), a.engine) for a in extras.answers),
        tuple(map(_shown_infobox, extras.infoboxes)),
        tuple(map(shown_line, extras.suggestions)),
        tuple(map(shown_line, extras.corrections)),
    )


def _shown_infobox(box: Infobox) -> Infobox:
    return Infobox(
        shown_line(box.title),
        shown_text(box.text),
        shown_address(box.url),
        tuple((shown_line(name), shown_text(value)) for name, value in box.facts),
        tuple((shown_line(title), url) for title, address in box.links if (url := shown_address(address))),
        box.engine,
    )
