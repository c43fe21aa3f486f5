"""What a question names: sentences of pages about another such thing are no answer to it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from suyuan.citations.registry import Source
from suyuan.embedded.answer_type import answer_type
from suyuan.embedded.recency import asks_for_newest
from suyuan.embedded.responder import Responder
from suyuan.embedded.topic import find_names
from suyuan.embedded.turn_input import TurnInput
from suyuan.text.keywords import content_words

BRIDGES = (
    ("Osk Bridge", "The Osk Bridge was opened in 1998. It is 210 metres long. The bridge was designed by Ada Lorn."),
    ("Pell Bridge opens", "The Pell Bridge was opened in 2026. The bridge is 640 metres long and has two lanes."),
)
桥 = (
    ("望山大桥简介", "望山大桥位于北郊，全长1.1公里，1996年通车。大桥的总设计师是丁松。"),
    ("听雨大桥今日通车", "今天上午，听雨大桥正式通车。大桥全长2.6公里。大桥的总设计师是顾川。"),
)


def answer(question: str, texts: Sequence[tuple[str, str]]) -> str:
    turn = TurnInput(question)
    found = enumerate(texts, 1)
    turn.add_search(question, [Source(at, title, f"https://s{at}.example/", text) for at, (title, text) in found])
    return "".join(Responder().respond(turn))


@pytest.mark.parametrize(
    ("question", "texts", "right", "wrong"),
    [
        ("How long is the Osk Bridge?", BRIDGES, "210 metres", "640"),
        ("How long is the Pell Bridge?", BRIDGES, "640 metres", "210"),
        ("望山大桥有多长？", 桥, "1.1公里", "2.6"),
        ("听雨大桥的总设计师是谁？", 桥, "顾川", "丁松"),
        ("现在听雨大桥有多长？", 桥, "2.6公里", "1.1"),
    ],
)
def test_pages_about_another_thing_of_the_same_kind_are_not_quoted(
    question: str, texts: Sequence[tuple[str, str]], right: str, wrong: str
) -> None:
    said = answer(question, texts)
    assert right in said and wrong not in said and "disagree" not in said and "说法不一" not in said


def test_two_things_that_are_compared_are_both_quoted() -> None:
    assert all(length in answer("听雨大桥和望山大桥哪个更长？", 桥) for length in ("1.1公里", "2.6公里"))


def test_a_thing_that_no_source_names_is_not_answered_by_another_of_its_kind() -> None:
    # Ada Lorn is a person: the word alone does not make the page one about the Lorn Bridge.
    assert answer("How long is the Lorn Bridge?", BRIDGES).startswith("No sentence in these sources answers")


def test_a_place_that_no_source_names_is_not_answered_with_another() -> None:
    found = ("云汀市统计公报", "2025年末，云汀市常住人口为86.4万人，比上年末增加1.3万人。")
    assert answer("北京有多少人口？", [found]).startswith("这些来源里没有直接回答")
    assert answer("云汀有多少人口？", [found]).startswith("2025年末")


def test_a_verb_that_only_makes_the_question_is_no_word_of_it() -> None:
    assert content_words("How does a bloom filter work?") == ["bloom", "filter"]
    assert content_words("Who is at work?") == ["work"]
    texts = (
        (
            "Bloom filters",
            "A Bloom filter is an array of bits and a few hash functions. To add an element, bits are set.",
        ),
        ("Osk Works sold", "Osk Works, the maker of the Leaf S, was sold on 9 May 2025 for 150 million crowns."),
    )
    said = answer("How does a bloom filter work?", texts)
    assert "array of bits" in said and "Osk" not in said


def test_the_noun_after_a_name_tells_what_of_it_is_meant() -> None:
    texts = (
        ("The founding charter of Port Osk", "The founding charter of Port Osk was sealed in 1674."),
        ("Public library – Port Osk", "The library was founded in 1911 with the books of a teacher of Port Osk."),
    )
    said = answer("When was the Port Osk library founded?", texts)
    assert "1911" in said and "1674" not in said


@pytest.mark.parametrize(
    ("question", "newest"),
    [("How much does a ticket cost?", True), ("地铁票价是多少？", True), ("How much did it cost?", False)],
)
def test_a_price_in_the_present_tense_is_the_newest_one(question: str, newest: bool) -> None:
    assert asks_for_newest(question) is newest


def test_a_figure_is_answered_by_sentences_with_such_a_figure_only() -> None:
    said = answer("How long is the Osk Bridge?", BRIDGES)
    assert "210 metres" in said and "Ada Lorn" not in said
    weight = answer(
        "How much does the Leaf S weigh?", [("Leaf S", "The Leaf S costs 420 crowns. It weighs 340 grams.")]
    )
    assert "340 grams" in weight
    sun = [("The Sun", "The mean distance of the Sun from the Earth is about 149.6 million kilometres.")]
    assert answer("How far is the Sun from the Earth?", sun).startswith("The mean distance")


def test_a_figure_of_something_else_only_comes_near() -> None:
    texts = [
        (
            "Port Osk Harbour: annual report",
            "In Port Osk the harbour employed 86 people at the end of the year. Port Osk has 12 people on its pilot boats.",
        ),
        ("Work in Port Osk", "Of the people in Port Osk, 340 people work in the harbour and 90 people in the quarry."),
    ]
    assert answer("How many people live in Port Osk?", texts).startswith("No sentence in these sources answers")
    texts.append(("Port Osk", "About 5,200 people live in Port Osk."))
    assert "5,200 people" in answer("How many people live in Port Osk?", texts).splitlines()[0]


def test_people_are_no_money() -> None:
    assert answer_type("景区的旅游收入是多少？").unit_fit("共接待游客2.74亿人次。") < 0
    assert answer_type("景区的旅游收入是多少？").unit_fit("实现旅游收入1480.56亿元。") > 0


@pytest.mark.parametrize(
    ("question", "fits", "does_not"),
    [
        ("大桥全长多少公里？", "大桥全长2.6公里。", "大桥总造价18.6亿元。"),
        ("主塔高多少米？", "主塔高148米。", "大桥设六条车道。"),
        ("公园有多少公顷？", "公园占地12公顷。", "公园有3个入口。"),
        ("这头象有多少吨？", "它重达6吨。", "它今年42岁。"),
        ("大桥花了多少亿元？", "总造价18.6亿元。", "每天有4.2万人次过桥。"),
        ("校长今年多少岁？", "校长今年56岁。", "校长任职12年。"),
        ("How many kilometres is the trail?", "The trail runs 12 km.", "The trail has 12 huts."),
        ("How many acres is the park?", "It covers 80 acres.", "It has 80 benches."),
    ],
)
def test_a_question_may_name_its_unit(question: str, fits: str, does_not: str) -> None:
    assert answer_type(question).unit_fit(fits) > 0
    assert answer_type(question).unit_fit(does_not) < 0


def test_of_a_table_by_years_the_row_of_the_year_counts() -> None:
    rows = "| Year | Skipper |\n| --- | --- |\n| 2026 | Noor Adad |\n| 2025 | Pavel Rask |\n"
    page = ("Osk Bay Regatta: winners", f"The Osk Bay Regatta in 2026 was won by Noor Adad with a new boat.\n\n{rows}")
    said = answer("Who won the Osk Bay Regatta in 2025?", [page])
    assert "Pavel Rask" in said and "Noor" not in said


def test_the_reason_stands_first() -> None:
    page = (
        "Why there are tides",
        "On most coasts there are two high tides and two low tides a day.\n\n"
        "The tides are caused by the gravity of the Moon.\n\nSailors have tables of the tides.",
    )
    assert "caused by" in answer("Why do tides happen?", [page]).splitlines()[0]


def test_the_first_word_of_a_sentence_is_no_name() -> None:
    assert find_names("When was the harbour of Arvika built? Really") == ["Arvika"]
    assert "Petersburg" in find_names("How old is St. Petersburg?")
