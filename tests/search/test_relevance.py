"""Results must be about the query: an engine that answers something else has refused."""

from __future__ import annotations

import pytest

from support import pages
from support.client import client
from support.site import reply, serve
from suyuan.core.errors import WebBlocked
from suyuan.core.query import SearchQuery
from suyuan.core.result import SearchResult
from suyuan.core.views import receipt
from suyuan.search.relevance import RELEVANT, relevance

PIZZA = "popular times Domino's Pizza 2800 S Joyce St Arlington VA"
DICTIONARY = [
    ("popular的用法和搭配 - 知道", "popular 的定义与用法：作为名词表示流行、人气、受欢迎，如 the popularity of this book；形容词为 most popular。"),
    ("popular 是什么意思 - 词典", "popular 的意思是流行的、通俗的、受欢迎的、大众的；be popular with 表示受到欢迎，be popular for 表示原因。"),
    ("popular的比较级和最高级", "popular 的比较级是 more popular，最高级是 most popular；在英语中多音节形容词的变化规则为前面加 more 或 most。"),
]  # fmt: skip
MOVIES = [
    ("The 100 best popular movies of all time", "A list of popular films that everybody should have seen, chosen by our critics and readers."),
    ("Popular music charts of this week", "The most popular songs of the week, with videos and lyrics, and what listeners say about them."),
    ("Why some names become popular", "A study of popular first names in several countries and how long they stay in fashion there."),
]  # fmt: skip
GIT = [
    ("git - How do I undo the last commit? - Stack Overflow", "Use git reset to undo the last local commit and keep your changes in the working tree."),
    ("Undoing commits in Git | Tutorial", "How to undo a commit: reset, revert and checkout of single files, explained with many examples."),
    ("Git - git-reset Documentation", "Reset current HEAD to the specified state; the last commit is undone and the index is kept."),
]  # fmt: skip
BRIDGE = [
    ("港珠澳大桥 - 百科", "港珠澳大桥是连接香港、珠海和澳门的桥隧工程，全长五十五公里，于二〇一八年十月开通运营，是世界上最长的跨海大桥。"),
    ("港珠澳大桥通车时间与全长", "大桥主体工程全长约二十九点六公里，全线总长五十五公里，其中海底隧道六点七公里，由三地政府共同建设和管理运营。"),
    ("港珠澳大桥管理局官方网站", "提供港珠澳大桥通行信息、收费标准和口岸指引，以及大桥的建设历程、技术资料和图片，全长与各段长度见工程概况。"),
]  # fmt: skip
WEATHER = [
    ("北京天气预报_一周天气", "北京今天晴转多云，最高气温十二摄氏度，最低气温三摄氏度，空气质量良好，适合外出活动，未来一周气温逐渐下降。"),
    ("上海天气预报十五天查询", "上海未来十五天天气查询，包括温度、湿度、风力、降水概率和空气质量指数，数据来自气象部门，每小时更新一次。"),
    ("广州今日天气", "广州今日多云间晴，气温十八到二十六摄氏度，东北风二到三级，夜间有零星小雨，出门请带好雨具并注意安全。"),
]  # fmt: skip


def results(*rows: tuple[str, str], host: str = "") -> list[SearchResult]:
    return [SearchResult(t, f"https://{host or f'site{i}.example'}/{i}", s) for i, (t, s) in enumerate(rows)]


def share(query: str, rows: list[tuple[str, str]], host: str = "", **fields: object) -> float | None:
    return relevance(SearchQuery(query, **fields), results(*rows, host=host))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (PIZZA, MOVIES),
        (PIZZA, DICTIONARY),
        (PIZZA.lower(), DICTIONARY),
        ("popular pizza places arlington", DICTIONARY),
        ("how do I undo the last commit in git", MOVIES),
        ("港珠澳大桥全长多少公里", WEATHER),
        ("北京冬季奥运会开幕式导演是谁", BRIDGE),
    ],
)
def test_decoys_hold_hardly_any_word(query: str, rows: list[tuple[str, str]]) -> None:
    found = share(query, rows)
    assert found is not None and found < RELEVANT


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("how do I undo the last commit in git", GIT),
        ("undo last comit git", GIT),
        ("site:stackoverflow.com undo last commit -svn", GIT),
        ('"undo" last commit intitle:git', GIT),
        ("UNDOING LAST COMMITS", GIT),
        ("港珠澳大桥全长多少公里？", BRIDGE),
        ("港珠澳大桥什么时候通车", BRIDGE),
        ("北京今天天气怎么样", WEATHER),
        (
            "I made a mistake yesterday evening while working on my laptop at home and would now like to undo the last "
            "commit in git without losing the changes in the working tree; what should somebody like me type?",
            GIT,
        ),
    ],
)
def test_genuine_results_hold_at_least_half_of_the_words(query: str, rows: list[tuple[str, str]]) -> None:
    found = share(query, rows)
    assert found is not None and found >= 0.5


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("git", MOVIES),  # too short
        ("undo commit", MOVIES),
        ("大桥全长", WEATHER[:2]),  # too few results
        ("how to reach the longest bridge of the world by bus", BRIDGE),  # translated
        ("港珠澳大桥全长多少公里", GIT),
        ("香港珠海澳門大橋總長度", WEATHER),  # traditional characters, simplified results
        ("самый длинный мост через море", GIT),  # inflected in ways that are not known here
        ("how do I undo my last commit with git",
         [("Den letzten Commit rückgängig machen", "So macht man mit der Versionsverwaltung die letzte Änderung rückgängig und behält die Dateien auf der Platte."),
          ("Änderungen zurücknehmen", "Der Befehl setzt den Zeiger zurück und lässt die Dateien unverändert, wenn man es nicht anders verlangt und will."),
          ("Versionsverwaltung für Anfänger", "Die wichtigsten Befehle für den Alltag und was man tut, wenn das eine oder das andere nicht mehr geht.")]),
        ("undo the last commit in git", [("Result 1", "Snippet 1."), ("Result 2", ""), ("Result 3", "")]),  # no text
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_not_judged(query: str, rows: list[tuple[str, str]]) -> None:
    assert share(query, rows) is None


def test_names_and_numbers_weigh_more() -> None:
    held = [
        (
            "Arlington 2800 and more",
            "A page that is about a place and has its number and many other words that nobody asked for.",
        )
    ] * 3
    common = [
        (
            "popular times of shops",
            "A page that has the ordinary words of the query and none of the names or of the numbers in it.",
        )
    ] * 3
    query = "popular times Arlington 2800"
    assert (share(query, held) or 0) > (share(query, common) or 0)


def test_ten_results_of_one_site_about_one_word_are_no_translation() -> None:
    query = "popular restaurants square"
    assert share(query, DICTIONARY) is None
    assert (share(query, DICTIONARY, host="zhidao.example") or 0) < RELEVANT
    assert share(query, DICTIONARY, host="zhidao.example", allowed_domains=("zhidao.example",)) is None


def bing(rows: list[tuple[str, str]]) -> str:
    items = "".join(
        f'<li class="b_algo"><h2><a href="https://site{i}.example/">{title}</a></h2>'
        f'<div class="b_caption"><p>{text}</p></div></li>'
        for i, (title, text) in enumerate(rows)
    )
    return f'<html><body><ol id="b_results">{items}</ol></body></html>'


class TestSearch:
    @pytest.mark.req("T7.2", "P3.2")
    async def test_a_decoy_is_a_refusal_and_the_next_engine_is_asked(self) -> None:
        async with (
            serve(lambda _: reply(bing(DICTIONARY))) as one,
            serve(lambda _: reply(pages.ddg())) as two,
            client({"bing_html": one.url, "ddg_html": two.url}) as h,
        ):
            page = await h.search_service.search(PIZZA, engines="bing_html,ddg_html")
        assert page.engine == "ddg_html"
        refused, answered = receipt(page.attempts)
        assert (refused["outcome"], refused["code"], refused["detail_code"]) == ("blocked", "WebBlocked", "soft_block")
        assert "not about the query" in refused["message"] and refused["relevance"] < 0.2
        assert answered["relevance"] is None, "these results have too little text"

    async def test_alone_it_is_the_error(self) -> None:
        async with serve(lambda _: reply(bing(MOVIES))) as site, client({"bing_html": site.url}) as h:
            with pytest.raises(WebBlocked, match="not about the query") as caught:
                await h.search_service.search(PIZZA, engines="bing_html")
        assert caught.value.detail_code == "soft_block" and caught.value.retry_after and len(site.seen) == 1

    async def test_the_figure_of_a_genuine_page_is_in_the_receipt(self) -> None:
        async with serve(lambda _: reply(bing(GIT))) as site, client({"bing_html": site.url}) as h:
            page = await h.search_service.search("undo the last commit in git", engines="bing_html")
        assert page.attempts[0].relevance == 0.92, "the last page does not hold all four words"
