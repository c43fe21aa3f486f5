"""The engine without a network."""

from __future__ import annotations

import pytest

from engines.exchanges import answer, run
from suyuan.core.query import SearchQuery
from suyuan.engines.stub import Stub


@pytest.mark.req("T5.1")
def test_three_fixed_results_and_no_request() -> None:
    done = run(Stub(), "tea pots")
    assert done.requests == []
    assert [r.url for r in done.found.results] == [
        "https://example.com/stub/1",
        "https://example.org/stub/2",
        "https://example.net/stub/3",
    ]
    assert all(r.title and r.engine == "stub" and "tea pots" in r.snippet for r in done.found.results)


@pytest.mark.req("T5.1")
@pytest.mark.parametrize("text", ["{query}", "{0} {", "%s %", "茶壶"])
def test_the_query_is_shown_as_it_is(text: str) -> None:
    assert run(Stub(), text).found.results[0].snippet.endswith(text)


@pytest.mark.req("T5.1")
def test_any_response_gives_the_same_results() -> None:
    assert (
        run(Stub(), "tea").found
        == run(Stub(), SearchQuery("tea", count=1, lang="zh", allowed_domains=("a.example",))).found
    )
    assert len(Stub().parse(answer(b"\x00broken", 500)).results) == 3


@pytest.mark.req("T5.1")
def test_it_needs_no_key() -> None:
    assert Stub().configured
    assert Stub().probe() is None
