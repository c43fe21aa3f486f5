"""Bocha: a key, codes that are strings or numbers, and summaries."""

from __future__ import annotations

from typing import Any

import pytest

from engines import small_pages as page
from engines.exchanges import answer, failure, first_request, run, sent
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
from suyuan.engines.bocha import Bocha

KEY = "sk-0123456789abcdef"
ROW = page.BOCHA_ROW


def bocha(**settings: Any) -> Bocha:
    return Bocha(EngineSettings(api_key=Secret(KEY), **settings))


# --- parsing ---------------------------------------------------------------------------------------------------
@pytest.mark.req("T5.5")
def test_results() -> None:
    plain = {"name": "More", "url": "http://pots.example/2"}
    assert run(bocha(), "茶壶", answer(page.bocha_data(ROW, plain))).found == EngineResults(
        (
            SearchResult(
                "茶壶 大全",
                "https://pots.example/b",
                "关于 茶壶。",
                "bocha",
                published_at="2026-02-01T08:30:00",
                summary="茶壶的历史。",
            ),
            SearchResult("More", "http://pots.example/2", "", "bocha"),
        ),
        request_id="0ff0",
    )


@pytest.mark.req("T5.5")
@pytest.mark.parametrize("code", [200, "200"])
def test_the_code_may_be_a_number_or_a_string(code: Any) -> None:
    assert len(bocha().parse(answer({**page.bocha_data(ROW), "code": code})).results) == 1


@pytest.mark.req("T5.5")
@pytest.mark.parametrize("data", [{}, {"webPages": None}, {"webPages": {"value": []}}])
def test_no_results_are_an_empty_answer(data: Any) -> None:
    assert bocha().parse(answer({"code": 200, "log_id": "0ff0", "data": data})) == EngineResults(request_id="0ff0")


@pytest.mark.req("C7.2")
@pytest.mark.parametrize(
    "bad", [{}, None, "text", 7, [ROW], {**ROW, "url": None}, {**ROW, "url": "ftp://x"}, {**ROW, "url": {"a": 1}}]
)
def test_malformed_results_are_skipped_and_noted(bad: Any) -> None:
    found = bocha().parse(answer(page.bocha_data(bad, ROW)))
    assert [r.url for r in found.results] == [ROW["url"]]
    assert found.notes == ("1 malformed results skipped",)


@pytest.mark.req("C7.2")
@pytest.mark.parametrize("gone", ["name", "snippet", "summary", "datePublished"])
@pytest.mark.parametrize("value", [None, "", 0, []])
def test_a_result_without_a_field_is_still_a_result(gone: str, value: Any) -> None:
    r = bocha().parse(answer(page.bocha_data({**ROW, gone: value}))).results[0]
    assert r.url == ROW["url"]
    assert {"name": r.title, "snippet": r.snippet, "summary": r.summary, "datePublished": r.published_at}[gone] in (
        "",
        None,
    )


# --- failures --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("response", "kind", "detail", "said"),
    [
        (answer({"code": "401", "message": "Invalid API KEY"}, 401), AuthError, "key_rejected", "Invalid API KEY"),
        (answer({"code": 401, "msg": "Invalid API KEY"}), AuthError, "key_rejected", "Invalid API KEY"),
        (
            answer({"code": "403", "message": "You do not have enough money"}, 403),
            AuthError,
            "key_rejected",
            "enough money",
        ),
        (answer({"code": "429", "message": "request limit"}, 429), WebBlocked, "http_429", "429"),
        (answer({"code": 429}), WebBlocked, "http_429", "429"),
        (
            answer({"code": "400", "message": "Missing parameter query"}, 400),
            WebProviderError,
            "api_error",
            "Missing parameter query",
        ),
        (answer({"code": 400, "msg": None}), WebProviderError, "api_error", "code 400"),
        (answer({"code": "500", "message": "broken"}), BadGateway, "http_5xx", "500"),
        (answer({"code": 503}, 200), BadGateway, "http_5xx", "503"),
        (answer({"message": "?"}, 404), WebProviderError, "api_error", "?"),
        (answer({"code": 200, "data": {}}, 400), WebProviderError, "api_error", "code 200"),
        (answer("<h1>Bad Gateway</h1>", 502), BadGateway, "http_5xx", "502"),
        (
            answer("", 301, url="https://api.bochaai.com/", location="https://new.example/"),
            NetworkError,
            "redirected",
            "new.example",
        ),
        (answer("<h1>Unauthorized</h1>", 401), AuthError, "key_rejected", "401"),
        (answer("<h1>Forbidden</h1>", 403), WebBlocked, "http_403", "403"),
        (answer("slow down", 429), WebBlocked, "http_429", "429"),
        (answer("<h1>Not found</h1>", 404), WebProviderError, "http_status", "404"),
        (answer("<h1>Welcome</h1>"), WebParseError, "not_json", "an HTML page"),
    ],
)
@pytest.mark.req("T5.5", "T7.3", "T7.2", "G1.3")
def test_failures(response: Response, kind: type[SuyuanError], detail: str, said: str) -> None:
    error = run(bocha(), "茶壶", response).error
    assert (type(error), error.detail_code, error.engine) == (kind, detail, "bocha")
    assert said in error.message


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"", "not_json"), (b"[]", "not_json"), (b"null", "not_json"), (b'"x"', "not_json"), (b"{", "not_json"),
        (b"\x1f\x8b\x08\x00\x00\xff\xfe", "undecoded_body"), (b'{"code": 200}', "layout_changed"),
        (b'{"code": 200, "data": []}', "layout_changed"),
        (b'{"code": 200, "data": null}', "layout_changed"),
        (b'{"code": 200, "data": {"webPages": []}}', "layout_changed"),
        (b'{"code": 200, "data": {"webPages": {"value": null}}}', "layout_changed"),
        (b'{"code": 200, "data": {"webPages": {"value": {"a": 1}}}}', "layout_changed"),
    ],
)  # fmt: skip
@pytest.mark.req("C7.1")
def test_answers_of_the_wrong_shape(body: bytes, detail: str) -> None:
    error = failure(bocha(), Response(200, body, headers={"content-type": "application/json"}))
    assert (type(error), error.detail_code) == (WebParseError, detail)


@pytest.mark.parametrize("body", [{"code": "429", "message": "limit"}, "slow down"])
def test_the_time_to_wait_is_reported(body: Any) -> None:
    assert failure(bocha(), answer(body, 429, retry_after="30")).retry_after == 30.0


# --- requests --------------------------------------------------------------------------------------------------
@pytest.mark.req("T5.5", "P9.1", "G1.2")
def test_the_request() -> None:
    request = first_request(bocha(), "茶壶 & 茶杯")
    assert (request.method, request.url) == ("POST", "https://api.bochaai.com/v1/web-search")
    assert sent(request) == {"query": "茶壶 & 茶杯", "freshness": "noLimit", "summary": False, "count": 10}
    assert "茶壶".encode() in request.body
    assert request.headers["Accept"] == "application/json"


@pytest.mark.req("P9.3", "T5.5")
def test_the_key_is_in_the_header_only_and_never_shown() -> None:
    request = first_request(bocha(), "茶壶")
    assert request.headers["Authorization"] == Secret(f"Bearer {KEY}")
    assert KEY not in repr(request)
    assert KEY not in request.url + request.body.decode()


@pytest.mark.req("T5.5", "T7.3", "P9.3")
def test_without_a_key_no_request_is_made() -> None:
    done = run(Bocha(), "茶壶")
    assert done.requests == []
    assert (type(done.error), done.error.detail_code) == (AuthError, "key_missing")
    assert "BOCHA_API_KEY" in done.error.hint
    assert not Bocha().configured
    assert bocha().configured


@pytest.mark.req("T5.5")
def test_the_base_url_can_be_set() -> None:
    assert (
        first_request(bocha(base_url="http://127.0.0.1:8000/x/"), "tea").url == "http://127.0.0.1:8000/x/v1/web-search"
    )


@pytest.mark.req("T5.5", "P3.1")
@pytest.mark.parametrize(("count", "least", "asked"), [(3, 0, 3), (3, 8, 8), (10, 8, 10), (3, 50, 50)])
def test_count(count: int, least: int, asked: int) -> None:
    options = {"topKDefault": least} if least else {}
    assert sent(first_request(bocha(options=options), SearchQuery("tea", count=count)))["count"] == asked


@pytest.mark.req("P3.1", "T3.2")
@pytest.mark.parametrize(
    ("fresh", "asked"),
    [
        ("day", "oneDay"), ("week", "oneWeek"), ("month", "oneMonth"), ("year", "oneYear"),
        ("2026-01-01..2026-02-01", "2026-01-01..2026-02-01"), ("2026-01-01..", "2026-01-01..2999-12-31"),
        ("..2026-02-01", "1990-01-01..2026-02-01"),
    ],
)  # fmt: skip
def test_freshness(fresh: str, asked: str) -> None:
    assert sent(first_request(bocha(), SearchQuery("tea", freshness=Freshness.parse(fresh))))["freshness"] == asked


@pytest.mark.req("T3.2")
def test_domains_and_summary_have_fields_of_their_own() -> None:
    query = SearchQuery(
        "tea", allowed_domains=("a.example", "b.example"), blocked_domains=("c.example",), need_summary=True
    )
    data = sent(first_request(bocha(), query))
    assert (data["query"], data["include"], data["exclude"], data["summary"]) == (
        "tea",
        "a.example|b.example",
        "c.example",
        True,
    )
