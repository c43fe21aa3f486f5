"""A result keeps all of its fields wherever it is copied; the cases are made from the fields."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from suyuan.core.page_reading import PageReading
from suyuan.core.query import SearchQuery
from suyuan.core.result import Details, EngineResults, SearchPage, SearchResult
from suyuan.search.normalize import bounded, ranked, shown
from suyuan.search.page_json import dump_page, found_from, found_view, load_page

FULL = SearchResult(
    title="Tea",
    url="https://tea.example/",
    snippet="about tea",
    engine="bing_html",
    rank=3,
    published_at="2026-01-02",
    summary="all about tea",
    also_from=("ddg_html",),
    details=Details(venue="Leaves"),
    fetched_at="2026-01-03T00:00:00+00:00",
    reading=PageReading(text="Tea is a drink."),
)
BARE = SearchResult(title="", url=FULL.url)
QUERY = SearchQuery("tea")
NAMES = [field.name for field in fields(SearchResult)]


def stored(result: SearchResult) -> SearchResult:
    page = SearchPage(QUERY, (result,), (), 1)
    return load_page(dump_page(page), QUERY).results[0]


def sent(result: SearchResult) -> SearchResult:
    data = json.loads(json.dumps(found_view(EngineResults((result,)))))
    return found_from(data).results[0]


COPIES: dict[str, tuple[Callable[[SearchResult], SearchResult | None], set[str]]] = {
    "ranked": (lambda result: result.ranked(3), set()),
    "ranked in a list": (lambda result: ranked([result, result, result], 3)[2], set()),
    "joined with less": (lambda result: result.joined(replace(BARE, engine="ddg_html")), set()),
    "shown": (shown, set()),
    "bounded": (lambda result: bounded(EngineResults((result,))).results[0], set()),
    # What was read of a page belongs to the one who asked.
    "stored": (stored, {"reading"}),
    "sent": (sent, {"reading"}),
}


def test_every_field_has_a_value_that_is_not_the_usual_one() -> None:
    usual = SearchResult(title="", url="")
    assert [name for name in NAMES if getattr(FULL, name) == getattr(usual, name)] == []


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("name", NAMES)
def test_a_copy_has_the_field(copy: str, name: str) -> None:
    copied, left_out = COPIES[copy]
    result: Any = copied(FULL)
    expected = None if name in left_out else getattr(FULL, name)
    assert getattr(result, name) == expected


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"url", "engine", "rank", "also_from"}))
def test_a_result_takes_what_it_lacks_from_another_engine(name: str) -> None:
    assert getattr(BARE.joined(FULL), name) == getattr(FULL, name)
