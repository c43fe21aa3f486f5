"""Recorded pages, if they are beside the project, judged as by the scoring tool beside them."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from suyuan.core.errors import SuyuanError, WebBlocked
from suyuan.core.query import SearchQuery
from suyuan.core.result import SearchResult
from suyuan.core.wire import Response
from suyuan.engines import registry
from suyuan.search.relevance import RELEVANT, check_relevance, relevance

SHARED = Path(__file__).parents[3] / "shared"
SERP = SHARED / "serp"
HERE = (SERP / "MANIFEST.json").is_file() and (SHARED / "score_serp.py").is_file()
SCORE: dict[str, Any] = runpy.run_path(str(SHARED / "score_serp.py")) if HERE else {}
# Google has a test file of its own; pages of engines that do not exist here are left out.
NAMES: dict[str, str] = {
    there: here for there, here in SCORE.get("NAMES", {}).items() if here != "google" and here in registry.names()
}
PAGES: list[dict[str, Any]] = (
    [entry for entry in json.loads((SERP / "MANIFEST.json").read_text(encoding="utf-8")) if entry["engine"] in NAMES]
    if HERE
    else []
)
OUTCOMES = {"no_results": {"empty"}} | dict.fromkeys(("captcha", "blocked", "consent", "decoy"), {"blocked"})

pytestmark = pytest.mark.skipif(not HERE, reason=f"no recorded pages at {SERP}")
each_page = pytest.mark.parametrize("entry", PAGES, ids=[entry["file"] for entry in PAGES])


def read(entry: dict[str, Any]) -> tuple[str, tuple[SearchResult, ...]]:
    """The outcome and the results, as `suyuan engines parse` prints them."""
    engine: Any = registry.load(NAMES[entry["engine"]])(None)
    try:
        results = engine.parse(Response(200, (SERP / entry["file"]).read_bytes())).results
        if entry.get("query") and entry["kind"] in ("results", "decoy"):
            check_relevance(engine.name, SearchQuery(entry["query"]), results)
    except WebBlocked:
        return "blocked", ()
    except SuyuanError:
        return "error", ()
    return "ok" if results else "empty", results


def test_there_are_pages_of_every_engine() -> None:
    assert {NAMES[entry["engine"]] for entry in PAGES} == set(NAMES.values())
    assert len(PAGES) >= 50


def test_results_under_the_query_of_another_page_are_recognised() -> None:
    """Decoys made by exchanging the queries of genuine pages, which keep at least half of their words."""
    asked = {e["query"]: read(e)[1] for e in PAGES if e["kind"] == "results" and e.get("query")}
    own = [share for query, results in asked.items() if (share := relevance(SearchQuery(query), results)) is not None]
    assert len(own) >= 10 and min(own) >= 0.5
    others = [
        share
        for query in asked
        for other, results in asked.items()
        if other != query and (share := relevance(SearchQuery(query), results)) is not None
    ]
    assert len(others) >= 100 and sum(share < RELEVANT for share in others) > 0.95 * len(others)


@each_page
@pytest.mark.req("P10.1", "T5.2", "T5.3")
def test_the_page_is_classified_correctly(entry: dict[str, Any]) -> None:
    outcome, results = read(entry)
    if entry["kind"] != "results":
        assert outcome in OUTCOMES.get(entry["kind"], {"error", "blocked"})
        return
    assert outcome == "ok"
    # The list of results beside the page leaves out addresses at Google.
    found = {SCORE["key"](url) for result in results if (url := SCORE["unwrap"](result.url))}
    wanted = SCORE["gold"](SERP, entry)
    if wanted is None:
        # There is no independent list of results, only a rough count.
        rough = entry.get("organic") or 0
        assert abs(len(found) - rough) <= max(1, 0.15 * rough)
        return
    assert len(found & set(wanted)) >= 0.9 * len(wanted), "too few of the results"
    assert len(found & set(wanted)) >= 0.9 * len(found), "too much that is no result"


@each_page
@pytest.mark.req("T1.2", "T4.1")
def test_results_have_a_title_and_the_address_of_a_page(entry: dict[str, Any]) -> None:
    for result in read(entry)[1]:
        parts = urlsplit(result.url)
        assert result.title
        assert parts.scheme in ("http", "https")
        assert parts.hostname
        assert result.engine == NAMES[entry["engine"]]
        assert result.rank == 0, "ranks are written by normalisation alone"


@each_page
@pytest.mark.req("T5.2", "T5.3")
def test_no_result_is_a_redirect_or_an_ad(entry: dict[str, Any]) -> None:
    for result in read(entry)[1]:
        host, path = urlsplit(result.url).hostname or "", urlsplit(result.url).path
        assert not (host.endswith("duckduckgo.com") and (path.startswith("/l/") or path == "/y.js"))
        assert not (host.endswith("bing.com") and path in ("/ck/a", "/aclk", "/aclick"))
        assert not (host.endswith("baidu.com") and path == "/baidu.php")


@each_page
def test_texts_are_plain(entry: dict[str, Any]) -> None:
    for result in read(entry)[1]:
        for text in (result.title, result.snippet):
            assert text == " ".join(text.split())
            assert not any(tag in text for tag in ("<strong>", "<em>", "<b>"))
