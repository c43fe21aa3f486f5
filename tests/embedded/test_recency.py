"""Questions about how things are now: the newest source that is about the subject, its date, and what is older."""

from __future__ import annotations

import pytest

from suyuan.citations.registry import Source
from suyuan.embedded.recency import asks_for_newest
from suyuan.embedded.responder import Responder
from suyuan.embedded.turn_input import TurnInput


def answer(question: str, *sources: tuple[str, str]) -> list[str]:
    turn = TurnInput(question)
    found = [
        Source(n, "", f"https://e.example/{n}", text, published_at=day) for n, (text, day) in enumerate(sources, 1)
    ]
    turn.add_search(question, found)
    return "".join(Responder().respond(turn)).splitlines()


OLD = "The latest release of the Marl language is Marl 3.14, with a faster parser."
NEW = "The latest release of the Marl language is Marl 3.15, with a faster parser."


def test_the_newest_source_comes_first_with_its_date_and_what_is_older_is_called_older() -> None:
    told = answer("What is the latest release of Marl?", (OLD, "2025-10-07"), (OLD, "2025-11-02"), (NEW, "2026-10-05"))
    assert told[0] == "As of 2026-10-05, by the newest source about it:"
    assert "3.15" in told[1] and told[1].endswith("[3].")
    assert told[2].startswith("Older sources say otherwise (") and "2025" in told[2]
    assert "3.14" in told[3] and "[1][2]" in told[3]


def test_newer_text_about_something_else_is_not_preferred() -> None:
    other = ("The weather in Oslo is mild, and many tourists visit the harbour.", "2026-11-01")
    told = answer("What is the latest release of Marl?", (OLD, "2025-10-07"), other)
    assert told[0].startswith("As of 2025-10-07") and "3.14" in told[1]


def test_the_same_in_chinese() -> None:
    said = "马尔语言目前的最新版本是{}，解析更快。".format
    told = answer("马尔语言最新版本是什么？", (said("3.14"), "2024-03-01"), (said("3.15"), "2026-05-20"))
    assert told[0] == "截至 2026-05-20（关于此事的最新来源）：" and "3.15" in told[1]
    assert told[2].startswith("较早的来源说法不同")


def test_without_such_words_the_date_says_nothing() -> None:
    told = answer(
        "Who wrote the parser of the Marl language?", ("Ann Lee wrote the parser of the Marl language.", "2020-01-01")
    )
    assert told == ["Ann Lee wrote the parser of the Marl language[1]."]


@pytest.mark.parametrize(
    ("question", "asked"),
    [("What is the latest Python release?", True), ("今年的冠军是谁？", True), ("现任市长是谁？", True),
     ("What was the latest release in 2020?", False), ("When was it opened?", False)],
)  # fmt: skip
def test_words_that_ask_for_the_newest(question: str, asked: bool) -> None:
    assert asks_for_newest(question) is asked


@pytest.mark.parametrize("claimed", ["0000-01-01", "2024/05/01", "soon", "99999-1-1", "2024-13-45"])
def test_a_date_that_is_none_does_not_end_the_answer(claimed: str) -> None:
    told = answer("What is the latest release of Marl?", (OLD, claimed), (NEW, "2026-10-05"))
    assert told[0].startswith("As of 2026-10-05") and "3.15" in told[1]
