"""Answers of different lengths and forms: one sentence, all of them, a list, a table."""

from __future__ import annotations

import pytest

from suyuan.core.answer_length import AnswerLength
from suyuan.demo.web import DemoWeb
from suyuan.embedded.answer_form import wanted_form
from suyuan.embedded.question_splitter import split_parts
from suyuan.embedded.turn_input import FoundSource, TurnInput
from suyuan.embedded.writer import write_answer

RIVERS = (
    "Longest rivers",
    "A list of rivers.\n\n| River | Length | Continent |\n|---|:---:|---|\n| Nile | 6,650 km | Africa |\n"
    "| Amazon | 6,400 km | South America |\n| Yangtze | 6,300 km | Asia |\n\nThe Nile flows north.",
)
CITIES = (
    ("Paris", "Paris has a population of 2.1 million."),
    ("Berlin", "Berlin has a population of 3.7 million people."),
    ("Rome", "Rome, founded on seven hills, has a population of 2.8 million."),
)


def answer(question: str, *texts: tuple[str, str], length: AnswerLength = "auto") -> str:
    sources = {n: FoundSource(n, title, f"https://example.org/{n}", text) for n, (title, text) in enumerate(texts, 1)}
    return write_answer(TurnInput(question, length=length, sources=sources), 4)


def test_the_rows_of_a_table_that_the_question_names_are_quoted_as_a_table() -> None:
    assert answer("How long are the Nile and the Yangtze?", RIVERS).splitlines() == [
        "| River | Length |",
        "| --- | --- |",
        "| Nile | 6,650 km[1] |",
        "| Yangtze | 6,300 km[1] |",
    ]


def test_one_row_is_quoted_like_a_sentence() -> None:
    told = answer("How long is the Nile?", RIVERS, length="short")
    assert told == "River: Nile; Length: 6,650 km; Continent: Africa[1]"


def test_figures_of_several_things_become_a_table_with_the_sentences() -> None:
    lines = answer("What are the populations of Paris, Berlin and Rome?", *CITIES).splitlines()
    assert lines[2:] == [
        "| Paris | 2.1 million | Paris has a population of 2.1 million[1]. |",
        "| Berlin | 3.7 million people | Berlin has a population of 3.7 million people[2]. |",
        "| Rome | 2.8 million | Rome, founded on seven hills, has a population of 2.8 million[3]. |",
    ]


def test_a_figure_that_may_be_the_wrong_one_makes_no_table() -> None:
    texts = [("中国", "2021年中国经济增长8.1%，其中工业增长9.6%。"), ("美国", "2021年美国经济增长5.7%。")]
    question = "2021年中国和美国经济分别增长了多少？"
    assert not answer(question, *texts).startswith("|")
    assert answer(question, *texts, length="table").splitlines()[2].startswith("| 中国 |  | 2021年中国经济增长8.1%，")


@pytest.mark.parametrize("length", ["short", "full", "list", "table"])
def test_no_length_cuts_a_sentence(length: AnswerLength) -> None:
    said = "The Tarn Bridge, which carries two lanes, was opened in June 1998 by the mayor of the town"
    text = f"{said}. The Tarn Bridge was opened after nine years. Its Tarn lanes are wide."
    told = answer("When was the Tarn Bridge opened?", ("Tarn Bridge", text), length=length)
    assert f"{said}[1]." in told and (length != "short" or told == f"{said}[1].")


def test_a_full_answer_says_more_than_a_short_one() -> None:
    text = (
        "The Tarn Bridge was opened in 1998. Workers had begun the Tarn Bridge in 1989, nine years before it was opened. "
        "In 2004 a flood took the old Tarn road away, so the opened bridge is the only way to the town."
    )
    counts = {
        length: answer("When was the Tarn Bridge opened?", ("Tarn", text), length=length).count("[1]")
        for length in ("short", "full")
    }
    assert counts == {"short": 1, "full": 3}


def test_a_list_prefers_what_names_someone_new() -> None:
    texts = [
        ("", "《远山》的主演是王小明和李丽。"),
        ("", "《远山》的主演王小明说，《远山》的主演都很努力。"),
        ("", "《远山》的主演还有赵刚和周芳。"),
    ]
    told = answer("《远山》的主演有哪些？", *texts).splitlines()
    assert "李丽" in "".join(told[:2]) and "赵刚" in "".join(told[:2])


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Rivers of Asia as a table", "table"), ("用表格比较长江和黄河", "table"),
        ("Explain TCP in one sentence", "short"), ("用一句话介绍溯源", "short"), ("详细介绍长城", "full"),
        ("List the moons of Mars", "list"), ("火星有哪些卫星？", "list"), ("When was it opened?", "auto"),
    ],
)  # fmt: skip
def test_the_question_may_ask_for_a_form(question: str, form: str) -> None:
    assert wanted_form(question, "auto") == form and wanted_form(question, "full") == "full"


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("北京、上海和广州的人口是多少？", ["北京", "上海", "广州"]),
        ("When were New York, Los Angeles, and Rome founded?", ["New York", "Los Angeles", "Rome"]),
        ("How far is it between Paris and Berlin?", [""]),
        ("中央机关及其直属机构招录多少人", [""]),
    ],
)
def test_the_things_that_a_question_is_about(question: str, names: list[str]) -> None:
    assert [part.name for part in split_parts(question)] == names


async def test_the_length_reaches_the_embedded_model() -> None:
    with DemoWeb() as web:
        async with web.client() as client:
            short, full = [
                (await client.ask("When was the Gull Point Lighthouse built?", length=length)).text
                for length in ("short", "full")
            ]
    assert short.count("\n") == 0 < full.count("\n")
