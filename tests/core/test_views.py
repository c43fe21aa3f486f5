"""The three published shapes."""

from __future__ import annotations

import json

import pytest

from suyuan.core.errors import WebBlocked
from suyuan.core.query import SearchQuery
from suyuan.core.result import Attempt, SearchPage, SearchResult
from suyuan.core.views import VIEWS, items_view, provider_view, receipt, results_view

RESULTS = (
    SearchResult("标题", "https://www.a.example/x", "摘要", "ddg_html", 1, "2026-01-02"),
    SearchResult("", "https://b.example/", "", "ddg_html", 2, summary="long"),
)
ATTEMPTS = (
    Attempt("searxng", "blocked", failure=WebBlocked("no", hint="wait", detail_code="http_429", retry_after=7).failure),
    Attempt("ddg_html", "ok", 2, 120),
)
PAGE = SearchPage(SearchQuery("问题", trace_id="t1"), RESULTS, ATTEMPTS, 130)


@pytest.mark.req("T1.1", "T1.3", "T2.1", "T4.1")
def test_items() -> None:
    view = items_view(PAGE)
    items = view.get("items", view)
    assert isinstance(items, list)
    assert items[0] == {
        "title": "标题", "url": "https://www.a.example/x", "snippet": "摘要", "provider": "ddg_html", "rank": 1,
        "source": "a.example", "published_at": "2026-01-02",
    }  # fmt: skip
    assert items[1]["title"] == "" and items[1]["summary"] == "long"
    assert view["provider_meta"]["provider_name"] == "ddg_html"
    assert view["provider_meta"]["latency_ms"] == 130 and view["provider_meta"]["request_id"] == "t1"
    assert view["errors"] == [
        {
            "type": "WebBlocked",
            "detail_code": "http_429",
            "message": "no",
            "hint": "wait",
            "retryable": True,
            "retry_after": 7,
            "provider": "searxng",
        }
    ]


@pytest.mark.req("T4.1")
def test_the_id_that_the_engine_gave_its_answer_comes_before_our_own() -> None:
    attempts = (ATTEMPTS[0], Attempt("bocha", "ok", 2, 120, request_id="r-9"))
    meta = items_view(SearchPage(PAGE.query, RESULTS, attempts, 130))["provider_meta"]
    assert (meta["request_id"], meta["trace_id"]) == ("r-9", "t1")


@pytest.mark.req("G2.1")
def test_results() -> None:
    view = results_view(PAGE)
    assert set(view) == {"query", "results"} and view["query"] == "问题"
    assert view["results"][0] == {
        "title": "标题",
        "url": "https://www.a.example/x",
        "snippet": "摘要",
        "source": "a.example",
    }


@pytest.mark.req("P3.1")
def test_provider() -> None:
    view = provider_view(PAGE)
    assert view["provider"] == "duck-duck-scrape" and (view["count"], view["tookMs"], view["cached"]) == (2, 130, False)
    assert view["results"][0] == {
        "title": "标题", "url": "https://www.a.example/x", "description": "摘要", "siteName": "a.example", "published": "2026-01-02",
    }  # fmt: skip
    assert "published" not in view["results"][1]


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_every_shape_is_json(name: str) -> None:
    assert json.loads(json.dumps(VIEWS[name](PAGE))) == VIEWS[name](PAGE)


def test_the_receipt_lists_every_engine_in_order() -> None:
    assert [(row["engine"], row["outcome"], row["detail_code"]) for row in receipt(PAGE.attempts)] == [
        ("searxng", "blocked", "http_429"),
        ("ddg_html", "ok", None),
    ]
