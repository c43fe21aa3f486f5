"""The engines whose result pages are read by their structure: Brave, Yahoo, 360, Sogou, Mojeek, Startpage, Ecosia."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from engines.answers import brave_page, headed_page, linked_page, news_page, pictures_page
from engines.exchanges import answer, failure, run, sent
from suyuan.core.engine import Engine, read
from suyuan.core.errors import SuyuanError
from suyuan.core.freshness import Freshness
from suyuan.core.query import SearchQuery
from suyuan.core.result import Details
from suyuan.core.wire import Response
from suyuan.engines import registry

SERP = Path(__file__).parents[3] / "shared" / "serp"
PAGES: dict[str, Callable[..., str]] = {
    "brave_html": brave_page, "yahoo": headed_page, "so360": headed_page, "sogou": headed_page, "mojeek": headed_page,
    "startpage": linked_page, "ecosia": linked_page,
}  # fmt: skip
TWO = ("https://pots.example/one", "https://cups.example/two?a=1&b=2")
AD = "https://www.bing.com/aclick?ld=e8vue5"
by_engine = pytest.mark.parametrize("name", PAGES)


def engine(name: str) -> Engine:
    made = registry.load(name)(None)
    assert isinstance(made, Engine)
    return made


@by_engine
@pytest.mark.req("P10.1", "T5.2")
def test_titles_addresses_and_snippets(name: str) -> None:
    results = engine(name).parse(answer(PAGES[name](*TWO))).results
    assert [r.url for r in results] == list(TWO)
    assert [r.title for r in results] == ["Tea pots 1", "Tea pots 2"]
    assert [r.snippet for r in results] == [f"All there is to know about tea pots, number {n}." for n in (1, 2)]


@by_engine
def test_ads_repetitions_and_links_within_the_engine_are_no_results(name: str) -> None:
    inside = engine(name).default_url + ("/web?query=more" if name == "sogou" else "/search?q=more")
    assert [r.url for r in engine(name).parse(answer(PAGES[name](AD, TWO[0], TWO[0], inside, TWO[1]))).results] == list(
        TWO
    )


@by_engine
@pytest.mark.req("T7.2")
@pytest.mark.parametrize(
    ("location", "detail"),
    [
        ("/sp/captcha", "captcha_required"),
        ("http://www.sogou.com/antispider/?from=%2Fweb", "captcha_required"),
        ("https://qcaptcha.so.com/?ret=x", "captcha_required"),
        ("https://consent.yahoo.com/v2/collectConsent", "consent_required"),
        ("https://elsewhere.example/", "redirected"),
    ],
)
def test_a_redirect_to_a_captcha_or_a_consent_page(name: str, location: str, detail: str) -> None:
    assert failure(engine(name), answer("", 302, engine(name).default_url, location=location)).detail_code == detail


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("sogou", '<form id="seccodeForm"><img id="seccodeImage" src="util/seccode.php"></form>'),
        ("brave_html", '<div id="captcha-container"><button>Solve the Captcha</button></div>'),
        ("ecosia", '<html><script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script></html>'),
        ("startpage", '<html><form action="/sp/captcha" method="post"></form></html>'),
    ],
)
@pytest.mark.req("T7.2")
def test_captchas_that_come_with_status_200(name: str, body: str) -> None:
    assert failure(engine(name), answer(body)).detail_code == "captcha_required"


def yahoo_link(url: str) -> str:
    return f"https://r.search.yahoo.com/_ylt=Aw;_ylu=Y2/RV=2/RE=1/RO=10/RU={quote(url, safe='')}/RK=2/RS=x-"


@pytest.mark.req("T5.2", "G2.1")
def test_a_search_gives_the_targets_of_the_redirects_of_yahoo() -> None:
    page = headed_page(yahoo_link(TWO[0]), yahoo_link(AD), TWO[1])
    assert [r.url for r in run(engine("yahoo"), "tea", answer(page)).found.results] == list(TWO)


@pytest.mark.parametrize("attribute", ["data-mdurl", "data-url"])
def test_a_search_gives_the_targets_that_360_names(attribute: str) -> None:
    link = "https://www.so.com/link?m=abc"
    page = headed_page(link, "https://wenku.example/x").replace(
        f'<a href="{link}"', f'<a href="{link}" {attribute}="{TWO[0]}"'
    )
    found = run(engine("so360"), "茶壶", answer(page)).found.results
    assert [r.url for r in found] == [TWO[0], "https://wenku.example/x"]


def test_a_search_gives_the_targets_that_sogou_names() -> None:
    page = headed_page("/link?url=one", "/link?url=two").replace(
        "number 1.</p>", f'number 1.</p><div data-url="{TWO[0]}"></div>'
    )
    found = run(engine("sogou"), "茶壶", answer(page)).found.results
    assert [r.url for r in found] == [TWO[0], "https://www.sogou.com/link?url=two"]


def test_cards_of_360_are_no_results() -> None:
    page = headed_page(*TWO).replace(f'<a href="{TWO[0]}"', f'<a href="{TWO[0]}" data-md=\'{{"p":"title"}}\'')
    assert [r.url for r in engine("so360").parse(answer(page)).results] == [TWO[1]]


def test_360_is_asked_once_more_with_its_cookie() -> None:
    done = run(
        engine("so360"), "茶壶",
        answer("", set_cookie="QiHooGUID=1; path=/"), answer(headed_page(*TWO)),
    )  # fmt: skip
    assert [request.headers.get("Cookie") for request in done.requests] == [None, "QiHooGUID=1"]
    assert len(done.found.results) == 2
    assert run(engine("so360"), "茶壶", answer("")).error.detail_code == "empty_body"


def test_startpage_sends_the_code_of_its_form() -> None:
    form = '<form action="/sp/search"><input name="query"><input type="hidden" name="sc" value="c0de"></form>'
    done = run(engine("startpage"), "tea", answer(form), answer(linked_page(*TWO)))
    assert sent(done.requests[1])["sc"] == "c0de"
    assert len(done.found.results) == 2


@pytest.mark.req("P3.1")
@pytest.mark.parametrize("name", ["yahoo", "so360", "sogou", "startpage"])
def test_a_range_of_dates_that_cannot_be_honoured_is_on_the_receipt(name: str) -> None:
    query = SearchQuery("tea", freshness=Freshness.parse("2026-01-01..2026-02-01"))
    page = answer(PAGES[name](*TWO))
    pages = (page, page) if name == "startpage" else (page,)
    assert "not filtered by date" in " ".join(run(engine(name), query, *pages).found.notes)


def test_dates_in_front_of_a_snippet() -> None:
    page = headed_page(TWO[0]).replace("All there", "March 3, 2022 - All there")
    (result,) = engine("mojeek").parse(answer(page)).results
    assert (result.published_at, result.snippet[:9]) == ("2022-03-03", "All there")


def test_the_address_in_front_of_a_title_is_left_out() -> None:
    page = headed_page(TWO[0]).replace("Tea pots 1", "<span>pots.example<span> › one</span></span>Tea pots 1")
    assert engine("yahoo").parse(answer(page)).results[0].title == "Tea pots 1"


# --- recorded pages ---------------------------------------------------------------------------------------------------
def recorded() -> list[dict[str, Any]]:
    file = SERP / "MANIFEST.json"
    entries = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    return [entry for entry in entries if entry["engine"] in PAGES and entry["kind"] == "results"]


@pytest.mark.skipif(not recorded(), reason=f"no recorded pages at {SERP}")
@pytest.mark.parametrize("entry", recorded(), ids=lambda entry: str(entry["file"]))
@pytest.mark.req("P10.1")
def test_results_are_found_without_any_class_name(entry: dict[str, Any]) -> None:
    body = (SERP / entry["file"]).read_bytes()
    bare = re.sub(rb"""(<[^<>]*?)\sclass=(?:"[^"]*"|'[^']*')""", rb"\1", body)
    known, found = (
        {r.url for r in read(engine(entry["engine"]), Response(200, page)).results} for page in (body, bare)
    )
    # Ads and folded answers are told apart by classes as well, so a few more may come, but none may be lost.
    assert len(known & found) >= 0.9 * len(known)
    assert len(found) <= 1.6 * len(known)


@pytest.mark.skipif(not recorded(), reason=f"no recorded pages at {SERP}")
@pytest.mark.parametrize("entry", [e for e in recorded() if e["engine"] == "yahoo"], ids=lambda e: str(e["file"]))
def test_no_target_of_yahoo_is_a_redirect(entry: dict[str, Any]) -> None:
    found = run(engine("yahoo"), "tea", Response(200, (SERP / entry["file"]).read_bytes())).found.results
    assert found
    assert not [r.url for r in found if ".search.yahoo.com" in r.url]


def test_errors_of_all_of_them_carry_a_hint() -> None:
    for name in PAGES:
        error = failure(engine(name), answer("<html><body>Nothing here</body></html>"))
        assert isinstance(error, SuyuanError)
        assert error.detail_code == "layout_changed"
        assert error.hint


# --- news and pictures ------------------------------------------------------------------------------------------------
def test_a_card_of_news_has_its_source_and_its_age() -> None:
    apiclick = f"/news/apiclick.aspx?ref=x&url={quote(TWO[1], safe='')}"
    results = engine("bing_news").parse(answer(news_page(TWO[0], apiclick))).results
    assert [result.url for result in results] == list(TWO)
    first = results[0]
    assert (first.title, first.published_at) == ("Tea pots 1", "2026-03-07")
    assert first.snippet == "All there is to know about tea pots, number 1."
    assert first.details == Details(venue="Pot News", image="https://pots.example/pot.jpg")


def test_a_picture_leads_to_its_page() -> None:
    (result,) = engine("bing_images").parse(answer(pictures_page(TWO[0]))).results
    assert (result.url, result.title, result.snippet) == (TWO[0], "Tea pots", "A blue tea pot on a table")
    assert result.details == Details(image="https://pots.example/pot.jpg")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("bing_news", {"q": "tea pots", "qft": 'interval="8"', "setmkt": "de-DE", "first": "11"}),
        ("bing_images", {"q": "tea pots", "qft": "filterui:age-lt10080", "setmkt": "de-DE", "first": "36"}),
    ],
)
def test_the_parameters_of_news_and_pictures(name: str, wanted: dict[str, str]) -> None:
    query = SearchQuery("tea pots", lang="de", freshness="week", page=2)  # type: ignore[arg-type]
    params = sent(run(engine(name), query, answer("")).request)
    assert {key: params[key] for key in wanted} == wanted
