"""What can be asked, and what is refused before anything happens."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from suyuan.core.errors import InvalidInput
from suyuan.core.freshness import Freshness
from suyuan.core.query import SearchQuery


@pytest.mark.req("T3.1", "T7.1")
@pytest.mark.parametrize("count", [0, 11, -1, 2.5, "5", True, None])
def test_the_number_of_results_is_from_one_to_ten(count: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        SearchQuery("x", count=count)
    assert "1 to 10" in caught.value.message


@pytest.mark.req("T3.2")
@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({"lang": "english please"}, "bad_lang"),
        ({"country": "China"}, "bad_country"),
        ({"freshness": "recently"}, "bad_freshness"),
        ({"freshness": "2026-13-01..2026-12-01"}, "bad_freshness"),
        ({"freshness": "2026-03-01..2026-01-01"}, "bad_freshness"),
        ({"allowed_domains": ("not a domain",)}, "bad_domain"),
        ({"blocked_domains": ("http://x.example/path",)}, "bad_domain"),
        ({"allowed_domains": ("x.example OR inurl:evil",)}, "bad_domain"),
        ({"budget_ms": 0}, "bad_budget"),
        ({"budget_ms": 10**9}, "bad_budget"),
    ],
)
def test_bad_fields_name_their_cure(fields: dict[str, Any], detail: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        SearchQuery("x", **fields)
    assert caught.value.detail_code == detail and caught.value.hint and not caught.value.retryable


def test_a_long_text_is_refused_with_its_length() -> None:
    with pytest.raises(InvalidInput) as caught:
        SearchQuery("x" * 2001)
    assert "2001" in caught.value.message


@pytest.mark.req("T3.2", "P4.2")
def test_fields_are_written_in_one_way() -> None:
    query = SearchQuery(
        "  a\tb\r\nc　d ", lang="zh_cn", country="us", freshness="pw", allowed_domains="www.Python.org, *.example.com.",  # type: ignore[arg-type]
    )  # fmt: skip
    assert (query.text, query.lang, query.country) == ("a b c d", "zh-CN", "US")
    assert query.allowed_domains == ("python.org", "example.com")
    assert query.freshness == Freshness(period="week")
    assert SearchQuery("x", lang="auto").lang == ""


def test_scripts_that_need_joiners_keep_them() -> None:
    assert SearchQuery("می\u200cخواهم").text == "می\u200cخواهم"


@pytest.mark.parametrize(
    ("text", "fresh"),
    [
        ("day", Freshness(period="day")),
        ("m", Freshness(period="month")),
        ("py", Freshness(period="year")),
        ("oneWeek", Freshness(period="week")),
        ("2026-01-01..2026-02-01", Freshness(since=date(2026, 1, 1), until=date(2026, 2, 1))),
        ("2026-01-01to2026-02-01", Freshness(since=date(2026, 1, 1), until=date(2026, 2, 1))),
        ("2026-01-01..", Freshness(since=date(2026, 1, 1))),
    ],
)
def test_spellings_of_a_time_range(text: str, fresh: Freshness) -> None:
    assert Freshness.parse(text) == fresh


def test_a_period_and_an_open_range_can_be_said_as_dates() -> None:
    today = date(2026, 11, 15)
    assert Freshness.parse("week").dates(today) == (date(2026, 11, 8), today)
    assert Freshness.parse("..2020-01-01").dates(today) == (date(1990, 1, 1), date(2020, 1, 1))


def test_two_queries_are_the_same_search_whoever_asks() -> None:
    one, two = SearchQuery("x", trace_id="1", budget_ms=100), SearchQuery("x", trace_id="2")
    assert one.key() == two.key() != SearchQuery("x", lang="de").key()
