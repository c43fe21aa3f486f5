"""What must hold whatever an engine sends: only our own errors, only http(s) URLs, and all of them unaltered."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines import small_pages as page
from engines.answers import ANSWERS, OPTIONS, sample
from engines.exchanges import NOW, first_request
from suyuan.core.engine import Engine, EngineSettings
from suyuan.core.errors import SuyuanError
from suyuan.core.freshness import Freshness
from suyuan.core.query import SearchQuery
from suyuan.core.result import SearchResult
from suyuan.core.secret import Secret
from suyuan.core.wire import Response
from suyuan.engines import registry
from suyuan.engines.kit import JsonEngine, PageEngine, retry_after
from suyuan.text.dates import read_date

WPT = Path(__file__).parents[3] / "shared" / "bench" / "url-wpt"
STEADY = settings(derandomize=True, deadline=None, max_examples=200, database=None)
# Engines that share their parser with others need fewer.
FEW = settings(STEADY, max_examples=50)
SAMPLES = page.samples() | {
    name: [sample(name, path="esummary"), sample(name, "empty")]
    for name in ANSWERS
    if name not in page.samples() and name != "google"
}


def engine_of(name: str) -> Engine:
    engine = registry.load(name)(EngineSettings(api_key=Secret("sk-0123456789"), options=OPTIONS.get(name, {})))
    assert isinstance(engine, Engine)
    return engine


ENGINES = {name: engine_of(name) for name in SAMPLES}
by_engine = pytest.mark.parametrize("name", SAMPLES)

texts = st.text(st.characters(exclude_categories=["Cs"]))
queries = st.builds(
    SearchQuery,
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Z"]), min_size=1, max_size=600),
    count=st.integers(1, 10),
    lang=st.sampled_from(["", "zh", "zh-Hant", "en-GB", "eo", "pt_BR", "no"]),
    country=st.sampled_from(["", "CN", "US", "aq"]),
    freshness=st.sampled_from(["", "day", "year", "2026-01-01..", "..2026-01-01", "0001-01-01..9999-12-31"]).map(
        lambda text: Freshness.parse(text) if text else None
    ),
    allowed_domains=st.sampled_from([(), ("a.example",), ("a.example", "b.example")]),
    blocked_domains=st.sampled_from([(), tuple(f"c{n}.example" for n in range(60))]),
)

# What only broken pages contain.
ODD = st.sampled_from(
    [
        b"", b"\x00", b"\x00" * 300, b"\xed\xa0\x80", b"\xed\xb0\x80\xed\xa0\x80", b"\xff\xfe", b"\xef\xbb\xbf",
        b"<", b">", b'"', b"'", b"&", b"&#xD800;", b"&#0;", b"&#x110000;", b"<div>" * 60, b"</div>" * 60,
        b'<li class="b_algo">' * 8,
        b'<div class="result">' * 8, b"<table><tr>" * 20, b"<svg><a>", b"<template>", b"<!--", b"<![CDATA[",
        b"<script>", b"<plaintext>",
        b"<form id='challenge-form'>", b"x" * 5000, b' href="http://[" ', b' href="javascript:0" ', b' mu="//x" ', b"%",
        b"%FF",
        b"a1aHR0cDovL1s", b"uddg=http%3A%2F%2F%5B", b'<meta charset="gbk">', b"<base href='http://['>",
        b"{", b"}", b"[", b"null", b'"\\ud800"', b"1e999", b"NaN", b"-1", b",", b"[" * 500,
        "年前2026年13月40日".encode(), b"999999999999999999999",
    ]
)  # fmt: skip


@st.composite
def broken(draw: st.DrawFn, samples: list[bytes]) -> bytes:
    """One of ``samples`` with pieces removed, repeated, moved or replaced."""
    data = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(1, 4))):
        one, two = draw(st.integers(0, len(data))), draw(st.integers(0, 400))
        start, piece, end = data[:one], data[one : one + two], data[one + two :]
        middle = draw(st.sampled_from([b"", piece * 2, piece[::-1], end[:two] + piece]) | ODD | st.binary(max_size=20))
        data = start + middle + end
    return data


def replies(bodies: st.SearchStrategy[bytes]) -> st.SearchStrategy[Response]:
    addresses = (
        st.sampled_from(["", "https://x.example/", "http://[", "https://wappass.baidu.com/x", "\x00", "//"]) | texts
    )
    kinds = st.sampled_from(
        [
            "text/html",
            "text/html; charset=gbk",
            "application/json",
            "text/html; charset=utf-16",
            "charset=",
            "charset=x y",
        ]
    )
    headers = st.fixed_dictionaries({}, optional={"location": addresses, "retry-after": texts, "content-type": kinds})
    return st.builds(
        Response, st.just(200) | st.integers(100, 599), bodies, addresses, headers, st.just(NOW) | st.none()
    )


def steps(name: str) -> settings:
    """How many examples an engine needs."""
    return FEW if isinstance(ENGINES[name], JsonEngine | PageEngine) else STEADY


def read(name: str, response: Response, query: SearchQuery | None = None) -> tuple[SearchResult, ...]:
    """The results, none if the engine raises a ``SuyuanError``; any other error fails the test."""
    try:
        found = ENGINES[name].parse(response, query)
    except SuyuanError as error:
        assert error.engine == name
        assert error.hint
        assert error.message
        return ()
    for result in found.results:
        assert result.url.startswith(("http://", "https://"))
        assert result.engine == name
        assert result.rank == 0
        assert all(isinstance(text, str) for text in (result.title, result.snippet, result.summary))
    return found.results


@by_engine
@pytest.mark.req("T7.1", "C7.1", "T1.2")
def test_no_bytes_and_no_status_break_an_engine(name: str) -> None:
    @steps(name)
    @given(replies(st.binary(max_size=300) | texts.map(str.encode)), queries | st.none())
    def check(response: Response, query: SearchQuery | None) -> None:
        read(name, response, query)

    check()


@by_engine
@pytest.mark.req("T7.1", "C7.1", "T1.2")
def test_no_broken_page_breaks_an_engine(name: str) -> None:
    @steps(name)
    @given(replies(broken(SAMPLES[name])), queries | st.none())
    def check(response: Response, query: SearchQuery | None) -> None:
        read(name, response, query)

    check()


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["url", "title", "code", "error", "a"]), inner, max_size=3
    )


ODD_VALUES = st.sampled_from(["https://x.example/", "http://[", "200", 429, "\ud800"])
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | ODD_VALUES, nested, max_leaves=6
)


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path to every value in a JSON tree."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(place for key, child in inner for place in places(child, (*way, key)))]


def replaced(value: Any, way: tuple[Any, ...], other: Any) -> Any:
    if not way:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[way[0]] = replaced(value[way[0]], way[1:], other)
    return copy


@pytest.mark.parametrize("name", [name for name, all_of in SAMPLES.items() if any(s.startswith(b"{") for s in all_of)])
@pytest.mark.req("C7.1", "C7.2", "T1.2")
def test_no_value_in_the_wrong_place_breaks_an_engine(name: str) -> None:
    trees = [json.loads(text) for text in SAMPLES[name] if text.startswith(b"{")]

    @settings(STEADY, max_examples=120 if steps(name) is FEW else 200)
    @given(
        st.sampled_from([(tree, way) for tree in trees for way in places(tree)]),
        JSON_VALUES,
        st.sampled_from([200, 400, 422, 429]),
    )
    def check(place: tuple[Any, tuple[Any, ...]], other: Any, status: int) -> None:
        read(
            name,
            Response(
                status, json.dumps(replaced(*place, other)).encode(), headers={"content-type": "application/json"}
            ),
        )

    check()


@by_engine
@pytest.mark.req("P9.1", "P9.3", "G1.2")
def test_every_request_goes_to_the_engine_and_is_plain_ascii(name: str) -> None:
    @steps(name)
    @given(queries)
    def check(query: SearchQuery) -> None:
        request = first_request(ENGINES[name], query)
        hosts = {urlsplit(ENGINES[name].default_url).netloc, *ENGINES[name].redirect_hosts}
        assert urlsplit(request.url).netloc in hosts
        assert request.url.isascii()
        assert "sk-0123456789" not in request.url + request.body.decode()

    check()


# --- URLs are not altered ---------------------------------------------------------------------------------
WRAPPINGS: dict[str, tuple[str, Callable[[str], str]]] = {
    "ddg uddg": ("ddg_html", lambda url: page.ddg_page(page.ddg_row(page.uddg(url)))),
    "ddg plain": ("ddg_html", lambda url: page.ddg_page(page.ddg_row(url))),
    "lite uddg": ("ddg_html", lambda url: page.lite_page(page.lite_row(page.uddg(url)))),
    "bing ck/a": ("bing_html", lambda url: page.bing_page(page.bing_row(page.ck(url)))),
    "bing plain": ("bing_html", lambda url: page.bing_page(page.bing_row(url))),
    "baidu mu": ("baidu_html", lambda url: page.baidu_page(page.baidu_row("/link?url=x", url))),
    "baidu json": ("baidu_html", lambda url: json.dumps(page.baidu_feed({**page.BAIDU_ENTRY, "url": url}))),
    "searxng": ("searxng", lambda url: json.dumps(page.searxng_data({**page.SEARXNG_ROW, "url": url}))),
    "bocha": ("bocha", lambda url: json.dumps(page.bocha_data({**page.BOCHA_ROW, "url": url}))),
    "brave": ("brave", lambda url: json.dumps(page.brave_data({**page.BRAVE_ROW, "url": url}))),
}
by_wrapping = pytest.mark.parametrize("wrapping", WRAPPINGS)

pieces = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"])) | st.text(
    st.sampled_from("%2F+&=#?/;:@[]茶%25amp;<>\"'\\")
)
targets = st.builds(
    lambda scheme, host, path, query: f"{scheme}://{host}/{path}?{query}",
    st.sampled_from(["http", "https"]),
    st.sampled_from(["pots.example", "pots.example:8080", "[::1]", "茶壶.example", "xn--gk3at1e.example"]),
    pieces, pieces,
)  # fmt: skip


def round_trip(wrapping: str, target: str) -> str:
    name, wrap = WRAPPINGS[wrapping]
    results = ENGINES[name].parse(Response(200, wrap(target).encode())).results
    assert len(results) == 1
    return results[0].url


@by_wrapping
@pytest.mark.req("T1.2", "T5.2", "T5.3", "G2.1")
def test_unwrapping_gives_exactly_the_target(wrapping: str) -> None:
    @STEADY
    @given(targets)
    def check(target: str) -> None:
        assert round_trip(wrapping, target) == target

    check()


@by_wrapping
@pytest.mark.skipif(not WPT.is_dir(), reason=f"no URL test data at {WPT}")
@pytest.mark.req("T1.2", "T5.2", "T5.3", "G2.1")
def test_unwrapping_gives_exactly_the_target_for_the_urls_of_the_standard(wrapping: str) -> None:
    cases = [
        case
        for file in ("urltestdata.json", "ada_extra_urltestdata.json")
        for case in json.loads((WPT / file).read_text("utf-8"))
    ]
    hrefs = {
        case["href"]
        for case in cases
        if isinstance(case, dict) and str(case.get("href")).startswith(("http://", "https://"))
    }
    assert len(hrefs) > 150
    assert [href for href in sorted(hrefs) if round_trip(wrapping, href) != href] == []


@STEADY
@given(texts | st.text(st.sampled_from("0123456789-/.年月日天前 agodysJanT:")))
def test_any_text_gives_a_date_or_none(text: str) -> None:
    assert read_date(text) is None or read_date(text, NOW) is not None


@STEADY
@given(texts | st.text(st.sampled_from("Mon, 01Jan2026:GT+-9")))
def test_any_retry_after_is_a_time_or_none(text: str) -> None:
    seconds = retry_after(Response(429, b"", headers={"retry-after": text}, at=NOW))
    assert seconds is None or 0 <= seconds <= 3600


@pytest.mark.parametrize("engine", ["ddg_html", "baidu_html", "bing_html", "google"])
def test_endless_nesting_is_refused_at_once(engine: str) -> None:
    began = time.process_time()
    with pytest.raises(SuyuanError):
        registry.load(engine)(None).parse(Response(200, b"<html><body>" + b"<div>" * 200_000))  # type: ignore[attr-defined]
    assert time.process_time() - began < 1.0


@pytest.mark.parametrize(
    "attack",
    [
        lambda size: "<div>" * min(size // 5, 24_000),
        lambda size: "<p " + " ".join(f"a{n}=x" for n in range(size // 8)) + ">",
        lambda size: "<p " + "a='>' " * (size // 6) + ">",
        lambda size: "<p><b>x" * min(size // 7, 12_000),
        lambda size: f"<p class='{'x ' * (size // 2)}'>",
        lambda size: "<!--" + "-" * size,
        lambda size: "<a<" * min(size // 3, 8_000),
    ],
    ids=["nesting", "attributes", "quoted brackets", "open formats", "classes", "comment", "broken tags"],
)
@pytest.mark.parametrize("engine", ["ddg_html", "yahoo", "startpage"])
def test_a_hostile_result_page_takes_linear_time(engine: str, attack: Callable[[int], str]) -> None:
    body = ("<html><body>" + attack(1_500_000)).encode()
    began = time.process_time()
    with contextlib.suppress(SuyuanError):
        registry.load(engine)(None).parse(Response(200, body))  # type: ignore[attr-defined]
    # What was quadratic took minutes.
    assert time.process_time() - began < 5.0
