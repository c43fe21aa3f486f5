"""The parts of an answer as HTML."""

from __future__ import annotations

from collections import Counter

import pytest

from suyuan.core.causes.chat import FROM_ARCHIVE, WITHOUT_SEARCH
from suyuan.core.causes.engine import CAPTCHA, RATE_LIMITED
from suyuan.core.failure import Failures
from suyuan.server import answer_view
from suyuan.server.answer_html import AnswerHtml
from suyuan.server.answer_view import AnswerView, Listing
from suyuan.text.shingles import is_reprint

TITLES = {"ddg_html": "DuckDuckGo", "bing_html": "Bing"}


def notices(*failures: object) -> str:
    """The notices of an answer, as the page shows them."""
    parts = AnswerHtml("en", TITLES)
    view = AnswerView("run", parts.labels)
    for failure in failures:
        view.take({"kind": "notice", "level": "warning", "failure": failure.as_dict(), "guide": ""})  # type: ignore[attr-defined]
    return parts.part("notices", view)


def test_notices_name_engines_as_the_rest_of_the_page_does() -> None:
    refused = CAPTCHA.failure(engine="ddg_html")
    shown = notices(refused, WITHOUT_SEARCH.failure(cause=refused), FROM_ARCHIVE.failure(cause=refused, dates=""))
    assert shown.count("DuckDuckGo") == 3 and "ddg_html" not in shown
    several = Failures((refused, RATE_LIMITED.failure(engine="bing_html")))
    shown = notices(WITHOUT_SEARCH.failure(cause=several))
    message, _, hint = shown.partition('class="hint"')
    assert "DuckDuckGo" in message and "Bing" in message and "_html" not in message
    assert "web.providers.bing_html." in hint, "a setting has the name of the engine"


def test_a_plan_has_the_titles_of_its_engines() -> None:
    parts = AnswerHtml("en", TITLES)
    view = AnswerView("run", parts.labels)
    view.take({"kind": "search.started", "step": 1, "query": "otters", "engine": "ddg_html,bing_html+own"})
    assert "DuckDuckGo, Bing + own" in parts.status(view)


def test_each_source_is_compared_with_the_others_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0

    def counting(one: str, other: str) -> bool:
        nonlocal compared
        compared += 1
        return is_reprint(one, other)

    monkeypatch.setattr(answer_view, "is_reprint", counting)
    parts = AnswerHtml("en", {})
    view = AnswerView("run", parts.labels)
    sources = [{"number": n, "url": f"https://{n}.example/", "title": "", "snippet": f"Text {n}."} for n in range(40)]
    view.take({"kind": "sources", "sources": sources})
    shown = parts.part("evidence", view)
    assert shown.count("data-source=") == 40 and compared == 40 * 39 / 2


WORDS = "The bridge was opened in autumn and is used by many thousands of travellers on every working day of the year"


@pytest.mark.req("C5.1", "C5.3")
@pytest.mark.parametrize("cited", [(), (1,), (2,), (1, 2), (3,)])
@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("", "", True),
        (" 1001", " 1002", False),
        (" 5 km", " 5 km", True),
        (" 5%", "", True),
        (" in 2018", " in 2019", False),
    ],
)
def test_only_the_same_text_is_folded_and_never_what_is_cited(
    one: str, other: str, same: bool, cited: tuple[int, ...]
) -> None:
    texts = {1: WORDS + one, 2: WORDS + other, 3: "Something else."}
    view = AnswerView("run", AnswerHtml("en", {}).labels)
    sources = [{"number": n, "url": f"https://{n}.example/p", "title": f"T{n}", "snippet": t} for n, t in texts.items()]
    view.take({"kind": "sources", "sources": sources})
    listing = Listing(Counter())
    for source in sorted(sources, key=lambda source: source["number"] not in cited):
        listing.add(source, cited=source["number"] in cited)
    folded = {each["number"] for below in listing.reprints.values() for each in below}
    assert not folded & set(cited)
    assert bool(folded) is (same and not {1, 2} <= set(cited))
    shown = AnswerHtml("en", {}).part("evidence", view)
    assert all(f"{n}.example/p" in shown and f"T{n}" in shown and texts[n] in shown for n in texts)


@pytest.mark.req("C4.2")
@pytest.mark.parametrize(("lang", "told"), [("en", "no results"), ("zh", "没有结果")])
@pytest.mark.parametrize("count", [0, 1])
def test_a_search_without_results_says_so(lang: str, told: str, count: int) -> None:
    parts = AnswerHtml(lang, TITLES)
    view = AnswerView("run", parts.labels)
    view.take({"kind": "search.started", "step": 1, "query": "x", "engine": "ddg_html"})
    receipt = [{"engine": "ddg_html", "outcome": "ok" if count else "empty", "count": count, "latency_ms": 20}]
    ended = {"step": 1, "query": "x", "engine": "ddg_html", "count": count, "took_ms": 20, "receipt": receipt}
    view.take({"kind": "search.finished", "cached": False, "repeated": False, **ended})
    if count:
        view.take(
            {"kind": "sources", "sources": [{"number": 1, "url": "https://a.example/", "title": "", "snippet": ""}]}
        )
    view.state = "done"
    assert (told in parts.status(view).lower()) is not bool(count)
