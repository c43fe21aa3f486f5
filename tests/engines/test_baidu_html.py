"""Baidu: the page, cards and ads, the JSON answer as fallback, and the CAPTCHA, which is never bypassed."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from engines import small_pages as page
from engines.exchanges import address, answer, failure, first_request, run, sent
from suyuan.core.engine import EngineSettings
from suyuan.core.errors import SuyuanError, WebBlocked, WebParseError
from suyuan.core.freshness import Freshness
from suyuan.core.query import SearchQuery
from suyuan.core.result import EngineResults, SearchResult
from suyuan.core.wire import Response
from suyuan.engines.baidu_html import Baidu

LINK = "http://www.baidu.com/link?url=Qx0-_z&wd=&eqid=0f0f"
CAPTCHA_URL = "https://wappass.baidu.com/static/captcha/tuxing.html?ak=0f&backurl=https%3A%2F%2Fwww.baidu.com%2Fs"
ROW = page.baidu_row(LINK, "https://pots.example/1")


class OnThatDay(Baidu):
    @staticmethod
    def today() -> date:
        return date(2026, 3, 10)


def read(text: str | bytes) -> tuple[SearchResult, ...]:
    return Baidu().parse(answer(text)).results


# --- parsing ---------------------------------------------------------------------------------------------------
@pytest.mark.req("T5.3")
def test_a_result_has_the_address_of_the_page() -> None:
    row = page.baidu_row(
        LINK, "https://pots.example/?a=1&b=%20茶", "<em>茶壶</em>\n大全", "关于<em>茶壶</em>。", "2026年2月1日"
    )
    assert read(page.baidu_page(row)) == (
        SearchResult(
            "茶壶 大全", "https://pots.example/?a=1&b=%20茶", "关于茶壶。", "baidu_html", published_at="2026-02-01"
        ),
    )


@pytest.mark.req("T8.2", "T5.3")
@pytest.mark.parametrize(
    ("href", "url"),
    [
        (LINK, LINK),
        ("https://www.baidu.com/link?url=ab%2Bc", "https://www.baidu.com/link?url=ab%2Bc"),
        ("/link?url=Qx0-_z", "https://www.baidu.com/link?url=Qx0-_z"),
    ],
)
def test_a_link_through_baidu_is_kept(href: str, url: str) -> None:
    assert [r.url for r in read(page.baidu_page(page.baidu_row(href)))] == [url]


@pytest.mark.req("T5.3")
def test_pages_in_gbk_are_parsed() -> None:
    text = page.baidu_page(ROW).replace("charset=utf-8", "charset=gb2312")
    assert Baidu().parse(Response(200, text.encode("gbk"))).results[0].title == "茶壶大全"


@pytest.mark.req("T5.3")
@pytest.mark.parametrize(
    ("shown", "day"), [("3天前", "2026-03-07"), ("昨天", "2026-03-09"), ("2026-02-01", "2026-02-01"), ("茶壶网", None)]
)
def test_dates(shown: str, day: str | None) -> None:
    result = read(page.baidu_page(page.baidu_row(LINK, date=shown)))[0]
    assert (result.published_at, result.snippet) == (day, "关于茶壶。")


@pytest.mark.req("T5.3")
@pytest.mark.parametrize(
    ("mu", "inner"),
    [
        ("https://pots.example/", '<a class="c-blocka" href="/x"><h3>茶壶</h3></a><p class="c-abstract">关于茶。</p>'),
        ("", '<div class="c-title"><a href="https://pots.example/">茶壶</a></div><p class="x-abstract_1">关于茶。</p>'),
        (
            "",
            '<a class="c-blocka" href="https://pots.example/"><h3>茶壶</h3></a><div class="c-span-last">关于茶。</div>',
        ),
        ("https://pots.example/", '<h3>茶壶</h3><span class="content-right_8Zs40">关于茶。</span>'),
        ("https://pots.example/", '<h3>茶壶</h3><span class="summary-text_560AW">关于茶。</span>'),
    ],
)
def test_the_page_for_phones(mu: str, inner: str) -> None:
    text = f'<div id="results"><div class="c-result" mu="{mu}">{inner}</div></div>'
    assert read(text) == (SearchResult("茶壶", "https://pots.example/", "关于茶。", "baidu_html"),)


@pytest.mark.req("T5.3")
def test_ads_and_widgets_are_left_out() -> None:
    rows = (
        page.baidu_row("https://www.baidu.com/baidu.php?url=ad", "https://shop.example/"),
        page.baidu_row(LINK, "https://shop.example/2", title="茶壶 <span class='ec-tuiguang'>广告</span>"),
        page.baidu_row(LINK, "https://image.baidu.com/x", kind="result-op", tpl="image_strong_normal"),
        page.baidu_row(LINK, "https://pots.example/video", kind="result-op", tpl="short_video"),
        page.baidu_row(LINK, "http://nourl.ubs.baidu.com/51195", kind="result-op", tpl="recommend_list"),
        page.baidu_row(LINK, "", kind="result-op", tpl="baike"),
        page.baidu_row(LINK, "https://pots.example/untitled", title=""),
        page.baidu_row("javascript:;"),
        ROW,
    )
    assert [r.url for r in read(page.baidu_page(*rows))] == ["https://pots.example/1"]


@pytest.mark.req("T5.3")
@pytest.mark.parametrize(
    "url",
    [
        "https://baike.baidu.com/item/茶壶/1",
        "https://baike.baidu.com/subview/4187/11135167.htm",
        "https://zhidao.baidu.com/question/1.html",
        "https://pots.example/card",
    ],
)
def test_a_card_for_one_page_is_a_result(url: str) -> None:
    assert [r.url for r in read(page.baidu_page(page.baidu_row("x", url, kind="result-op", tpl="bk_polysemy")))] == [
        url
    ]


@pytest.mark.req("T5.3")
@pytest.mark.parametrize("text", [page.BAIDU_NOTHING, json.dumps(page.baidu_feed())], ids=["html", "json"])
def test_no_results_are_an_empty_answer(text: str) -> None:
    assert run(Baidu(), "茶壶", answer(text)).found == EngineResults()


# --- the JSON answer -------------------------------------------------------------------------------------------
@pytest.mark.req("T5.3")
def test_the_json_answer() -> None:
    assert Baidu().parse(
        answer(page.baidu_feed(page.BAIDU_ENTRY, {**page.BAIDU_ENTRY, "url": "https://pots.example/2", "time": None}))
    ) == EngineResults(
        (
            SearchResult(
                "茶壶 & 茶杯", "https://pots.example/cn", "关于 茶壶", "baidu_html", published_at="2026-01-01"
            ),
            SearchResult("茶壶 & 茶杯", "https://pots.example/2", "关于 茶壶", "baidu_html"),
        )
    )


def test_raw_control_characters_in_the_json_are_accepted() -> None:
    body = json.dumps(page.baidu_feed(page.BAIDU_ENTRY)).replace("<em>", "\t\x01<em>")
    assert len(read(body)) == 1


@pytest.mark.req("C7.2")
@pytest.mark.parametrize(
    "bad", [{"title": "x"}, {"url": None}, {"url": "ftp://x"}, {"url": "x"}, "text", 7, [1], {"url": {"a": 1}}]
)
def test_malformed_entries_are_skipped_and_noted(bad: Any) -> None:
    found = Baidu().parse(answer(page.baidu_feed(bad, page.BAIDU_ENTRY)))
    assert [r.url for r in found.results] == ["https://pots.example/cn"]
    assert found.notes == ("1 malformed results skipped",)
    assert isinstance(failure(Baidu(), answer(page.baidu_feed(bad))), WebParseError)


@pytest.mark.parametrize("time", [-1, 10**12, "soon", 1.5, []])
def test_an_impossible_time_is_no_date(time: Any) -> None:
    assert Baidu().parse(answer(page.baidu_feed({**page.BAIDU_ENTRY, "time": time}))).results[0].published_at is None


# --- failures --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("response", "kind", "detail"),
    [
        (answer(page.BAIDU_CAPTCHA), WebBlocked, "captcha_required"),
        (answer("<title>百度安全验证</title>"), WebBlocked, "captcha_required"),
        (answer("", 302, location=CAPTCHA_URL), WebBlocked, "captcha_required"),
        (answer("<p>turn the picture</p>", url=CAPTCHA_URL), WebBlocked, "captcha_required"),
        (answer({"antiFlag": 1, "feed": {}}), WebBlocked, "captcha_required"),
        (answer("<p>Quite another page.</p>"), WebParseError, "layout_changed"),
        (answer(page.baidu_page()), WebParseError, "layout_changed"),
        (answer(""), WebParseError, "empty_body"),
        (answer("{broken"), WebParseError, "layout_changed"),
        (answer({}), WebParseError, "layout_changed"),
        (answer({"feed": None}), WebParseError, "layout_changed"),
        (answer({"feed": {"entry": {"a": 1}}}), WebParseError, "layout_changed"),
        (answer({"feed": {"entry": "text"}}), WebParseError, "layout_changed"),
        (answer(b'{"a":' * 100_000), WebParseError, "layout_changed"),
        (answer("<p></p>", url="http://["), WebParseError, "layout_changed"),
    ],
)
@pytest.mark.req("T5.3", "T7.2", "G1.3")
def test_failures(response: Response, kind: type[SuyuanError], detail: str) -> None:
    error = failure(Baidu(), response)
    assert (type(error), error.detail_code, error.engine) == (kind, detail, "baidu_html")


@pytest.mark.req("T5.3")
def test_a_redirect_elsewhere_is_no_captcha() -> None:
    error = failure(Baidu(), answer("", 302, url="https://www.baidu.com/s?wd=x", location="https://m.example/"))
    assert error.detail_code == "redirected"
    assert "m.example" in error.message


@pytest.mark.req("T5.3")
@pytest.mark.parametrize(
    "broken", [answer("<p>Quite another page.</p>"), answer(bytes(range(128, 256)) * 20)], ids=["page", "bytes"]
)
def test_the_json_answer_is_requested_if_the_page_cannot_be_parsed(broken: Response) -> None:
    done = run(Baidu(), "茶壶", broken, answer(page.baidu_feed("bad", page.BAIDU_ENTRY)))
    assert [address(r) for r in done.requests] == ["https://www.baidu.com/s"] * 2
    assert sent(done.requests[1]) == {**sent(done.requests[0]), "tn": "json"}
    assert [r.url for r in done.found.results] == ["https://pots.example/cn"]
    assert done.found.notes == ("page not readable, JSON answer used", "1 malformed results skipped")


@pytest.mark.req("T5.3")
@pytest.mark.parametrize(
    "shut",
    [
        answer(page.BAIDU_CAPTCHA),
        answer("", 302, location=CAPTCHA_URL),
        answer("", 403),
        answer("", 429),
        answer("", 500),
    ],
    ids=["page", "redirect", "403", "429", "500"],
)
def test_a_captcha_is_reported_and_never_bypassed(shut: Response) -> None:
    done = run(Baidu(), "茶壶", shut)
    assert "tn" not in sent(done.request)
    assert done.error.retryable


@pytest.mark.req("T5.3")
def test_a_captcha_in_the_json_answer_is_reported_too() -> None:
    assert run(Baidu(), "茶壶", answer("<p>?</p>"), answer({"antiFlag": 1})).error.detail_code == "captcha_required"


# --- requests --------------------------------------------------------------------------------------------------
@pytest.mark.req("P9.1", "G1.2")
def test_the_request() -> None:
    request = first_request(Baidu(), "茶壶 & 茶杯")
    assert (request.method, request.body, dict(request.headers)) == ("GET", b"", {})
    assert request.url == "https://www.baidu.com/s?wd=%E8%8C%B6%E5%A3%B6+%26+%E8%8C%B6%E6%9D%AF&rn=10&pn=0&ie=utf-8"


def test_the_base_url_can_be_set() -> None:
    assert (
        address(first_request(Baidu(EngineSettings(base_url="http://127.0.0.1:8000/")), "tea"))
        == "http://127.0.0.1:8000/s"
    )


@pytest.mark.req("P3.1", "T3.2")
@pytest.mark.parametrize(
    ("fresh", "gpc"),
    [
        ("day", "stf=1773014400,1773187200|stftype=1"),
        ("week", "stf=1772496000,1773187200|stftype=1"),
        ("2026-01-01..2026-01-31", "stf=1767225600,1769904000|stftype=1"),
        ("2026-01-01..", "stf=1767225600,1773187200|stftype=1"),
        ("2026-01-01..9999-12-31", "stf=1767225600,253402300800|stftype=1"),
    ],
)
def test_freshness(fresh: str, gpc: str) -> None:
    assert sent(first_request(OnThatDay(), SearchQuery("茶", freshness=Freshness.parse(fresh))))["gpc"] == gpc


@pytest.mark.req("T3.2")
def test_domains_become_operators() -> None:
    query = SearchQuery("茶壶", allowed_domains=("a.example",), blocked_domains=("c.example",))
    assert sent(first_request(Baidu(), query))["wd"] == "茶壶 site:a.example -site:c.example"


def test_a_query_that_is_too_long_is_cut_with_a_note() -> None:
    done = run(Baidu(), "茶" * 100, answer(page.BAIDU_NOTHING))
    assert sent(done.request)["wd"] == "茶" * 76
    assert done.found.notes == ("query cut to 76 characters",)
