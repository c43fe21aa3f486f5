"""The parts of an answer as HTML."""

from __future__ import annotations

import pytest

from suyuan.core.causes.chat import FROM_ARCHIVE, WITHOUT_SEARCH
from suyuan.core.causes.engine import CAPTCHA, RATE_LIMITED
from suyuan.core.failure import Failures
from suyuan.server import answer_view
from suyuan.server.answer_html import AnswerHtml
from suyuan.server.answer_view import AnswerView
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
