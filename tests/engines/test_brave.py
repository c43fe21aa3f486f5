"""Brave Search: results, errors and parameters."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from engines import small_pages as page
from engines.exchanges import address, answer, failure, first_request, run, sent
from suyuan.core.engine import EngineSettings
from suyuan.core.errors import (
    AuthError,
    BadGateway,
    NetworkError,
    SuyuanError,
    WebBlocked,
    WebParseError,
    WebProviderError,
)
from suyuan.core.freshness import Freshness
from suyuan.core.query import SearchQuery
from suyuan.core.result import EngineResults, SearchResult
from suyuan.core.secret import Secret
from suyuan.core.wire import Response
from suyuan.engines.brave import Brave

KEY = "BSA0123456789abcdef"
ROW = page.BRAVE_ROW
NO_TOKEN = {"errors": [{"loc": ["header", "x-subscription-token"], "msg": "Field required", "type": "missing"}]}


class OnThatDay(Brave):
    @staticmethod
    def today() -> date:
        return date(2026, 3, 10)


def brave(**settings: Any) -> Brave:
    return OnThatDay(EngineSettings(api_key=Secret(KEY), **settings))


def refused(code: str, status: int, **more: Any) -> Response:
    return answer(
        {"type": "ErrorResponse", "error": {"code": code, "detail": f"Said {code}", "status": status, **more}}, status
    )


# --- parsing ---------------------------------------------------------------------------------------------------
@pytest.mark.req("T5.6", "P3.3", "P10.1")
def test_results() -> None:
    plain = {"title": "More", "url": "http://pots.example/2", "age": "March 1, 2026"}
    assert run(brave(), "tea", answer(page.brave_data(ROW, plain))).found == EngineResults(
        (
            SearchResult(
                "Tea & pots",
                "https://pots.example/brave",
                "About tea pots <b>.",
                "brave",
                published_at="2026-02-01T08:30:00",
                summary="One more.\nTwo more.",
            ),
            SearchResult("More", "http://pots.example/2", "", "brave", published_at="2026-03-01"),
        )
    )


@pytest.mark.req("P3.3")
@pytest.mark.parametrize("data", [{"type": "search", "mixed": {}}, {"type": "search", "web": None}, page.brave_data()])
def test_an_answer_without_web_has_no_results(data: dict[str, Any]) -> None:
    assert run(brave(), "tea", answer(data)).found == EngineResults()


@pytest.mark.req("C7.2")
@pytest.mark.parametrize(
    "bad", [{}, None, "text", 7, [ROW], {**ROW, "url": None}, {**ROW, "url": "ftp://x"}, {**ROW, "url": {"a": 1}}]
)
def test_malformed_results_are_skipped_and_noted(bad: Any) -> None:
    found = run(brave(), "tea", answer(page.brave_data(bad, ROW))).found
    assert [r.url for r in found.results] == [ROW["url"]]
    assert found.notes == ("1 malformed results skipped",)


@pytest.mark.req("C7.2")
@pytest.mark.parametrize("gone", ["title", "description", "extra_snippets", "age"])
@pytest.mark.parametrize("value", [None, "", 0, 7, [], [None, 7], "text", {"a": 1}])
def test_a_result_with_an_invalid_field_is_still_a_result(gone: str, value: Any) -> None:
    result = brave().parse(answer(page.brave_data({**ROW, "page_age": None, gone: value}))).results[0]
    assert result.url == ROW["url"]
    if gone == "extra_snippets":
        assert result.summary == ""


# --- failures --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("response", "kind", "detail", "said"),
    [
        (refused("SUBSCRIPTION_TOKEN_INVALID", 422), AuthError, "key_rejected", "SUBSCRIPTION_TOKEN_INVALID"),
        (refused("SUBSCRIPTION_NOT_FOUND", 404), AuthError, "key_rejected", "SUBSCRIPTION_NOT_FOUND"),
        (refused("OPTION_NOT_IN_PLAN", 400), AuthError, "key_rejected", "OPTION_NOT_IN_PLAN"),
        (refused("VALIDATION", 422, meta=NO_TOKEN), AuthError, "key_rejected", "VALIDATION"),
        (refused("VALIDATION", 422, meta=None), WebProviderError, "api_error", "VALIDATION"),
        (refused("RATE_LIMITED", 429), WebBlocked, "http_429", "429"),
        (refused("QUOTA_LIMITED", 402), WebBlocked, "http_429", "429"),
        (answer({"type": "ErrorResponse"}), WebProviderError, "api_error", "unknown"),
        (answer({"error": {}}, 400), WebProviderError, "api_error", "unknown"),
        (answer("<h1>no</h1>", 401), AuthError, "key_rejected", "401"),
        (answer("<h1>no</h1>", 403), AuthError, "key_rejected", "403"),
        (answer("", 429), WebBlocked, "http_429", "429"),
        (answer({"type": "search"}, 404), WebProviderError, "http_status", "404"),
        (answer("<h1>Not found</h1>", 404), WebParseError, "not_json", "an HTML page"),
        (
            answer("", 301, url="https://api.search.brave.com/", location="https://new.example/"),
            NetworkError,
            "redirected",
            "new.example",
        ),
        (answer("<h1>Bad Gateway</h1>", 502), BadGateway, "http_5xx", "502"),
        (refused("INTERNAL", 500), BadGateway, "http_5xx", "500"),
        (answer("<h1>Welcome</h1>"), WebParseError, "not_json", "an HTML page"),
    ],
)
@pytest.mark.req("T5.6", "T7.2", "T7.3", "G1.3")
def test_failures(response: Response, kind: type[SuyuanError], detail: str, said: str) -> None:
    error = run(brave(), "tea", response).error
    assert (type(error), error.detail_code, error.engine) == (kind, detail, "brave")
    assert said in error.message


@pytest.mark.req("T4.1")
@pytest.mark.parametrize("status", [200, 400, 422])
def test_what_brave_says_is_shown_in_short_and_its_raw_answer_never(status: int) -> None:
    error = run(brave(), "tea", refused("x" * 5000, status, internal="raw-upstream-field")).error
    shown = json.dumps(error.as_dict())
    assert len(error.message) < 400 and "raw-upstream-field" not in shown


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"", "not_json"), (b"[]", "not_json"), (b"null", "not_json"), (b'"x"', "not_json"), (b"{", "not_json"),
        (b"\x1f\x8b\x08\x00\x00\xff\xfe", "undecoded_body"), (b"{}", "layout_changed"),
        (b'{"web": []}', "layout_changed"),
        (b'{"type": "search", "web": {}}', "layout_changed"),
        (b'{"type": "search", "web": {"results": {"a": 1}}}', "layout_changed"),
        (b'{"type": "search", "web": "text"}', "layout_changed"),
    ],
)  # fmt: skip
@pytest.mark.req("C7.1")
def test_answers_of_the_wrong_shape(body: bytes, detail: str) -> None:
    error = failure(brave(), Response(200, body, headers={"content-type": "application/json"}))
    assert (type(error), error.detail_code) == (WebParseError, detail)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "9"}, 9.0), ({"x_ratelimit_reset": "1, 1419704"}, 1.0),
        ({"x_ratelimit_reset": "99999"}, 3600.0),
        ({"retry_after": "9", "x_ratelimit_reset": "1"}, 9.0), ({"x_ratelimit_reset": "soon"}, None), ({}, None),
    ],
)  # fmt: skip
def test_the_time_to_wait_is_reported(headers: dict[str, str], seconds: float | None) -> None:
    assert failure(brave(), answer("", 429, **headers)).retry_after == seconds


# --- requests --------------------------------------------------------------------------------------------------
@pytest.mark.req("P3.3", "P9.1", "G1.2")
def test_the_request() -> None:
    request = first_request(brave(), "tea & pots")
    assert (request.method, address(request)) == ("GET", "https://api.search.brave.com/res/v1/web/search")
    assert sent(request) == {"q": "tea & pots", "count": "10"}
    assert request.headers["Accept"] == "application/json"
    assert "?q=%E8%8C%B6%E5%A3%B6&" in first_request(brave(), "茶壶").url


@pytest.mark.req("P9.3", "P3.3")
def test_the_key_is_in_the_header_only_and_never_shown() -> None:
    request = first_request(brave(), "tea")
    assert request.headers["X-Subscription-Token"] == Secret(KEY)
    assert KEY not in repr(request)
    assert KEY not in request.url


@pytest.mark.req("P3.3", "T5.6", "T7.3")
def test_without_a_key_no_request_is_made() -> None:
    done = run(Brave(), "tea")
    assert done.requests == []
    assert (type(done.error), done.error.detail_code) == (AuthError, "key_missing")
    assert "BRAVE_API_KEY" in done.error.hint
    assert not Brave().configured
    assert brave().configured


def test_the_base_url_can_be_set() -> None:
    assert (
        address(first_request(brave(base_url="http://127.0.0.1:8000/"), "tea"))
        == "http://127.0.0.1:8000/res/v1/web/search"
    )


@pytest.mark.req("P3.3", "P3.1", "T3.2", "G1.2")
@pytest.mark.parametrize(
    ("query", "asked"),
    [
        (SearchQuery("tea", country="de"), {"country": "DE"}), (SearchQuery("tea", lang="de"), {"search_lang": "de"}),
        (SearchQuery("tea", lang="zh"), {"search_lang": "zh-hans"}),
        (SearchQuery("tea", lang="zh-CN"), {"search_lang": "zh-hans"}),
        (SearchQuery("tea", lang="zh-TW"), {"search_lang": "zh-hant"}),
        (SearchQuery("tea", lang="zh-Hant"), {"search_lang": "zh-hant"}),
        (SearchQuery("tea", lang="zh-MO"), {"search_lang": "zh-hant"}),
        (SearchQuery("tea", lang="zh-HK"), {"search_lang": "zh-hant"}),
        (SearchQuery("tea", lang="zh-Hant-TW"), {"search_lang": "zh-hant"}),
        (SearchQuery("tea", lang="zh-Hant-HK"), {"search_lang": "zh-hant"}),
        (SearchQuery("茶壶"), {"search_lang": "zh-hans"}), (SearchQuery("tea", lang="ja"), {"search_lang": "jp"}),
        (SearchQuery("tea", lang="pt-BR"), {"search_lang": "pt-br"}),
        (SearchQuery("tea", lang="pt-PT"), {"search_lang": "pt-pt"}),
        (SearchQuery("tea", lang="en-GB", country="AU"), {"search_lang": "en", "country": "AU"}),
        (SearchQuery("tea", freshness=Freshness.parse("day")), {"freshness": "pd"}),
        (SearchQuery("tea", freshness=Freshness.parse("year")), {"freshness": "py"}),
        (
            SearchQuery("tea", freshness=Freshness.parse("2026-01-01..2026-02-01")),
            {"freshness": "2026-01-01to2026-02-01"},
        ),
        (SearchQuery("tea", freshness=Freshness.parse("2026-01-01..")), {"freshness": "2026-01-01to2026-03-10"}),
    ],
)  # fmt: skip
def test_parameters(query: SearchQuery, asked: dict[str, str]) -> None:
    params = sent(first_request(brave(), query))
    assert {name: value for name, value in params.items() if name not in ("q", "count")} == asked


@pytest.mark.req("T3.2")
def test_domains_become_operators() -> None:
    query = SearchQuery("tea", allowed_domains=("a.example",), blocked_domains=("c.example",))
    assert sent(first_request(brave(), query))["q"] == "tea site:a.example -site:c.example"


def test_a_query_that_is_too_long_is_cut_with_a_note() -> None:
    done = run(brave(), "tea " * 200, answer(page.brave_data(None, ROW)))
    assert sent(done.request)["q"] == ("tea " * 100).strip()
    assert done.found.notes == ("query cut to 399 characters", "1 malformed results skipped")
