"""The numbers of sources."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from suyuan.citations.registry import CitationRegistry
from suyuan.core.page import SearchPage
from suyuan.core.query import SearchQuery
from suyuan.core.receipt import Attempt
from suyuan.core.result import SearchResult


def page(query: str, *urls: str) -> SearchPage:
    results = tuple(SearchResult(f"T {url}", url, f"about {query}", "x", rank) for rank, url in enumerate(urls, 1))
    return SearchPage(SearchQuery(query), results, (Attempt("x", "ok", len(results)),), 1)


@pytest.mark.req("C15.1")
def test_numbers_increase_over_the_searches_and_a_known_page_keeps_its_number() -> None:
    registry = CitationRegistry()
    first = registry.add(page("one", "https://a.example/", "https://b.example/"))
    second = registry.add(page("two", "https://c.example/", "http://www.a.example"))
    assert [s.number for s in first] == [1, 2] and [s.number for s in second] == [3, 1]
    assert second[1].snippet == "about two" and registry.by_number()[1].snippet == "about one"
    assert [(s.number, s.round, s.domain) for s in registry.sources] == [
        (1, 1, "a.example"),
        (2, 1, "b.example"),
        (3, 2, "c.example"),
    ]
    assert [(r.query, r.sources) for r in registry.rounds] == [("one", (1, 2)), ("two", (3, 1))]
    assert list(registry.by_number()) == [1, 2, 3]


@pytest.mark.req("C12.1", "C4.4")
def test_results_become_a_map_from_number_to_title_address_and_domain() -> None:
    registry = CitationRegistry()
    registry.add(page("q", "https://www.a.example/1?x=2", "http://b.example:8080/", "https://中文.example/页"))
    assert {s.number: (s.title, s.url, s.domain) for s in registry.sources} == {
        1: ("T https://www.a.example/1?x=2", "https://www.a.example/1?x=2", "a.example"),
        2: ("T http://b.example:8080/", "http://b.example:8080/", "b.example"),
        3: ("T https://中文.example/页", "https://中文.example/页", "中文.example"),
    }


def test_results_beyond_the_limit_are_not_numbered() -> None:
    registry = CitationRegistry()
    assert len(registry.add(page("q", *(f"https://a.example/{i}" for i in range(10))), limit=5)) == 5
    assert registry.add(page("r", "https://b.example/"))[0].number == 6


def test_concurrent_searches_never_share_a_number() -> None:
    registry = CitationRegistry()

    def search(n: int) -> list[int]:
        return [s.number for s in registry.add(page(str(n), *(f"https://{n}.example/{i}" for i in range(5))))]

    with ThreadPoolExecutor(8) as pool:
        numbers = [number for found in pool.map(search, range(40)) for number in found]
    assert sorted(numbers) == list(range(1, 201)) and len(registry.rounds) == 40
