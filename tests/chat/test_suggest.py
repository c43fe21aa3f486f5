"""What to ask next."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from support.oai import reply, serve_model
from support.talk import Article, Web, ask, openai, talking
from suyuan.chat import turn
from suyuan.chat.suggest import suggestions
from suyuan.citations.registry import Source
from suyuan.text.keywords import content_stems


def source(number: int, title: str) -> Source:
    return Source(number, title, f"https://e.example/{number}")


def test_what_was_not_cited_comes_first_and_site_names_go() -> None:
    found = suggestions(
        "How long is the bridge?",
        [
            source(1, "The longest bridges in the world - Example News"),
            source(2, "Building an undersea tunnel | Engineering Weekly"),
        ],
        [1],
        "en",
    )
    assert found == (
        "Tell me more about “Building an undersea tunnel”",
        "Tell me more about “The longest bridges in the world”",
    )


def test_titles_that_say_what_was_asked_or_the_same_twice_are_left_out() -> None:
    sources = [
        source(1, "港珠澳大桥有多长"),
        source(2, "港珠澳大桥海底隧道的建设"),
        source(3, "港珠澳大桥海底隧道建设纪实"),
        source(4, "x" * 300),
    ]
    assert suggestions("港珠澳大桥有多长", sources, [], "zh") == ("介绍一下“港珠澳大桥海底隧道的建设”",)


def test_questions_are_asked_as_they_are() -> None:
    titles = ("Why do bridges sway?", "Famous tunnels of Europe", "Concrete and its history", "Steel cables explained")
    found = suggestions("ships", [source(n, title) for n, title in enumerate(titles, 1)], [], "en")
    assert found == ("Why do bridges sway?",)


def test_whole_questions_that_the_sources_answer_and_nobody_asked() -> None:
    told = Source(
        1, "Tarn Bridge - Example", "https://e.example/1",
        "Tarn Bridge was opened in June 1998. Tarn Bridge was designed by Ann Lee. The Tarn Bridge is 420 metres long. It is blue.",
    )  # fmt: skip
    assert suggestions("When was Tarn Bridge opened?", [told], [1], "en") == (
        "Who was Tarn Bridge designed by?", "How long is the Tarn Bridge?",
    )  # fmt: skip


def test_the_same_in_chinese_from_a_page_and_its_headings() -> None:
    page = "## 灵渠为什么有名？\n灵渠位于广西。灵渠全长36.4公里。灵渠由史禄主持开凿。"
    found = suggestions("灵渠什么时候建成？", [Source(1, "灵渠", "https://e.example/1")], [1], "zh", {1: page})
    assert found == ("灵渠为什么有名？", "灵渠在哪里？", "灵渠的全长是多少？")


def test_a_source_about_something_else_suggests_nothing_from_its_sentences() -> None:
    other = Source(2, "Oslo", "https://e.example/2", "Oslo Harbour was opened in May 1970.")
    assert suggestions("When was Tarn Bridge built?", [other], [], "en") == ()


def test_what_stands_there_often_is_looked_at_once_and_a_page_of_questions_not_to_its_end() -> None:
    asked = "When was Tarn Bridge opened?"
    often, many = f"{asked}\n" * 500, "".join(f"Why was Tarn Bridge closed in {year}?\n" for year in range(400))
    for page, most in ((often, 10), (f"{asked}\n" + many.replace("Why", "When"), 450)):
        before = content_stems.cache_info()
        suggestions(asked, [Source(1, "Tarn Bridge", "https://e.example/1")], [1], "en", {1: page})
        after = content_stems.cache_info()
        assert after.hits + after.misses - before.hits - before.misses < most


async def test_pages_are_looked_through_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other answers are being written meanwhile."""
    threads = []

    def noted(*given: Any) -> tuple[str, ...]:
        threads.append(threading.current_thread())
        return suggestions(*given)

    monkeypatch.setattr(turn, "suggestions", noted)
    web = Web((Article("/1", "Why do bridges sway?", "The wind moves every long bridge.", "The wind moves a bridge."),))
    with serve_model(reply("The bridge is long.")) as model:
        async with talking(openai(model.url), web=web) as (client, _):
            conversation = await client.chat.create(search=True)
            _, answer = await ask(client, "How long is the bridge?", id=conversation.id)
    assert answer.suggestions == ("Why do bridges sway?",)
    assert len(threads) == 1 and threads[0] is not threading.current_thread()
