"""HTTP statuses, Retry-After and undecoded bodies, for every engine that parses pages."""

from __future__ import annotations

import gzip
import json

import pytest

from engines import small_pages as page
from engines.exchanges import answer, failure
from suyuan.core.engine import Engine
from suyuan.core.errors import AuthError, BadGateway, NetworkError, SuyuanError, WebBlocked, WebProviderError
from suyuan.engines.baidu_html import Baidu
from suyuan.engines.bing_html import Bing
from suyuan.engines.ddg_html import DuckDuckGo
from suyuan.engines.kit import check_status, json_object, retry_after

READERS = (DuckDuckGo(), Baidu(), Bing())
LONG = json.dumps([f"{n} {n * n} {n**3:x}" for n in range(3000)]).encode()
by_engine = pytest.mark.parametrize("engine", READERS, ids=lambda engine: str(engine.name))


@by_engine
@pytest.mark.parametrize(
    ("status", "kind", "detail", "retryable"),
    [
        (301, NetworkError, "redirected", False),
        (307, NetworkError, "redirected", False),
        (401, AuthError, "key_rejected", False),
        (403, WebBlocked, "http_403", True),
        (404, WebProviderError, "http_status", False),
        (418, WebProviderError, "http_status", False),
        (429, WebBlocked, "http_429", True),
        (500, BadGateway, "http_5xx", True),
        (503, BadGateway, "http_5xx", True),
        (599, BadGateway, "http_5xx", True),
    ],
)
@pytest.mark.req("T7.1", "T7.2", "T7.3")
def test_statuses(engine: Engine, status: int, kind: type[SuyuanError], detail: str, retryable: bool) -> None:
    # Results on the page do not change the meaning of an error status.
    rows = page.ddg_page(page.ddg_row("https://pots.example/")) + page.bing_page(page.bing_row("https://pots.example/"))
    error = failure(engine, answer(rows, status))
    assert (type(error), error.detail_code, error.retryable, error.engine) == (kind, detail, retryable, engine.name)


@by_engine
@pytest.mark.parametrize(
    ("location", "where"),
    [
        ("https://new.example/s?q=1", "new.example"),
        ("/other", "old.example"),
        ("", "an unknown address"),
        ("http://[", "an unknown address"),
    ],
)
def test_a_redirect_is_reported_with_its_target(engine: Engine, location: str, where: str) -> None:
    error = failure(engine, answer("", 302, url="https://old.example/s", location=location))
    assert where in error.message


@pytest.mark.req("T7.2")
@pytest.mark.parametrize("status", [403, 429, 500, 503])
@by_engine
def test_retry_after_is_reported(engine: Engine, status: int) -> None:
    assert failure(engine, answer("", status, retry_after="120")).retry_after == 120.0
    assert failure(engine, answer("", status)).retry_after is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        (" 30 ", 30.0),
        ("86400", 3600.0),
        ("9" * 400, 3600.0),
        ("Tue, 10 Mar 2026 12:00:45 GMT", 45.0),
        ("Tue, 10 Mar 2026 13:00:45 +0100", 45.0),
        ("Wed, 11 Mar 2026 12:00:00 GMT", 3600.0),
        ("Mon, 09 Mar 2026 12:00:00 GMT", 0.0),
        ("Tue, 10 Mar 99999999999999999999 12:00:45 GMT", None),
        ("Tue, 10 Mar 2026 12:00:45 -0000", None),
        ("Tue, 99 Mar 2026 12:00:45 GMT", None),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
    ],
)
@pytest.mark.req("T7.2")
def test_retry_after(value: str, seconds: float | None) -> None:
    assert retry_after(answer("", 429, retry_after=value)) == seconds


@pytest.mark.parametrize("status", [200, 202])
def test_statuses_that_pass(status: int) -> None:
    check_status(answer("", status), "kettle")


@by_engine
@pytest.mark.parametrize(
    "body", [gzip.compress(LONG), bytes(range(256)) * 8, b"\x00" * 100], ids=["gzip", "all bytes", "zeros"]
)
@pytest.mark.req("C7.1", "T7.1")
def test_a_body_that_was_never_decoded(engine: Engine, body: bytes) -> None:
    error = failure(engine, answer(body))
    assert (error.code, error.detail_code, error.retryable) == ("WebParseError", "undecoded_body", True)


@by_engine
def test_a_few_broken_characters_are_accepted(engine: Engine) -> None:
    rows = {
        "ddg_html": page.ddg_page(page.ddg_row("https://pots.example/")),
        "bing_html": page.bing_page(page.bing_row("https://pots.example/")),
        "baidu_html": page.baidu_page(page.baidu_row("https://pots.example/")),
    }
    for broken in (b"\x00", b"\xff\xfe\x00", b"\xed\xa0\x80\xe4\xb8"):
        body = rows[engine.name].encode().replace(b"<body>", b"<body>" + broken, 1)
        assert [r.url for r in engine.parse(answer(body)).results] == ["https://pots.example/"]


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b"", "nothing"),
        (b"  <!doctype html>", "an HTML page"),
        (b"words", "something else"),
        (b"[1]", "JSON of another type (list)"),
        (b"null", "JSON of another type (NoneType)"),
        (b"{1}", "something else"),
    ],
)
def test_what_came_instead_of_json(body: bytes, what: str) -> None:
    with pytest.raises(SuyuanError) as caught:
        json_object(answer(body), "kettle")
    assert caught.value.detail_code == "not_json"
    assert f"but returned {what}." in caught.value.message
