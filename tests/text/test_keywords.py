"""The words of a question that matter."""

from __future__ import annotations

import pytest

from suyuan.text.keywords import content_stems, content_words, keywords, without_request


def test_keywords_are_as_written() -> None:
    assert keywords("What does the Acme Rocket cost?") == ["Acme", "Rocket", "cost"]
    assert keywords("请问北京的人口是多少？") == ["北京", "人口"]


def test_content_words_leave_out_what_every_question_has() -> None:
    assert content_words("When does it open, and when does it close?") == ["open", "close"]
    assert content_words("茶壶在哪里？") == ["茶", "壶", "茶壶"]
    assert content_words("的") == []


def test_a_single_character_weighs_less_than_a_pair() -> None:
    assert content_stems("founded 茶壶") == {"found": 1.0, "茶": 0.5, "壶": 0.5, "茶壶": 1.0}


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("请问北京在哪里", "北京在哪里"), ("帮我查一下茶壶", "茶壶"), ("Could you tell me about tea", "tea"),
        ("Please, who is Ann?", "who is Ann?"), ("Who is Ann?", "Who is Ann?"),
    ],
)  # fmt: skip
def test_the_polite_phrase_before_a_question(question: str, rest: str) -> None:
    assert without_request(question) == rest
