"""Which sentences of which pages a section quotes."""

from __future__ import annotations

import pytest

from research.ledgers import ledger
from suyuan.research.checking import SentenceChecker
from suyuan.research.quoting import QuotingWriter

Page = tuple[str, str]


def section(question: str, *pages: Page) -> str:
    """All sentences of the section about a question."""
    known = ledger(question, *pages)
    quoted = QuotingWriter(known, SentenceChecker(known)).write(question, known.rows, 6)
    return "\n".join(sentence.text for sentence in quoted.section.sentences)


CITY = ("海州地铁7号线", "海州地铁7号线一期工程的车站由三家单位施工，附近有2个公交车站，步行4分钟。")
UNNAMED = ("施工全部完成，地铁7号线一期全线开通", "经过各单位全力攻坚，地铁7号线一期实现全线12座车站开通。")
OTHER_CITY = ("云州地铁7号线", "云州地铁7号线一期共有9座车站，票价两元。")


@pytest.mark.parametrize(
    ("question", "pages", "told", "untold"),
    [
        ("海州地铁7号线一期共有多少个车站", (CITY, UNNAMED, OTHER_CITY), "12座", "9座"),
        (
            "How tall is the Tern Head lighthouse?",
            (
                (
                    "Tern Head – lights of the coast",
                    "The Tern Head Lighthouse was built in 1889 and is 29 metres tall.",
                ),
                ("Lights", "Sailors know that this one is tall: the lighthouse is about 95 feet tall."),
                ("A keeper's winter", "He left the Wren Point Lighthouse. The lighthouse is 41 metres tall."),
            ),
            "95 feet",
            "41 metres",
        ),
    ],
)
def test_only_a_page_that_names_another_thing_of_the_kind_is_left_out(
    question: str, pages: tuple[Page, ...], told: str, untold: str
) -> None:
    text = section(question, *pages)
    assert told in text and untold not in text


def test_a_longer_sentence_is_no_repetition_of_a_headline() -> None:
    headline = ("Delivery", "The date of the first delivery of the Kestrel plane is set for May 2021!")
    news = (
        "News of the airline",
        "On 9 December 2022 the first delivery of the Kestrel plane took place; the date of May 2021 was set too early"
        " for the works in Marlow, which had lost a year to the flood, and for the test pilots of the airline.",
    )
    text = section("When was the first delivery of the Kestrel plane?", headline, news)
    assert "9 December 2022" in text and text.count("May 2021") == 2


def test_what_a_question_with_what_is_asks_for_needs_no_verb() -> None:
    rankings = ("Rankings", "Men's rowing rankings of 2019 in Europe: 1. It is printed every year in May.")
    report = ("Report", "Odo Brandt has clinched the year-end number 1 ranking of men's rowing for a fifth time.")
    assert "Odo Brandt" in section("What is men's year-end number 1 in rowing in 2019?", rankings, report)
