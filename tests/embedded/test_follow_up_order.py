"""The first line of the answer to a follow-up is the answer."""

from __future__ import annotations

import pytest

from suyuan.embedded.follow_up import Said, resolve
from suyuan.embedded.follow_up_order import answer_first
from suyuan.embedded.quote import Quote

MOON = Said("How far is the Moon from the Earth?", "The mean distance of the Moon from the Earth is 384,400 km[1].")
PRICE = Said("墨舟7的售价是多少？", "墨舟7售价2699元[1]。")


@pytest.mark.parametrize(
    ("said", "message", "texts", "first"),
    [
        (
            MOON,
            "And what is its diameter?",
            [
                "The mean distance of the Moon is thirty times the diameter of the Earth.",
                "The Sun has a diameter of about 1.39 million kilometres.",
                "The Moon has a diameter of 3,474 kilometres.",
            ],
            2,
        ),
        (MOON, "Who were the first people there?", ["The Moon has no air.", "The first people on the Moon were Neil Armstrong and Buzz Aldrin."], 1),
        (PRICE, "青简S呢？", ["墨舟7售价2699元，含手写笔。", "青简S售价2999元，手写笔另售。"], 1),
        (PRICE, "它的续航时间是多久？", ["青简S的续航时间为21天。", "墨舟7的续航时间为18天。"], 1),
    ],
)  # fmt: skip
def test_the_quote_that_answers_stands_first(said: Said, message: str, texts: list[str], first: int) -> None:
    quotes = [Quote(text, (1,), 1.0) for text in texts]
    assert answer_first(quotes, resolve(message, (said,)), said.answer, {})[0].text == texts[first]


def test_what_is_about_the_subject_before_is_left_out() -> None:
    quotes = [Quote("墨舟7售价2699元，含手写笔。", (1,), 1.0), Quote("青简S售价2999元。", (2,), 1.0)]
    assert [quote.numbers for quote in answer_first(quotes, resolve("青简S呢？", (PRICE,)), PRICE.answer, {})] == [(2,)]


def test_without_a_follow_up_the_order_stays() -> None:
    quotes = [Quote("One.", (1,), 1.0), Quote("Two Moons.", (2,), 1.0)]
    assert answer_first(quotes, resolve("How many moons does Mars have?", ()), "", {}) == tuple(quotes)
