"""Bing: the page, its links, and the empty page as a block."""

from __future__ import annotations

from datetime import date

import pytest

from engines import small_pages as page
from engines.exchanges import address, answer, first_request, run, sent
from suyuan.core.engine import EngineSettings
from suyuan.core.errors import SuyuanError, WebBlocked, WebParseError
from suyuan.core.freshness import Freshness
from suyuan.core.query import SearchQuery
from suyuan.core.result import EngineResults, SearchResult
from suyuan.engines.bing_html import Bing, unwrap

TARGET = "https://pots.example/a b?q=1&r=%20+2#茶"
EMPTY = page.bing_page(page.BING_NOTHING)


class OnThatDay(Bing):
    @staticmethod
    def today() -> date:
        return date(2026, 3, 10)


def read(text: str) -> tuple[SearchResult, ...]:
    return Bing().parse(answer(text)).results


# --- parsing ---------------------------------------------------------------------------------------------------
@pytest.mark.req("G4.2")
def test_a_result() -> None:
    row = page.bing_row(
        page.ck(TARGET), "<strong>Tea</strong> pots\n &amp; more", "About <strong>tea</strong>.", "Feb 1, 2026"
    )
    assert read(page.bing_page(row)) == (
        SearchResult("Tea pots & more", TARGET, "About tea.", "bing_html", published_at="2026-02-01"),
    )


@pytest.mark.req("G4.2")
def test_a_result_with_a_plain_link_and_a_relative_date() -> None:
    row = page.bing_row("https://pots.example/", snippet="关于茶。", date="2 天前")
    assert read(page.bing_page(row)) == (
        SearchResult("Tea pots", "https://pots.example/", "关于茶。", "bing_html", published_at="2026-03-08"),
    )


@pytest.mark.parametrize(
    ("shown", "day"),
    [
        ("2025年8月27日", "2025-08-27"),
        ("2025 年 8 月 27 日", "2025-08-27"),
        ("2025-08-27", "2025-08-27"),
        ("3 天之前", "2026-03-07"),
        ("3天前", "2026-03-07"),
        ("17 小时之前", "2026-03-09"),
        ("5 分钟之前", "2026-03-10"),
        ("2 周之前", "2026-02-24"),
        ("2 个月以前", "2026-01-09"),
        ("17 小時前", "2026-03-09"),
        ("2 個月前", "2026-01-09"),
        ("昨天", "2026-03-09"),
        ("Aug 27, 2025", "2025-08-27"),
        ("August 27, 2025", "2025-08-27"),
        ("27 Aug 2025", "2025-08-27"),
        ("27/08/2025", "2025-08-27"),
        ("3 days ago", "2026-03-07"),
        ("1 day ago", "2026-03-09"),
        ("a day ago", "2026-03-09"),
        ("an hour ago", "2026-03-10"),
        ("Yesterday", "2026-03-09"),
        ("3/4/2025", None),
    ],
)
@pytest.mark.parametrize("element", [True, False])
def test_a_date_is_no_part_of_the_snippet(shown: str, day: str | None, element: bool) -> None:
    row = page.bing_row(TARGET, snippet="关于茶。" if element else f"{shown} · 关于茶。", date=shown if element else "")
    found = read(page.bing_page(row))[0]
    assert (found.snippet, found.published_at) == ("关于茶。", day)


@pytest.mark.parametrize(
    "text", ["5 rows · See the tables", "茶壶 · 2025年8月27日发布", "On May 5, 2025 tea · pots", "· tea"]
)
def test_what_only_looks_like_a_date_stays(text: str) -> None:
    found = read(page.bing_page(page.bing_row(TARGET, snippet=text)))[0]
    assert found.snippet == text.lstrip(" ·") and found.published_at is None


def test_the_label_of_mobile_pages_is_not_part_of_the_snippet() -> None:
    assert (
        read(page.bing_page(page.bing_row("https://pots.example/", snippet="<span>WEB</span> About tea.")))[0].snippet
        == "About tea."
    )


@pytest.mark.parametrize(
    "body",
    [
        "<div class='b_caption'><p>About tea.</p></div><p>Other.</p>",
        "<p>Other.</p><p class='b_lineclamp4'>About tea.</p>",
        "<p>Other.</p><p class='b_lineclamp3'>About tea.</p>",
        "<p>Other.</p><p class='b_lineclamp2'>About tea.</p>",
        "<p>Other.</p><div class='b_snippet'><p>About tea.</p></div>",
        "<p>Other.</p><div class='b_snippet'>About tea.</div>",
        "<p>About tea.</p>",
    ],
)
def test_the_snippet_may_be_in_several_elements(body: str) -> None:
    assert (
        read(page.bing_page(f"<li class='b_algo'><h2><a href='https://pots.example/'>Tea</a></h2>{body}</li>"))[
            0
        ].snippet
        == "About tea."
    )


@pytest.mark.parametrize(
    "head",
    [
        "<h2><a href='https://pots.example/'>Tea</a></h2>",
        "<div class='b_title'><a href='https://pots.example/'>Tea</a></div>",
        "<h2>Tea</h2><a class='tilk' href='https://pots.example/'>pots.example</a>",
    ],
)
def test_the_title_may_be_in_several_elements(head: str) -> None:
    assert read(page.bing_page(f"<li class='b_algo'>{head}</li>")) == (
        SearchResult("Tea", "https://pots.example/", "", "bing_html"),
    )


@pytest.mark.req("G4.2")
def test_ads_widgets_and_duplicates_are_left_out() -> None:
    rows = (
        page.bing_row("https://shop.example/", kind="b_ad"),
        page.bing_row("https://www.bing.com/aclk?ld=0f&u=a1aHR0cHM6Ly9zaG9wLmV4YW1wbGUv", "Ad"),
        page.bing_row("https://www.bing.com/aclick?ld=0f", "Ad"),
        page.bing_row("https://www.bing.com/images/search?q=tea", kind="b_ans"),
        page.bing_row(page.ck("https://pots.example/1"), "One"),
        page.bing_row("https://pots.example/1", "One again"),
        page.bing_row("https://pots.example/2", "Two"),
        page.bing_row("javascript:void(0)", "No page"),
    )
    assert [r.title for r in read(page.bing_page(*rows))] == ["One", "Two"]


@pytest.mark.req("T1.2")
@pytest.mark.parametrize(
    ("href", "target"),
    [
        (page.ck(TARGET), TARGET),
        (page.ck("https://pots.example/?x=~~~???>>>"), "https://pots.example/?x=~~~???>>>"),
        (page.ck("http://pots.example/"), "http://pots.example/"),
        (page.ck("/images/search?q=tea"), "https://www.bing.com/images/search?q=tea"),
        ("https://bing.com/ck/a?u=a1aHR0cHM6Ly9wb3RzLmV4YW1wbGUv", "https://pots.example/"),
        ("https://cn.bing.com/ck/a?u=a1aHR0cHM6Ly9wb3RzLmV4YW1wbGUv", "https://pots.example/"),
        (
            "https://pots.example/ck/a?u=a1aHR0cHM6Ly9wb3RzLmV4YW1wbGUv",
            "https://pots.example/ck/a?u=a1aHR0cHM6Ly9wb3RzLmV4YW1wbGUv",
        ),
        ("https://notbing.com/aclk?x=1", "https://notbing.com/aclk?x=1"),
        ("https://www.bing.com/aclk?ld=1", ""),
        ("https://www.bing.com/ck/a?p=1", ""),
        ("https://www.bing.com/ck/a?u=b2xyz", ""),
        ("https://www.bing.com/ck/a?u=a1" + "x", ""),
        ("https://www.bing.com/ck/a?u=a1茶", ""),
        ("https://www.bing.com/ck/a?u=a1_w", ""),
        (page.ck("httpx://pots.example"), ""),
        (page.ck("javascript:alert(1)"), ""),
        ("javascript:alert(1)", ""),
        ("http:pots", ""),
        ("/search?q=x", ""),
        ("http://[", ""),
        ("", ""),
    ],
)
def test_unwrapping(href: str, target: str) -> None:
    assert unwrap(href) == target


# --- failures --------------------------------------------------------------------------------------------------
@pytest.mark.req("T7.2", "G1.3")
@pytest.mark.parametrize("text", ["tea pots", "how to clean an old tea pot", "茶壶", "weather berlin"])
def test_an_empty_page_for_an_ordinary_query_is_a_block(text: str) -> None:
    done = run(Bing(), text, answer(EMPTY))
    assert isinstance(done.error, WebBlocked)
    assert done.error.detail_code == "soft_block"


@pytest.mark.parametrize(
    "query",
    [
        SearchQuery('"tea pot of the emperor"'),
        SearchQuery("qzxvkwqzxvkwqzxvkwqzxvkwqzxvkw pot"),
        SearchQuery("pots"),
        SearchQuery("tea -pots"),
        SearchQuery("site:pots.example tea"),
        SearchQuery("tea pots", allowed_domains=("pots.example",)),
        SearchQuery("tea pots", freshness=Freshness.parse("day")),
    ],
    ids=str,
)
@pytest.mark.req("G1.3")
def test_an_empty_page_for_an_unusual_query_is_an_answer(query: SearchQuery) -> None:
    assert run(Bing(), query, answer(EMPTY)).found == EngineResults()


def test_an_empty_page_for_an_unknown_query_is_an_answer() -> None:
    assert Bing().parse(answer(EMPTY)) == EngineResults()


@pytest.mark.parametrize(
    ("text", "kind", "detail"),
    [
        (page.BING_CHALLENGE, WebBlocked, "captcha_required"),
        ("<div class='captcha'></div>", WebBlocked, "captcha_required"),
        ("<form action='/challenge/verify'></form>", WebBlocked, "captcha_required"),
        ("<p>Quite another page.</p>", WebParseError, "layout_changed"),
        (page.bing_page(), WebParseError, "layout_changed"),
        ("", WebParseError, "empty_body"),
    ],
)
@pytest.mark.req("T7.2", "G1.3")
def test_failures(text: str, kind: type[SuyuanError], detail: str) -> None:
    error = run(Bing(), "tea pots", answer(text)).error
    assert (type(error), error.detail_code, error.engine) == (kind, detail, "bing_html")


def test_results_about_captchas_are_results() -> None:
    row = page.bing_row(
        "https://pots.example/captcha", "CAPTCHA", "<span class='captcha'>How to solve a CAPTCHA</span>"
    )
    assert len(read(page.bing_page(row))) == 1


# --- requests --------------------------------------------------------------------------------------------------
@pytest.mark.req("P9.1", "G1.2")
def test_the_request() -> None:
    request = first_request(Bing(), "tea & pots")
    assert (request.method, request.url, dict(request.headers)) == (
        "GET",
        "https://www.bing.com/search?q=tea+%26+pots&form=QBLH",
        {},
    )
    assert "q=%E8%8C%B6%E5%A3%B6&" in first_request(Bing(), "茶壶").url


def test_the_base_url_can_be_set() -> None:
    assert (
        address(first_request(Bing(EngineSettings(base_url="https://cn.bing.com/")), "tea"))
        == "https://cn.bing.com/search"
    )


@pytest.mark.parametrize(
    ("query", "setlang", "mkt", "cc"),
    [
        (SearchQuery("tea", lang="zh"), "zh-hans", "zh-CN", "CN"),
        (SearchQuery("茶壶"), "zh-hans", "zh-CN", "CN"),
        (SearchQuery("tea", lang="zh-TW"), "zh-hant", "zh-TW", "TW"),
        (SearchQuery("tea", lang="zh-Hant"), "zh-hant", "zh-TW", "TW"),
        (SearchQuery("tea", lang="de", country="AT"), "de", "de-AT", "AT"),
        (SearchQuery("tea", lang="eo"), "eo", None, None),
        (SearchQuery("tea", country="GB"), None, None, "GB"),
        (SearchQuery("tea"), None, None, None),
    ],
)
@pytest.mark.req("P3.1", "G1.2", "T3.2")
def test_language_and_market(query: SearchQuery, setlang: str | None, mkt: str | None, cc: str | None) -> None:
    params = sent(first_request(Bing(), query))
    assert (params.get("setlang"), params.get("mkt"), params.get("cc")) == (setlang, mkt, cc)


@pytest.mark.req("P3.1", "T3.2")
@pytest.mark.parametrize(
    ("fresh", "filters"),
    [
        ("day", 'ex1:"ez1"'), ("week", 'ex1:"ez2"'), ("month", 'ex1:"ez3"'), ("year", 'ex1:"ez5_20156_20522"'),
        ("2026-01-01..2026-01-31", 'ex1:"ez5_20454_20484"'), ("2026-01-01..", 'ex1:"ez5_20454_20522"'),
    ],
)  # fmt: skip
def test_freshness(fresh: str, filters: str) -> None:
    assert sent(first_request(OnThatDay(), SearchQuery("tea", freshness=Freshness.parse(fresh))))["filters"] == filters


@pytest.mark.req("T3.2")
def test_domains_become_operators() -> None:
    query = SearchQuery("tea", allowed_domains=("a.example", "b.example"), blocked_domains=("c.example", "d.example"))
    assert (
        sent(first_request(Bing(), query))["q"]
        == "tea (site:a.example OR site:b.example) -site:c.example -site:d.example"
    )


def test_a_query_that_is_too_long_is_cut_with_a_note() -> None:
    done = run(Bing(), "tea pot " * 200, answer(EMPTY))
    assert sent(done.request)["q"] == "tea pot " * 124 + "tea pot"
    assert done.found.notes == ("query cut to 999 characters",)
