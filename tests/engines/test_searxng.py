"""SearXNG: the JSON answer, and its failures, each with its own error."""

from __future__ import annotations

import json
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
from suyuan.core.extras import DirectAnswer
from suyuan.core.freshness import Freshness
from suyuan.core.query import SearchQuery
from suyuan.core.result import EngineResults, SearchResult
from suyuan.core.secret import Secret
from suyuan.core.wire import Response
from suyuan.engines.searxng import SearXNG

FORBIDDEN = (
    "<!doctype html>\n<html lang=en>\n<title>403 Forbidden</title>\n"
    "<h1>Forbidden</h1>\n<p>You don't have the permission.</p>\n"
)
ROW = page.SEARXNG_ROW


# --- parsing ---------------------------------------------------------------------------------------------------
@pytest.mark.req("C2.2", "T5.4")
def test_results() -> None:
    assert SearXNG().parse(
        answer(page.searxng_data(ROW, {**ROW, "url": "http://pots.example/2", "publishedDate": None}))
    ) == EngineResults(
        (
            SearchResult(
                "Tea pots",
                "https://pots.example/s?q=1&r=2",
                "About tea pots.",
                "searxng",
                published_at="2026-02-01T08:30:00",
            ),
            SearchResult("Tea pots", "http://pots.example/2", "About tea pots.", "searxng"),
        )
    )


@pytest.mark.req("C2.2")
def test_no_results_are_an_empty_answer() -> None:
    kettle = {"name": "kettle", "enabled": True, "categories": ["general", "web"]}
    for config in (answer({"engines": [kettle]}), answer("", 404), answer("<html>"), answer({}), answer([])):
        assert run(SearXNG(), "tea", answer(page.searxng_data()), config).found == EngineResults()


@pytest.mark.req("C2.5")
@pytest.mark.parametrize(
    ("rows", "options"),
    [
        ([], {}),
        ([{"name": "kettle", "enabled": False, "categories": ["general"]}], {}),
        ([{"name": "kettle", "enabled": True, "categories": ["images"]}], {}),
        ([{"name": "kettle", "enabled": True, "categories": ["general"]}], {"categories": "it,science"}),
        ([None, "text", {"name": "kettle"}], {"engines": "stove"}),
    ],
)
def test_an_instance_without_an_engine_for_the_search_is_a_failure(rows: list[Any], options: dict[str, str]) -> None:
    engine = SearXNG(EngineSettings(options=options))
    error = run(engine, "tea", answer(page.searxng_data()), answer({"engines": rows})).error
    assert (type(error), error.detail_code) == (WebProviderError, "searxng_no_engines")


def test_a_disabled_engine_that_is_named_is_asked() -> None:
    engine = SearXNG(EngineSettings(options={"engines": "stove, kettle"}))
    config = answer({"engines": [{"name": "kettle", "enabled": False, "categories": ["general"]}]})
    assert run(engine, "tea", answer(page.searxng_data()), config).found == EngineResults()


@pytest.mark.req("C7.2")
@pytest.mark.parametrize(
    "bad", [{}, None, "text", 7, [ROW], {**ROW, "url": None}, {**ROW, "url": "ftp://x"}, {**ROW, "url": ["https://x"]}]
)
def test_malformed_results_are_skipped_and_noted(bad: Any) -> None:
    found = run(SearXNG(), "tea", answer(page.searxng_data(bad, ROW, bad))).found
    assert [r.url for r in found.results] == [ROW["url"]]
    assert found.notes == ("2 malformed results skipped",)


@pytest.mark.req("C7.2")
@pytest.mark.parametrize("gone", ["title", "content", "publishedDate"])
@pytest.mark.parametrize("value", [None, "", 0, []])
def test_a_result_without_a_field_is_still_a_result(gone: str, value: Any) -> None:
    result = SearXNG().parse(answer(page.searxng_data({**ROW, gone: value}))).results[0]
    assert result.url == ROW["url"]
    assert {"title": result.title, "content": result.snippet, "publishedDate": result.published_at}[gone] in ("", None)


@pytest.mark.req("C7.2")
def test_unresponsive_engines_are_noted() -> None:
    found = run(SearXNG(), "tea", answer(page.searxng_data(ROW, dead=[["kettle", "timeout"], "stove"]))).found
    assert len(found.results) == 1
    assert found.notes == ("not answering behind SearXNG: kettle: timeout", "not answering behind SearXNG: stove")


def test_results_about_refusals_are_results() -> None:
    row = {**ROW, "title": "<title>403 Forbidden</title>", "content": "Verifying your request. Too many requests"}
    data = {"query": "<title>403 forbidden</title> verifying your request", **page.searxng_data(row)}
    assert len(SearXNG().parse(answer(data)).results) == 1


# --- failures --------------------------------------------------------------------------------------------------
@pytest.mark.req("C2.4", "G1.3")
def test_dead_engines_and_no_results_are_a_failure() -> None:
    error = run(
        SearXNG(), "tea", answer(page.searxng_data(dead=[["kettle", "Suspended: CAPTCHA"], ["stove", "timeout"]]))
    ).error
    assert (type(error), error.detail_code, error.retryable) == (WebProviderError, "engines_suspended", True)
    assert "kettle: Suspended: CAPTCHA, stove: timeout" in error.message


@pytest.mark.req("C2.4")
@pytest.mark.parametrize(
    ("reasons", "detail", "hint"),
    [
        (["timeout"], "engines_offline", "wget"),
        (["HTTP connection error", "network error", "CAPTCHA"], "engines_offline", "wget"),
        (["Suspended: timeout", "Suspended: HTTP connection error"], "engines_offline", "DNS"),
        (["proxy error", "proxy error", "timeout"], "engines_proxy", "host.docker.internal"),
        (["Suspended: proxy error"], "engines_proxy", "outgoing: proxies:"),
        (["Suspended: CAPTCHA", "Suspended: too many requests"], "engines_suspended", "suspended_times"),
        (["CAPTCHA", "CAPTCHA"], "engines_captcha", "Wait an hour"),
        (["too many requests", "access denied"], "engines_refused", "Wait some minutes"),
        (["parsing error"], "engines_outdated", "SEARXNG_VERSION"),
        (["unexpected crash", "server API error"], "engines_dead", "logs"),
        (["unexpected crash", "timeout"], "engines_offline", "wget"),
        (["words of another version"], "engines_dead", "logs"),
    ],
)
def test_dead_engines_have_a_hint_by_their_reason(reasons: list[str], detail: str, hint: str) -> None:
    dead = [[f"e{number}", reason] for number, reason in enumerate(reasons)]
    error = failure(SearXNG(), answer(page.searxng_data(dead=dead)))
    assert (type(error), error.detail_code) == (WebProviderError, detail)
    assert hint in error.hint and reasons[0] in error.message and reasons[0] in error.say("zh")[0]


@pytest.mark.parametrize(
    ("response", "kind", "detail", "hint"),
    [
        (answer(FORBIDDEN, 403), AuthError, "json_api_off", "formats"),
        (answer(FORBIDDEN, 200), AuthError, "json_api_off", "formats"),
        (answer("", 403), AuthError, "json_api_off", "formats"),
        (answer("Too Many Requests", 429), WebBlocked, "http_429", "limiter"),
        (answer("", 429), WebBlocked, "http_429", "limiter"),
        (answer("Too Many Requests", 418), WebBlocked, "http_429", "limiter"),
        (answer("Unauthorized", 401), AuthError, "searxng_login", "SEARXNG_API_KEY"),
        (answer("<title>Verifying your request</title>"), WebBlocked, "captcha_required", "browser"),
        (answer("Too Many Requests"), WebParseError, "not_json", "baseUrl"),
        (answer("<html><body>Welcome</body></html>"), WebParseError, "not_json", "baseUrl"),
        (answer("<html><body>Welcome</body></html>", 404), WebProviderError, "http_status", "baseUrl"),
        (answer({"error": "Invalid value 'x' for parameter language"}, 400), WebProviderError, "api_error", "message"),
        (answer("Bad request", 400), WebProviderError, "http_status", "baseUrl"),
        (answer("", 308), NetworkError, "redirected", "baseUrl"),
        (answer("", 301, location="https://localhost/x/search?q=tea"), NetworkError, "searxng_needs_https", "ost/x"),
        (answer("", 302, location="https://other.example/?q=tea"), NetworkError, "searxng_redirected", "BASE_URL"),
        (answer("", 500), BadGateway, "http_5xx", "logs"),
        (answer("", 502), BadGateway, "http_5xx", "docker ps"),
    ],
)
@pytest.mark.req("T7.3", "C2.5", "C9.2", "T7.2")
def test_failures_are_told_apart(response: Response, kind: type[SuyuanError], detail: str, hint: str) -> None:
    error = run(SearXNG(), "tea", response).error
    assert (type(error), error.detail_code, error.engine) == (kind, detail, "searxng")
    assert hint in error.hint


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"", "not_json"), (b"plain words", "not_json"), (b"[]", "not_json"), (b"null", "not_json"),
        (b'"text"', "not_json"),
        (b"{", "not_json"), (b"[" * 100_000, "not_json"), (b"\x1f\x8b\x08\x00\x00\xff\xfe", "undecoded_body"),
        (b"{}", "layout_changed"), (b'{"results": null}', "layout_changed"), (b'{"results": "x"}', "layout_changed"),
        (b'{"results": {"a": 1}}', "layout_changed"),
    ],
)  # fmt: skip
@pytest.mark.req("C7.1")
def test_answers_of_the_wrong_shape(body: bytes, detail: str) -> None:
    error = failure(SearXNG(), Response(200, body, headers={"content-type": "application/json"}))
    assert (type(error), error.detail_code) == (WebParseError, detail)


@pytest.mark.parametrize("dead", [None, "text", 7, {"a": 1}, []])
def test_an_invalid_list_of_unresponsive_engines_is_empty(dead: Any) -> None:
    assert SearXNG().parse(answer({"results": [], "unresponsive_engines": dead})) == EngineResults()


def test_the_limiter_reports_the_time_to_wait() -> None:
    assert failure(SearXNG(), answer("", 429, retry_after="7")).retry_after == 7.0


# --- the probe -------------------------------------------------------------------------------------------------
def probe(response: Response, settings: EngineSettings | None = None) -> tuple[str, SuyuanError | None]:
    exchange = SearXNG(settings).probe()
    url = next(exchange).url
    try:
        exchange.send(response)
    except StopIteration:
        return url, None
    except SuyuanError as error:
        return url, error
    raise AssertionError("asked twice")


@pytest.mark.req("C2.1", "C6.1", "C8.3")
@pytest.mark.parametrize("body", [b"OK", b"OK\n"])
def test_a_healthy_instance(body: bytes) -> None:
    assert probe(answer(body)) == ("http://localhost:8080/healthz", None)
    assert probe(answer(body), EngineSettings("http://searx.example:81/x/"))[0] == "http://searx.example:81/x/healthz"


@pytest.mark.req("C2.1", "C2.5", "C8.3", "C9.2")
@pytest.mark.parametrize(
    ("response", "detail"),
    [
        (answer("<html>It works!</html>"), "not_searxng"),
        (answer("", 404), "not_searxng"),
        (answer("", 302, location="https://sso.example/login"), "searxng_redirected"),
        (answer("", 302, location="https://localhost/healthz"), "searxng_needs_https"),
        (answer("", 403), "searxng_forbids"),
        (answer("", 401), "searxng_login"),
        (answer("", 429), "http_429"),
        (answer("", 500), "http_5xx"),
        (answer("", 503), "http_5xx"),
    ],
)
def test_a_failing_instance(response: Response, detail: str) -> None:
    error = probe(response)[1]
    assert error is not None
    assert (error.detail_code, error.engine) == (detail, "searxng")


# --- requests --------------------------------------------------------------------------------------------------
@pytest.mark.req("P9.1", "G1.2", "C2.2", "T5.4")
def test_the_request() -> None:
    request = first_request(SearXNG(), "茶壶 & 茶杯")
    assert (request.method, dict(request.headers)) == ("GET", {"Accept": "application/json"})
    assert request.url.startswith(
        "http://localhost:8080/search?q=%E8%8C%B6%E5%A3%B6+%26+%E8%8C%B6%E6%9D%AF&format=json&"
    )


@pytest.mark.req("C2.2", "C6.1")
@pytest.mark.parametrize("base", ["http://searx.example", "http://searx.example:8888", "https://x.example/a/searxng"])
def test_an_instance_is_searched_where_it_is(base: str) -> None:
    request = first_request(SearXNG(EngineSettings(base)), "tea")
    assert address(request) == f"{base}/search" and sent(request)["format"] == "json"


@pytest.mark.req("C2.2")
def test_every_row_is_a_result() -> None:
    rows = [
        {**ROW, "title": f"Pot {n}", "url": f"https://pots.example/{n}", "content": f"About {n}."} for n in range(8)
    ]
    found = run(SearXNG(), "tea", answer(page.searxng_data(*rows))).found
    assert [(one.title, one.url, one.snippet) for one in found.results] == [
        (row["title"], row["url"], row["content"]) for row in rows
    ]


@pytest.mark.req("C6.2", "T3.2")
@pytest.mark.parametrize(
    ("text", "lang", "language"),
    [("tea", "", "auto"), ("茶壶", "", "zh"), ("tea", "zh-CN", "zh-CN"), ("茶壶", "en", "en")],
)
def test_language(text: str, lang: str, language: str) -> None:
    assert sent(first_request(SearXNG(), SearchQuery(text, lang=lang)))["language"] == language


@pytest.mark.req("T5.4", "C6.1")
def test_address_key_and_options() -> None:
    settings = EngineSettings("http://searx.example/", Secret("sk-0123456789"), options={"engines": "kettle"})
    request = first_request(SearXNG(settings), "tea")
    assert address(request) == "http://searx.example/search"
    assert sent(request)["engines"] == "kettle"
    assert request.headers["Authorization"] == Secret("Bearer sk-0123456789")
    assert "sk-0123456789" not in repr(request)


@pytest.mark.req("T5.4", "C6.1")
@pytest.mark.parametrize(
    ("key", "sent_as"),
    [("sk-0123456789", "Bearer sk-0123456789"), ("Bearer abcdefgh", "Bearer abcdefgh"), ("Basic dXNlcjpwdw==", "Basic dXNlcjpwdw==")],
)  # fmt: skip
def test_a_key_is_a_bearer_token_unless_it_names_a_scheme(key: str, sent_as: str) -> None:
    engine = SearXNG(EngineSettings("http://searx.example/", Secret(key)))
    assert first_request(engine, "tea").headers["Authorization"] == Secret(sent_as)


@pytest.mark.req("T3.2")
@pytest.mark.parametrize("fresh", ["day", "week", "month", "year"])
def test_freshness(fresh: str) -> None:
    done = run(SearXNG(), SearchQuery("tea", freshness=Freshness.parse(fresh)), answer(page.searxng_data(ROW)))
    assert sent(done.request)["time_range"] == fresh
    assert done.found.notes == ()


@pytest.mark.req("T3.2")
def test_a_date_range_is_not_supported_and_noted() -> None:
    done = run(
        SearXNG(),
        SearchQuery("tea", freshness=Freshness.parse("2026-01-01..2026-02-01")),
        answer(page.searxng_data(ROW)),
    )
    assert "time_range" not in sent(done.request)
    assert done.found.notes == ("date range not supported by SearXNG: not filtered by date",)


@pytest.mark.req("T3.2")
def test_domains_become_operators() -> None:
    query = SearchQuery("tea", allowed_domains=("a.example", "b.example"), blocked_domains=("c.example",))
    assert sent(first_request(SearXNG(), query))["q"] == "tea (site:a.example OR site:b.example) -site:c.example"


def test_a_query_that_is_too_long_is_cut_with_a_note() -> None:
    done = run(SearXNG(), "tea " * 499, answer(json.dumps(page.searxng_data(ROW))))
    assert len(sent(done.request)["q"]) == 1499
    assert done.found.notes == ("query cut to 1499 characters",)


# --- beside the results ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["answers", "infoboxes", "suggestions", "corrections"])
@pytest.mark.parametrize("value", [None, "text", 7, {"a": 1}, [None], [{}], [[]], [""], [{"answer": None}]])
def test_extras_of_the_wrong_shape_are_left_out(name: str, value: Any) -> None:
    found = SearXNG().parse(answer({**page.searxng_data(ROW), name: value}))
    assert len(found.results) == 1 and isinstance(getattr(found.extras, name), tuple)
    assert all(isinstance(text, str) and text for text in (*found.extras.suggestions, *found.extras.corrections))
    assert not found.extras.answers and not found.extras.infoboxes


def test_an_answer_without_results_is_not_nothing() -> None:
    data = {**page.searxng_data(dead=[["kettle", "timeout"]]), "answers": [{"answer": "42"}]}
    found = run(SearXNG(), "6 * 7", answer(data)).found
    assert (found.results, found.extras.answers) == ((), (DirectAnswer("42"),))


def test_further_pages() -> None:
    assert sent(first_request(SearXNG(), SearchQuery("tea", page=3)))["pageno"] == "3"
    assert run(SearXNG(), SearchQuery("tea", page=3), answer(page.searxng_data())).found == EngineResults()
