from __future__ import annotations

import json
import re
import runpy
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suyuan.core.errors import SuyuanError, WebBlocked, WebParseError
from suyuan.core.freshness import Freshness
from suyuan.core.query import SearchQuery
from suyuan.core.result import EngineResults, SearchResult
from suyuan.core.wire import Request, Response
from suyuan.engines.google import Google, unwrap

SHARED = Path(__file__).parents[3] / "shared"
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
FORM = '<form role="search" action="/search"><textarea name="q">tea pots</textarea></form>'
NOSCRIPT = (
    '<noscript><meta http-equiv="refresh" content="0;url=/httpservice/retry/enablejs?sei=x">'
    '<a href="/httpservice/retry/enablejs?sei=x">here</a></noscript>'
)


def hit(url: str, title: str, text: str = "A text about tea pots that is long enough to be a snippet.") -> str:
    """One result as on a desktop page today."""
    address = f'<div class="q0"><cite role="text">{url}</cite></div>'
    return (
        f'<div class="MjjYud"><div class="tF2Cxc" data-hveid="C"><div class="N54"><div class="kb0" data-snf="x5">'
        f'<div class="yuRUbf"><div><span><a class="zReHs" href="{url}"><h3 class="LC20lb">{title}</h3><br>{address}</a>'
        f"</span>"
        f'<div class="B6fmyf">{address}<div role="button"></div></div></div></div></div>'
        f'<div class="kb0" data-sncf="1"><div class="VwiC3b" style="-webkit-line-clamp:2">{text}</div></div></div>'
        f"</div></div>"
    )


def desktop(*blocks: str, before: str = "", after: str = "") -> str:
    """A desktop page with ``blocks``."""
    return (
        f"<!doctype html><html><head><title>tea pots - Google Search</title></head><body>{NOSCRIPT}{FORM}"
        f'<div id="main"><div id="cnt"><div id="rcnt">{before}<div id="center_col" role="main"><div id="res"><div '
        f'id="search">'
        f'<div data-hveid="A"><div id="rso">{"".join(blocks)}</div></div></div></div><div id="botstuff">{after}</div>'
        "</div></div></div></div></body></html>"
    )


def page(
    body: str | bytes, status: int = 200, url: str = "https://www.google.com/search?q=tea+pots", **headers: str
) -> Response:
    return Response(status, body.encode() if isinstance(body, str) else body, url, headers, NOW)


def read(body: str | bytes) -> tuple[SearchResult, ...]:
    return Google().parse(page(body)).results


def urls(body: str | bytes) -> list[str]:
    return [result.url for result in read(body)]


def asked(query: SearchQuery) -> tuple[Request, dict[str, str]]:
    request = next(Google().exchange(query))
    return request, {
        name: values[0] for name, values in parse_qs(urlsplit(request.url).query, keep_blank_values=True).items()
    }


THREE = desktop(
    hit("https://a.example/1", "One"), hit("https://b.example/2", "Two"), hit("https://c.example/3", "Three")
)


# --- requests --------------------------------------------------------------------------------------------------
@pytest.mark.req("G3.1", "G1.2")
def test_a_chinese_query_is_asked_in_chinese_through_the_browser() -> None:
    request, params = asked(SearchQuery("紫砂壶 价格"))
    assert request.via == "browser"
    assert request.method == "GET"
    assert request.url.startswith("https://www.google.com/search?q=%E7%B4%AB")
    assert params == {"q": "紫砂壶 价格", "hl": "zh-CN"}


@pytest.mark.req("G3.1", "G1.2")
@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (SearchQuery("tea"), {}),
        (SearchQuery("tea", lang="en"), {"hl": "en", "lr": "lang_en"}),
        (SearchQuery("tea", lang="en-GB"), {"hl": "en", "lr": "lang_en", "gl": "gb"}),
        (SearchQuery("茶", lang="zh"), {"hl": "zh-CN", "lr": "lang_zh-CN"}),
        (SearchQuery("茶", lang="zh-TW"), {"hl": "zh-TW", "lr": "lang_zh-TW", "gl": "tw"}),
        (SearchQuery("茶", lang="zh-Hant"), {"hl": "zh-TW", "lr": "lang_zh-TW"}),
        (SearchQuery("茶", lang="zh-TW", country="CN"), {"hl": "zh-TW", "lr": "lang_zh-TW", "gl": "cn"}),
        (SearchQuery("茶", country="HK"), {"hl": "zh-TW", "gl": "hk"}),
        (SearchQuery("お茶"), {"hl": "ja"}),
        (SearchQuery("차"), {"hl": "ko"}),
        (SearchQuery("תה", lang="he"), {"hl": "iw", "lr": "lang_iw"}),
        (SearchQuery("tea", country="de"), {"gl": "de"}),
        (SearchQuery("tea", freshness=Freshness.parse("week")), {"tbs": "qdr:w"}),
        (SearchQuery("tea", freshness=Freshness.parse("year")), {"tbs": "qdr:y"}),
        (
            SearchQuery("tea", freshness=Freshness.parse("2026-01-02..2026-03-31")),
            {"tbs": "cdr:1,cd_min:1/2/2026,cd_max:3/31/2026"},
        ),
        (SearchQuery("tea", freshness=Freshness.parse("2026-01-02..")), {"tbs": "cdr:1,cd_min:1/2/2026,cd_max:"}),
    ],
    ids=str,
)
def test_language_country_and_period_are_passed_on(query: SearchQuery, wanted: dict[str, str]) -> None:
    _, params = asked(query)
    assert params == {"q": query.text, **wanted}


@pytest.mark.req("G3.1")
def test_domains_become_operators() -> None:
    _, params = asked(SearchQuery("tea", allowed_domains=("a.example", "b.example"), blocked_domains=("c.example",)))
    assert params["q"] == "tea (site:a.example OR site:b.example) -site:c.example"


@pytest.mark.req("G3.1")
def test_one_request_gives_the_results() -> None:
    exchange = Google().exchange(SearchQuery("tea pots"))
    next(exchange)
    with pytest.raises(StopIteration) as done:
        exchange.send(page(THREE))
    found: EngineResults = done.value.value
    assert [result.title for result in found.results] == ["One", "Two", "Three"]


# --- versions of the page --------------------------------------------------------------------------------------
@pytest.mark.req("G3.1", "G2.1")
def test_a_desktop_page_gives_title_link_snippet_and_source() -> None:
    first, second, third = read(
        desktop(
            hit(
                "https://www.a.example/1?x=1&amp;y=2",
                "One &amp; only",
                "<span>Text <em>one</em> here.</span><a href='#'>Read more</a>",
            ),
            hit(
                "https://b.example/2",
                "Two",
                "<span class='LEwnzc'><span>Feb 3, 2026</span> — </span><span>Text two.</span>",
            ),
            hit("https://c.example/3", "Three", "<span><span>3 days ago</span> — </span>Text three."),
        )
    )
    assert first == SearchResult("One & only", "https://www.a.example/1?x=1&y=2", "Text one here.", "google")
    assert first.source == "a.example"
    assert (second.snippet, second.published_at) == ("Text two.", "2026-02-03")
    assert (third.snippet, third.published_at) == ("Text three.", "2026-03-07")


@pytest.mark.req("G3.1")
def test_only_organic_results_count() -> None:
    card = '<a href="https://video.example/v"><div role="heading">A film</div></a><a href="https://video.example/w"><h3>Another</h3></a>'
    boxes = [
        f'<div class="ULSxyf"><g-scrolling-carousel><g-inner-card>{card}</g-inner-card></g-scrolling-carousel></div>',
        f'<g-section-with-header><h3 role="heading">Top stories</h3>{card}</g-section-with-header>',
        f'<div role="list"><div role="listitem">{card}</div></div>',
        f'<div class="related-question-pair" data-q="Why?">{hit("https://answer.example", "An answer")}</div>',
        f'<div data-initq="tea">{hit("https://answer.example/2", "An answer")}</div>',
        f'<div data-attrid="SrpGenSumSummary">{hit("https://summary.example", "Of the summary")}</div>',
        f'<div id="rhs" role="complementary">{hit("https://panel.example", "Of the panel")}</div>',
        '<a href="/search?q=tea&amp;tbm=isch"><h3>Images for tea</h3></a>',
        '<a href="https://www.google.com/search?q=tea&amp;ibp=htl;jobs"><h3>Jobs</h3></a>',
        '<a role="button" href="https://play.example/app"><h3>Install</h3></a>',
    ]
    ad = f'<div id="tads"><div data-text-ad="1">{hit("https://ad.example", "Buy")}</div></div>'
    other_ad = f'<div data-text-ad="1">{hit("https://ad.example/2", "Buy")}</div><a href="https://www.googleadservices.com/pagead/aclk?x"><h3>Buy</h3></a>'
    body = desktop(
        hit("https://a.example/1", "One"), *boxes, hit("https://b.example/2", "Two"), before=ad, after=other_ad
    )
    assert urls(body) == ["https://a.example/1", "https://b.example/2"]


@pytest.mark.req("G3.1")
def test_sitelinks_belong_to_their_result_and_indented_results_count() -> None:
    links = '<table><tr><td><h3><a href="https://a.example/kits">Kits</a></h3><div>All our kits</div></td></tr></table>'
    indented = f"<ul><li>{hit('https://a.example/more', 'More of it')}</li></ul>"
    body = desktop(f'<div class="g">{hit("https://a.example/", "Shop")}{links}</div>', indented)
    assert urls(body) == ["https://a.example/", "https://a.example/more"]


@pytest.mark.req("G3.1")
def test_results_within_the_tabs_of_a_knowledge_panel_and_single_films_count() -> None:
    film = (
        '<div class="PmEWq"><div class="xe"><div><span><a href="https://film.example/v"><h3>A film</h3></a></span>'
        "</div></div>"
        '<div class="iH"><a href="https://film.example/v"><div><span>2:38</span></div></a>'
        "<div>Words about the film, in some length.</div></div></div>"
    )
    tabs = f'<div class="kp-wholepage"><div role="tabpanel">{hit("https://a.example/1", "One")}{film}</div></div>'
    one, two = read(desktop(tabs))
    assert one.url == "https://a.example/1"
    assert (two.url, two.snippet) == ("https://film.example/v", "Words about the film, in some length.")


@pytest.mark.req("G3.1")
def test_a_page_in_a_featured_snippet_counts_once() -> None:
    featured = f"<block-component>{hit('https://a.example/1#:~:text=tea%20pots', 'One')}</block-component>"
    assert urls(desktop(featured, hit("https://a.example/1", "One"), hit("https://b.example/2", "Two"))) == [
        "https://a.example/1",
        "https://b.example/2",
    ]


@pytest.mark.req("G3.1")
def test_a_desktop_page_of_2020() -> None:
    result = (
        '<div class="g"><div class="rc"><div class="yuRUbf"><a href="https://a.example/{0}"><br><h3><span>Title '
        "{0}</span></h3>"
        '<div><cite>a.example</cite></div></a><div class="B6fmyf"><cite>a.example</cite><ol role="menu"><li>Cached</li>'
        "</ol></div></div>"
        '<div class="IsZvec"><span class="aCOpRe"><span class="f">Dec 3, 2019 · </span><span>Snippet number {0}.</span>'
        "</span></div>"
        "</div></div>"
    )
    one, two = read(desktop(result.format(1), result.format(2)))
    assert one == SearchResult(
        "Title 1", "https://a.example/1", "Snippet number 1.", "google", published_at="2019-12-03"
    )
    assert two.title == "Title 2"


@pytest.mark.req("G3.1")
def test_a_page_of_2016_with_the_link_inside_the_heading() -> None:
    result = (
        '<div class="g"><h3 class="r"><a href="/url?q=https://a.example/{0}&amp;sa=U">Title {0}</a></h3>'
        '<div class="s"><cite>a.example</cite><span class="st">Snippet number {0}.</span></div>{1}</div>'
    )
    sitelinks = '<table><tr><td><h3 class="r"><a href="/url?q=https://a.example/kits">Kits</a></h3></td></tr></table>'
    both = result.format(1, sitelinks) + result.format(2, "")
    body = f'<table id="mn"><tr><td><div id="res"><div id="ires"><ol>{both}</ol></div></div></td></tr></table>'
    assert [(r.title, r.url, r.snippet) for r in read(body)] == [
        ("Title 1", "https://a.example/1", "Snippet number 1."),
        ("Title 2", "https://a.example/2", "Snippet number 2."),
    ]


def without_scripts(*blocks: str) -> str:
    foot = '<footer><a href="/url?q=https://accounts.google.com/x">Sign in</a></footer>'
    form = '<form id="sf"><input name="q" value="tea pots"></form>'
    return f'<body>{form}<div id="main">{"".join(blocks)}{foot}</div></body>'


@pytest.mark.req("G3.1")
@pytest.mark.parametrize("box", ["ZINbbc xpd", "Gx5Zad xpd"])
def test_a_page_without_javascript(box: str) -> None:
    result = (
        '<div><div class="{box}"><div class="kCrYT"><a href="/url?q=https://a.example/{n}%3Fa%3Db%2Bc%2520d&amp;'
        'sa=U&amp;ved=x">'
        '<h3><div class="BNeawe">Title {n}</div></h3><div class="BNeawe">a.example › {n}</div></a></div><div '
        'class="x54"></div>'
        '<div class="kCrYT"><div class="BNeawe"><div><span>Feb 3, 2021</span><span> · </span>Snippet number {n}, in '
        "full.</div></div></div>"
        "</div></div>"
    )
    song = '<div><div class="xpd"><div><a href="/search?q=song&amp;stick=x"><h3>A song</h3></a></div></div></div>'
    ad = '<div class="uEierd"><a href="http://www.google.com/aclk?sa=l"><div role="heading">Buy</div></a></div>'
    one, two = read(without_scripts(ad, song, result.format(box=box, n=1), result.format(box=box, n=2)))
    assert (one.title, one.url) == ("Title 1", "https://a.example/1?a=b+c%20d")
    assert (one.snippet, one.published_at) == ("Snippet number 1, in full.", "2021-02-03")
    assert two.title == "Title 2"


@pytest.mark.req("G3.1")
def test_a_phones_page() -> None:
    result = (
        '<div class="MjjYud"><div class="xpd"><div><div><a role="presentation" {more}href="https://m.example/{n}"><div>'
        "<span>m.example</span>"
        '<div role="heading"><div role="link">Title {n}</div></div></div></a><div></div></div></div>'
        '<div data-sncf="1"><div><span><span>Feb 13, 2023</span> — </span>Snippet number {n}, as long as it '
        "takes.</div></div></div></div>"
    )
    amp = 'data-amp-cur="https://www.example/3" '
    film = '<div class="RzdJxc"><div role="heading"><a href="https://m.film.example/v">A film</a></div></div>'
    recipe = '<g-link><a href="https://recipe.example/r"><div role="heading">A cake</div></a></g-link>'
    link = '<a href="https://ad.example"><div role="heading">Buy</div></a>'
    ad = f'<div id="tads"><div data-text-ad="1">{link}</div></div>'
    blocks = [result.format(n=1, more=""), film, recipe, result.format(n=2, more=""), result.format(n=3, more=amp)]
    one, two, three = read(f'<div id="main">{FORM}{ad}<div id="rso">{"".join(blocks)}</div></div>')
    assert (one.title, one.url) == ("Title 1", "https://m.example/1")
    assert (one.snippet, one.published_at) == ("Snippet number 1, as long as it takes.", "2023-02-13")
    assert (two.url, three.url) == ("https://m.example/2", "https://www.example/3")


@pytest.mark.req("G3.1")
@pytest.mark.parametrize(
    "name", sorted({name for names in re.findall(r'class="([^"]*)"', THREE) for name in names.split()})
)
def test_no_single_class_name_is_needed(name: str) -> None:
    changed = re.sub(rf"\b{name}\b", "zz9", THREE)
    assert changed != THREE
    assert read(changed) == read(THREE)


@pytest.mark.req("G3.1")
def test_no_class_names_are_needed_at_all() -> None:
    assert read(re.sub(r' class="[^"]*"', "", THREE)) == read(THREE)


@pytest.mark.req("G3.1")
def test_code_within_a_result_is_no_text() -> None:
    (only,) = read(
        desktop(
            hit(
                "https://a.example/1", "One<script>var x=1</script>", "<style>b{}</style>The text.<script>go()</script>"
            )
        )
    )
    assert (only.title, only.snippet) == ("One", "The text.")


# --- links -----------------------------------------------------------------------------------------------------
@pytest.mark.req("G3.1")
@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("https://a.example/x?y=1#part", "https://a.example/x?y=1#part"),
        ("/url?q=https://a.example/x%3Fy%3D1&sa=U", "https://a.example/x?y=1"),
        ("/url?sa=t&url=https%3A%2F%2Fa.example%2Fx", "https://a.example/x"),
        ("https://www.google.co.jp/url?q=https://a.example/", "https://a.example/"),
        ("//a.example/x", "https://a.example/x"),
        ("/url?q=/search%3Fq%3Dtea", ""),
        ("/url?q=https://www.google.com/search%3Fq%3Dtea", ""),
        ("/search?q=tea", ""),
        ("/aclk?sa=l", ""),
        ("https://www.google.com/search?q=tea", ""),
        ("https://www.google.de/imgres?x", ""),
        ("https://www.googleadservices.com/pagead/aclk?sa=L", ""),
        ("https://support.google.com/websearch", "https://support.google.com/websearch"),
        ("https://developers.google.com/search", "https://developers.google.com/search"),
        ("https://www.google.com/chrome/", "https://www.google.com/chrome/"),
        ("https://a.example/#:~:text=tea", "https://a.example/"),
        ("#", ""),
        ("", ""),
        ("javascript:void(0)", ""),
        ("http://[", ""),
        ("//[", ""),
        ("/url?q=http://[", ""),
        ("https://google.com/url?q=" * 50 + "https://a.example", ""),
    ],
)
def test_links_are_unwrapped(href: str, target: str) -> None:
    assert unwrap(href) == target


# --- other pages -----------------------------------------------------------------------------------------------
SORRY = (
    '<title>https://www.google.com/search?q=tea</title><form id="captcha-form" action="index" method="post">'
    '<div id="recaptcha" class="g-recaptcha"></div><input type="hidden" name="q" value="token"></form>'
)
CONSENT_PAGE = (
    '<h1>Before you continue</h1><form action="https://consent.google.com/save" method="POST">'
    "<button>Reject all</button></form>"
)
SHELL = f"<html><head><title>Google Search</title></head><body>{NOSCRIPT}<script>var challenge=1</script></body></html>"


def refusal(response: Response) -> tuple[type[SuyuanError], str]:
    with pytest.raises(SuyuanError) as caught:
        Google().parse(response)
    assert caught.value.engine == "google"
    return type(caught.value), caught.value.detail_code


@pytest.mark.req("G3.2")
@pytest.mark.parametrize(
    "response",
    [
        page(SORRY),
        page(SORRY, 429),
        page(SORRY, 503),
        page("", url="https://www.google.com/sorry/index?continue=x"),
        page("", 302, location="https://www.google.com/sorry/index?continue=x"),
        page("", 302, location="/sorry/index?continue=x"),
        page('<body><img src="/sorry/image?id=1"><form action="Captcha"></form></body>'),
    ],
)
def test_a_captcha_is_recognised(response: Response) -> None:
    assert refusal(response) == (WebBlocked, "captcha_required")


@pytest.mark.req("G3.2")
@pytest.mark.parametrize(
    "response",
    [
        page(CONSENT_PAGE),
        page(CONSENT_PAGE, url="https://consent.google.de/ml?continue=x"),
        page("", 302, location="https://consent.google.com/ml?continue=x"),
    ],
)
def test_a_consent_page_is_recognised_and_says_what_to_do(response: Response) -> None:
    assert refusal(response) == (WebBlocked, "consent_required")
    with pytest.raises(WebBlocked) as caught:
        Google().parse(response)
    assert not caught.value.retryable
    assert caught.value.hint
    assert all(caught.value.say("zh"))


@pytest.mark.req("G1.3")
def test_a_page_of_scripts_alone_is_recognised() -> None:
    assert refusal(page(SHELL)) == (WebBlocked, "javascript_required")


@pytest.mark.req("G3.2")
def test_words_of_a_block_page_are_not_a_block() -> None:
    talk = hit(
        "https://a.example/captcha", "Solve a captcha", "unusual traffic, recaptcha, /sorry/, captcha-form, enablejs"
    )
    body = desktop(talk, before=CONSENT_PAGE, after="<script src='https://www.google.com/recaptcha/api.js'></script>")
    assert urls(body) == ["https://a.example/captcha"]


NONE_SAID = '<p role="heading">{0}<span><em>tea pots</em></span>{1}</p><p>{2}</p><ul><li>{3}</li></ul>'


@pytest.mark.req("G3.1")
@pytest.mark.parametrize(
    "body",
    [
        desktop(
            after=NONE_SAID.format(
                "Your search - ", " - did not match any documents.", "Suggestions:", "Try other words."
            )
        ),
        desktop(
            after=NONE_SAID.format(
                "Es wurden keine mit ", " übereinstimmenden Dokumente gefunden.", "Vorschläge:", "Andere Wörter."
            )
        ),
        desktop(
            before=f'<div id="topstuff">'
            f"{NONE_SAID.format('找不到和您查询的', '相符的内容。', '建议:', '请尝试其他词。')}</div>"
        ),
        desktop(
            before=CONSENT_PAGE,
            after=NONE_SAID.format("Your search - ", " - did not match any documents.", "Suggestions:", "Try."),
        ),
        without_scripts(
            "<div><span>Your search - </span><span>tea pots</span><span> - did not match any documents.</span></div>"
        ),
        desktop(after="<p>Your search - <b>tea pots</b> - did not match any documents.</p>"),
    ],
)
def test_no_results_are_an_empty_answer(body: str) -> None:
    assert Google().parse(page(body)) == EngineResults()


@pytest.mark.req("G1.3")
@pytest.mark.parametrize(
    "body",
    [
        "no page at all",
        "<h1>Welcome to the hotel</h1>",
        desktop(),
        desktop('<div><a href="https://a.example/1"><b>One</b></a></div>', after="<p>About <b>tea pots</b></p>"),
        without_scripts('<a href="/url?q=https://a.example/1">One</a><span>tea pots</span>'),
    ],
)
def test_an_unknown_page_is_an_error(body: str) -> None:
    assert refusal(page(body)) == (WebParseError, "layout_changed")


@pytest.mark.parametrize(
    "body", ["", " \n", "<html></html>", "<!doctype html><html lang=en><head></head><body></body></html>"]
)
def test_an_empty_page_is_an_error_of_its_own(body: str) -> None:
    assert refusal(page(body)) == (WebParseError, "empty_body")


@pytest.mark.req("G1.3")
def test_other_failures_keep_their_names() -> None:
    assert refusal(page("", 403))[1] == "http_403"
    assert refusal(page("", 429))[1] == "http_429"
    assert refusal(page("", 500))[1] == "http_5xx"
    assert refusal(page("", 302, location="https://login.example/"))[1] == "redirected"
    assert refusal(page(bytes(range(256)) * 20))[1] == "undecoded_body"


# --- any input -------------------------------------------------------------------------------------------------
def read_or_refuse(response: Response) -> None:
    try:
        found = Google().parse(response)
    except SuyuanError:
        return
    assert all(result.title and result.url.startswith(("http://", "https://")) for result in found.results)


@pytest.mark.req("G1.3")
@given(
    st.binary(max_size=300), st.sampled_from([200, 202, 302, 404, 429, 503]), st.text(max_size=40), st.text(max_size=40)
)
def test_any_bytes_are_parsed_or_refused(body: bytes, status: int, url: str, location: str) -> None:
    read_or_refuse(Response(status, body, url, {"location": location}))


JUNK = ("<a href='http://['>", "<h3>", "</div></div>", "<a href>", "<table>", "\ud7ff\x00", '<p role="heading">')
PIECES = re.findall(r"<[^>]*>|[^<]+", THREE)


@pytest.mark.req("G1.3")
@settings(deadline=None)
@given(data=st.data())
def test_a_damaged_page_is_parsed_or_refused(data: st.DataObject) -> None:
    pieces = list(PIECES)
    for _ in range(data.draw(st.integers(1, 12))):
        place = data.draw(st.integers(0, len(pieces) - 1))
        change = data.draw(st.sampled_from(["drop", "double", "swap", "junk"]))
        if change == "drop":
            pieces[place] = ""
        elif change == "double":
            pieces[place] *= 2
        elif change == "swap":
            pieces[place], pieces[0] = pieces[0], pieces[place]
        else:
            pieces[place] = data.draw(st.sampled_from(JUNK))
    read_or_refuse(page("".join(pieces)))


@pytest.mark.req("G1.1")
def test_a_deep_page_does_not_take_long() -> None:
    deep = "<div>" * 3000 + hit("https://a.example/1", "One") * 200
    begin = time.process_time()
    read_or_refuse(page(deep))
    assert time.process_time() - begin < 2


# --- recorded pages --------------------------------------------------------------------------------------------
def right(entry: dict[str, Any], folder: Path, score: dict[str, Any]) -> bool:
    try:
        found = Google().parse(Response(200, (folder / entry["file"]).read_bytes()))
        outcome = "ok" if found.results else "empty"
    except SuyuanError as error:
        found, outcome = EngineResults(), "blocked" if isinstance(error, WebBlocked) else "error"
    if entry["kind"] != "results":
        return outcome == {"no_results": "empty"}.get(entry["kind"], "blocked")
    have = {score["key"](result.url) for result in found.results}
    gold = set(score["gold"](folder, entry) or ())
    if not gold:
        return bool(abs(len(have) - entry["organic"]) <= max(1, 0.15 * entry["organic"]))
    return len(have & gold) >= 0.9 * max(len(have), len(gold))


@pytest.mark.req("G3.1", "G3.2")
@pytest.mark.skipif(
    not (SHARED / "serp" / "MANIFEST.json").exists(), reason="the recorded pages are not beside this repository"
)
def test_recorded_pages_are_parsed_correctly() -> None:
    folder = SHARED / "serp"
    score = runpy.run_path(str(SHARED / "score_serp.py"))
    entries = [e for e in json.loads((folder / "MANIFEST.json").read_text(encoding="utf-8")) if e["engine"] == "google"]
    wrong = [entry["file"] for entry in entries if not right(entry, folder, score)]
    assert len(entries) > 50
    assert len(wrong) <= 0.05 * len(entries), wrong
