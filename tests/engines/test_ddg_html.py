"""DuckDuckGo: the html page, the lite page as fallback, and the ways in which it refuses."""

from __future__ import annotations

import re
from datetime import date

import pytest

from engines import small_pages as page
from engines.exchanges import address, answer, failure, first_request, run, sent
from suyuan.core.engine import EngineSettings
from suyuan.core.errors import SuyuanError, WebBlocked, WebParseError, WebProviderError
from suyuan.core.freshness import Freshness
from suyuan.core.query import SearchQuery
from suyuan.core.result import EngineResults, SearchResult
from suyuan.core.wire import Response
from suyuan.engines.ddg_html import DuckDuckGo, unwrap
from suyuan.engines.query_kit import _DDG_COUNTRIES

TARGET = "https://pots.example/a b?q=1&r=%20+2#茶"


class OnThatDay(DuckDuckGo):
    @staticmethod
    def today() -> date:
        return date(2026, 3, 10)


def read(text: str) -> tuple[SearchResult, ...]:
    return DuckDuckGo().parse(answer(text)).results


# --- parsing ---------------------------------------------------------------------------------------------------
@pytest.mark.req("T5.2", "P3.2", "P10.1")
def test_a_result() -> None:
    row = page.ddg_row(
        page.uddg(TARGET), "Tea <b>pots</b>\n &amp; more", "About <b>tea</b>\n pots.", "2026-02-01T00:00:00.0000000"
    )
    assert read(page.ddg_page(row)) == (
        SearchResult("Tea pots & more", TARGET, "About tea pots.", "ddg_html", published_at="2026-02-01"),
    )


@pytest.mark.req("T5.2")
def test_a_date_in_front_of_the_snippet_is_removed_from_it() -> None:
    row = page.ddg_row("https://pots.example/", snippet='<span class="result__date">3 days ago</span> About tea.')
    assert read(page.ddg_page(row)) == (
        SearchResult("Tea pots", "https://pots.example/", "About tea.", "ddg_html", published_at="2026-03-07"),
    )


@pytest.mark.req("T5.2")
def test_order_is_kept_and_a_page_shown_twice_is_one() -> None:
    rows = [page.ddg_row(page.uddg(f"https://pots.example/{n}"), f"Pot {n}") for n in (3, 1, 3, 2)]
    assert [r.title for r in read(page.ddg_page(*rows))] == ["Pot 3", "Pot 1", "Pot 2"]


@pytest.mark.req("T5.2")
def test_ads_are_left_out() -> None:
    hidden = page.ddg_row(page.uddg("https://duckduckgo.com/y.js?ad_domain=shop.example"), "An ad without the mark")
    direct = page.ddg_row("https://duckduckgo.com/y.js?ad_domain=shop.example", "Another")
    marked = page.ddg_row("https://shop.example/", "An ad with an address of its own", kind="result--ad")
    row = page.ddg_row("https://pots.example/")
    shown = read(page.ddg_page(page.DDG_AD, hidden, direct, marked, row))
    assert [r.url for r in shown] == ["https://pots.example/"]


@pytest.mark.req("T5.2")
def test_the_lite_page() -> None:
    rows = (
        page.lite_row(page.uddg("https://shop.example/"), "Buy tea pots", kind="result-sponsored"),
        page.lite_row(page.uddg(TARGET), "Tea <b>pots</b>", "About <b>tea</b>.", "2026-02-01T00:00:00.0000000"),
        page.lite_row("https://pots.example/2", "More", "No date."),
    )
    assert read(page.lite_page(*rows)) == (
        SearchResult("Tea pots", TARGET, "About tea.", "ddg_html", published_at="2026-02-01"),
        SearchResult("More", "https://pots.example/2", "No date.", "ddg_html"),
    )


@pytest.mark.req("T5.2")
def test_a_lite_result_without_a_snippet_does_not_take_the_next_one() -> None:
    bare = '<tr><td><a href="https://pots.example/1" class="result-link">Bare</a></td></tr>'
    assert [
        r.snippet for r in read(page.lite_page(bare, page.lite_row("https://pots.example/2", "Full", "Mine.")))
    ] == ["", "Mine."]


@pytest.mark.req("T5.2")
def test_the_rendered_page() -> None:
    text = (
        '<div id="react-layout"><article data-testid="result"><h2><a data-testid="result-title-a" '
        'href="https://pots.example/">Tea</a></h2>'
        '<div data-result="snippet">About tea.</div></article></div>'
    )
    assert read(text) == (SearchResult("Tea", "https://pots.example/", "About tea.", "ddg_html"),)


@pytest.mark.req("T5.2")
@pytest.mark.parametrize(
    "text",
    [
        page.ddg_page(page.DDG_NOTHING),
        page.ddg_page(page.DDG_AD, page.DDG_NOTHING),
        page.lite_page(page.LITE_NOTHING),
        "<div id='react-layout'><p data-testid='no-results-message'>No results</p></div>",
    ],
    ids=["html", "html with ads", "lite", "rendered"],
)
def test_no_results_are_an_empty_answer(text: str) -> None:
    assert run(DuckDuckGo(), "tea pots", answer(text)).found == EngineResults()


@pytest.mark.parametrize(
    ("href", "target"),
    [
        (page.uddg(TARGET), TARGET),
        ("/l/?uddg=https%3A%2F%2Fpots.example%2F", "https://pots.example/"),
        (
            "https://html.duckduckgo.com/l/?kh=-1&uddg=https%3A%2F%2Fpots.example%2F%3Fa%3Db%252Bc",
            "https://pots.example/?a=b%2Bc",
        ),
        (
            "https://pots.example/l/?uddg=https%3A%2F%2Fother.example",
            "https://pots.example/l/?uddg=https%3A%2F%2Fother.example",
        ),
        ("//pots.example/x", "https://pots.example/x"),
        (page.uddg("https://notduckduckgo.com/y.js?x"), "https://notduckduckgo.com/y.js?x"),
        (page.uddg("http://[broken"), "http://[broken"),
        (page.uddg("javascript:alert(1)"), ""),
        (page.uddg("httpx://pots.example"), ""),
        (page.uddg("https://duckduckgo.com/y.js?ad=1"), ""),
        ("https://duckduckgo.com/y.js?ad=1", ""),
        ("javascript:alert(1)", ""),
        ("/settings", ""),
        ("http://[", ""),
        ("", ""),
    ],
)
@pytest.mark.req("T1.2", "T5.2")
def test_unwrapping(href: str, target: str) -> None:
    assert unwrap(href) == target


# --- failures --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "status", "kind", "detail"),
    [
        (page.DDG_CHALLENGE, 200, WebBlocked, "captcha_required"),
        (page.DDG_CHALLENGE, 202, WebBlocked, "captcha_required"),
        ("<form action='/anomaly.js?x'></form>", 200, WebBlocked, "captcha_required"),
        (page.DDG_SHELL, 200, WebBlocked, "javascript_required"),
        ("<script>DDG.Pages.SERP();</script>", 200, WebBlocked, "javascript_required"),
        (page.DDG_OUT_OF_ORDER, 200, WebProviderError, "api_error"),
        ("<p>Quite another page.</p>", 200, WebParseError, "layout_changed"),
        (page.ddg_page(), 200, WebParseError, "layout_changed"),
        ("", 200, WebParseError, "empty_body"),
    ],
)
@pytest.mark.req("T5.2", "T7.2", "G1.3")
def test_failures(text: str, status: int, kind: type[SuyuanError], detail: str) -> None:
    error = failure(DuckDuckGo(), answer(text, status))
    assert (type(error), error.detail_code, error.engine) == (kind, detail, "ddg_html")


def test_a_page_about_the_error_is_no_error() -> None:
    row = page.ddg_row("https://pots.example/", snippet=page.DDG_OUT_OF_ORDER)
    assert len(read(page.ddg_page(row))) == 1


@pytest.mark.req("T5.2")
@pytest.mark.parametrize("broken", [page.DDG_OUT_OF_ORDER, "<p>Quite another page.</p>"])
def test_the_lite_page_is_requested_if_the_html_page_is_broken(broken: str) -> None:
    done = run(DuckDuckGo(), "tea pots", answer(broken), answer(page.lite_page(page.lite_row("https://pots.example/"))))
    assert [address(r) for r in done.requests] == [
        "https://html.duckduckgo.com/html/",
        "https://html.duckduckgo.com/lite/",
    ]
    assert sent(done.requests[0]) == sent(done.requests[1])
    assert [r.url for r in done.found.results] == ["https://pots.example/"]
    assert done.found.notes == ("html page broken, lite page used",)


def test_there_is_no_third_request() -> None:
    done = run(DuckDuckGo(), "tea pots", answer(page.DDG_OUT_OF_ORDER), answer(page.DDG_OUT_OF_ORDER))
    assert done.error.detail_code == "api_error"


@pytest.mark.req("T5.2")
@pytest.mark.parametrize(
    "shut", [answer(page.DDG_CHALLENGE, 202), answer(page.DDG_SHELL), answer("", 403), answer("", 429), answer("", 503)]
)
def test_a_block_on_the_html_page_is_not_retried(shut: Response) -> None:
    done = run(DuckDuckGo(), "tea pots", shut)
    assert done.request.url.endswith("/html/")
    assert done.error.retryable


# --- requests --------------------------------------------------------------------------------------------------
@pytest.mark.req("P9.1", "G1.2", "T5.2")
def test_the_request_is_that_of_the_form() -> None:
    request = first_request(DuckDuckGo(), "茶壶 & 茶杯")
    assert (request.method, request.url) == ("POST", "https://html.duckduckgo.com/html/")
    assert request.body == b"q=%E8%8C%B6%E5%A3%B6+%26+%E8%8C%B6%E6%9D%AF&b=&kl=cn-zh"
    assert request.headers == {
        "Content-Type": "application/x-www-form-urlencoded",
        "Referer": "https://html.duckduckgo.com/",
    }


def test_the_base_url_can_be_set() -> None:
    engine = DuckDuckGo(EngineSettings(base_url="http://127.0.0.1:8000/ddg/"))
    assert first_request(engine, "tea").url == "http://127.0.0.1:8000/ddg/html/"


@pytest.mark.parametrize(
    ("lang", "country", "region"),
    [
        ("zh", "", "cn-zh"), ("zh-CN", "", "cn-zh"), ("zh-TW", "", "tw-tzh"), ("zh-Hant", "", "tw-tzh"),
        ("zh", "HK", "hk-tzh"),
        ("ja", "", "jp-jp"), ("de", "", "de-de"), ("de", "AT", "at-de"), ("en-GB", "", "uk-en"), ("en", "US", "us-en"),
        ("es", "US", "us-es"),
        ("", "US", "us-en"), ("", "CN", "cn-zh"), ("", "DE", "de-de"), ("", "GB", "uk-en"), ("", "TW", "tw-tzh"),
        ("en", "", None), ("", "", None), ("no", "", None),
    ],
)  # fmt: skip
@pytest.mark.req("P3.1", "G1.2", "T3.2")
def test_regions(lang: str, country: str, region: str | None) -> None:
    assert sent(first_request(DuckDuckGo(), SearchQuery("tea", lang=lang, country=country))).get("kl") == region


@pytest.mark.req("G1.2")
def test_a_country_comes_before_the_language_of_the_text() -> None:
    assert sent(first_request(DuckDuckGo(), SearchQuery("茶壶", country="US")))["kl"] == "us-en"


def test_the_region_codes_contain_the_country_codes() -> None:
    others = {"GB": "uk", "SA": "xa", "SI": "sl"}
    assert len(_DDG_COUNTRIES) > 50
    for country, region in _DDG_COUNTRIES.items():
        assert re.fullmatch(f"{others.get(country, country.lower())}-[a-z]{{2,3}}", region)
        assert SearchQuery("tea", country=country).country == country


def test_a_country_without_a_region_is_noted() -> None:
    found = run(DuckDuckGo(), SearchQuery("tea", country="AQ"), answer(page.ddg_page(page.DDG_NOTHING))).found
    assert found.notes == ("DuckDuckGo has no region for AQ",)


@pytest.mark.req("P3.1", "T3.2")
@pytest.mark.parametrize(
    ("fresh", "df"),
    [
        ("day", "d"), ("week", "w"), ("month", "m"), ("year", "y"),
        ("2026-01-01..2026-02-01", "2026-01-01..2026-02-01"),
        ("2026-01-01..", "2026-01-01..2026-03-10"), ("..2026-02-01", "1990-01-01..2026-02-01"),
    ],
)  # fmt: skip
def test_freshness(fresh: str, df: str) -> None:
    assert sent(first_request(OnThatDay(), SearchQuery("tea", freshness=Freshness.parse(fresh))))["df"] == df


@pytest.mark.req("T3.2")
def test_domains_become_operators() -> None:
    query = SearchQuery("tea", allowed_domains=("a.example", "b.example"), blocked_domains=("c.example",))
    assert sent(first_request(DuckDuckGo(), query))["q"] == "tea (site:a.example OR site:b.example) -site:c.example"


def test_a_query_that_is_too_long_is_cut_with_a_note() -> None:
    done = run(DuckDuckGo(), "tea " * 200, answer(page.ddg_page(page.DDG_NOTHING)))
    assert sent(done.request)["q"] == "tea " * 124 + "tea"
    assert done.found.notes == ("query cut to 499 characters",)
