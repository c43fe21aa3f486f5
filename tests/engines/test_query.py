"""The text of a query, its operators and its locale."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from suyuan.core.freshness import Freshness
from suyuan.core.query import SearchQuery
from suyuan.engines.kit import COUNTRIES, day_of, is_ordinary, locale, query_text, site_operators, texts
from suyuan.engines.query_kit import google_locale

TWO = ("a.example", "b.example")
MANY = tuple(f"site-{n}.example" for n in range(10))


@pytest.mark.req("T3.2")
@pytest.mark.parametrize(
    ("allowed", "blocked", "words"),
    [
        ((), (), ""),
        (("a.example",), (), "site:a.example"),
        (TWO, (), "(site:a.example OR site:b.example)"),
        ((), TWO, "-site:a.example -site:b.example"),
        (TWO, ("c.example",), "(site:a.example OR site:b.example) -site:c.example"),
    ],
)
def test_operators(allowed: tuple[str, ...], blocked: tuple[str, ...], words: str) -> None:
    assert site_operators(allowed, blocked) == words


@pytest.mark.parametrize(
    ("text", "limit", "asked"),
    [
        ("tea pots", 8, "tea pots"),
        ("tea pots", 7, "tea"),
        ("tea pots and kettles", 12, "tea pots and"),
        ("tea pots and kettles", 13, "tea pots and"),
        ("tea pots and kettles", 14, "tea pots and"),
        ("a porcelaine", 8, "a porcel"),
        ("茶壶茶杯茶叶", 4, "茶壶茶杯"),
    ],
)
def test_a_text_is_cut_at_a_word_where_there_is_one(text: str, limit: int, asked: str) -> None:
    notes = (f"query cut to {len(asked)} characters",) if asked != text else ()
    assert query_text(SearchQuery(text), limit) == (asked, notes)


@pytest.mark.req("T3.2")
def test_operators_are_kept_whole_and_the_words_cut() -> None:
    assert query_text(SearchQuery("tea pots and kettles", allowed_domains=("a.example",)), 30) == (
        "tea pots and site:a.example",
        ("query cut to 12 characters",),
    )


@pytest.mark.req("T3.2")
def test_too_many_domains_leave_half_of_the_length_for_the_words() -> None:
    text, notes = query_text(SearchQuery("tea pots", allowed_domains=MANY, blocked_domains=TWO), 75)
    assert text == "tea pots (site:site-0.example OR site:site-1.example)"
    assert notes == ("query too long for 10 of its domains",)


@pytest.mark.req("T3.2")
def test_blocked_domains_are_dropped_before_allowed_ones() -> None:
    text, notes = query_text(SearchQuery("tea", allowed_domains=("a.example",), blocked_domains=MANY), 40)
    assert text == "tea site:a.example -site:site-0.example"
    assert notes == ("query too long for 9 of its domains",)


@pytest.mark.parametrize("limit", [5, 10, 20, 40, 76, 100, 400])
@pytest.mark.parametrize("words", ["tea", "tea pots " * 30, "茶" * 120])
@pytest.mark.parametrize("allowed", [(), ("a.example",), MANY, ("x" * 60 + ".example",)])
def test_the_limit_holds_and_words_are_never_lost(limit: int, words: str, allowed: tuple[str, ...]) -> None:
    query = SearchQuery(words, allowed_domains=allowed, blocked_domains=MANY)
    text, notes = query_text(query, limit)
    assert 0 < len(text) <= limit
    assert not text.startswith(("site:", "(", "-"))
    assert text.count("(") == text.count(")")
    assert bool(notes) == (len(f"{query.text} {site_operators(query.allowed_domains, query.blocked_domains)}") > limit)


@pytest.mark.req("G1.2", "T3.2")
@pytest.mark.parametrize(
    ("query", "lang", "country"),
    [
        (SearchQuery("tea"), "", ""),
        (SearchQuery("茶壶"), "zh", "CN"),
        (SearchQuery("きゅうす"), "ja", "JP"),
        (SearchQuery("茶壶", lang="en"), "en", "US"),
        (SearchQuery("茶壶", country="SG"), "zh", "SG"),
        (SearchQuery("tea", lang="zh"), "zh", "CN"),
        (SearchQuery("tea", lang="zh_cn"), "zh", "CN"),
        (SearchQuery("tea", lang="zh-TW"), "zh", "TW"),
        (SearchQuery("tea", lang="zh-Hant"), "zh", "TW"),
        (SearchQuery("tea", lang="zh-Hans"), "zh", "CN"),
        (SearchQuery("tea", lang="zh-Hant-HK"), "zh", "HK"),
        (SearchQuery("tea", lang="de", country="at"), "de", "AT"),
        (SearchQuery("tea", lang="pt-PT"), "pt", "PT"),
        (SearchQuery("tea", lang="es-419"), "es", "ES"),
        (SearchQuery("tea", lang="eo"), "eo", ""),
        (SearchQuery("tea", country="CN"), "", "CN"),
    ],
)
def test_locale(query: SearchQuery, lang: str, country: str) -> None:
    assert locale(query) == (lang, country)


def test_every_language_has_a_country_that_can_be_asked_for() -> None:
    for lang, country in COUNTRIES.items():
        query = SearchQuery("tea", lang=lang, country=country)
        assert (query.lang, query.country) == (lang, country) == locale(SearchQuery("tea", lang=lang))


@pytest.mark.parametrize(
    "text", ["tea pots", "how to clean an old tea pot", "茶壶", "怎样清洗旧茶壶", "weather new york", "茶 壶"]
)
def test_ordinary(text: str) -> None:
    assert is_ordinary(SearchQuery(text))


@pytest.mark.parametrize(
    "query",
    [
        SearchQuery("tea"),
        SearchQuery("茶"),
        SearchQuery("茶" * 13),
        SearchQuery('"tea pots" old'),
        SearchQuery("tea -pots"),
        SearchQuery("site:a.example tea"),
        SearchQuery("tea | pots"),
        SearchQuery("(tea pots)"),
        SearchQuery("tea +pots"),
        SearchQuery("tea pot*"),
        SearchQuery("one two three four five six seven eight nine"),
        SearchQuery("tea qwertyuiopasdfghjklzx"),
        SearchQuery("tea pots", allowed_domains=TWO),
        SearchQuery("tea pots", blocked_domains=TWO),
        SearchQuery("tea pots", freshness=Freshness.parse("week")),
    ],
    ids=str,
)
def test_not_ordinary(query: SearchQuery) -> None:
    assert not is_ordinary(query)


@pytest.mark.parametrize(
    ("fresh", "seconds"),
    [
        ("2025-03-01..2025-03-01", (1740787200, 1740873600)),
        ("1950-01-01..1970-01-01", (0, 86_400)),
        ("..9999-12-31", (631152000, 253402300800)),
    ],
)
def test_days_in_seconds_begin_with_the_first_and_end_with_the_last(fresh: str, seconds: tuple[int, int]) -> None:
    assert Freshness.parse(fresh).seconds(date(2025, 3, 7)) == seconds


@pytest.mark.parametrize(
    ("value", "day"),
    [
        (1741089600, "2025-03-04"), (0, None), (10**14, None), (-5, None), (True, None), (None, None), ([], None),
        ("4 Mar 2025", "2025-03-04"), ("3 days ago", "2025-03-01"),
    ],
)  # fmt: skip
def test_a_day_is_a_text_or_a_number_of_seconds(value: object, day: str | None) -> None:
    assert day_of(value, datetime(2025, 3, 4, tzinfo=UTC)) == day


def test_texts_of_a_list_of_objects() -> None:
    assert texts([{"a": {"name": " Ada  L. "}}, {"a": {}}, "Bob", None], "a.name") == ("Ada L.",)
    assert texts("no list", "a.name") == ()


@pytest.mark.parametrize(
    ("lang", "country", "sent"),
    [
        ("zh-CN", "TW", {"hl": "zh-CN", "gl": "tw"}),
        ("zh-Hant", "", {"hl": "zh-TW"}),
        ("zh", "HK", {"hl": "zh-TW", "gl": "hk"}),
        ("he", "", {"hl": "iw"}),
        ("en-GB", "", {"hl": "en", "gl": "gb"}),
        ("", "", {}),
    ],
)
def test_google_and_who_resells_its_results_are_asked_with_its_codes(
    lang: str, country: str, sent: dict[str, str]
) -> None:
    assert google_locale(SearchQuery("x", lang=lang, country=country)) == sent
