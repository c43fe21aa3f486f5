"""Which disagreements of sources a report tells."""

from __future__ import annotations

import pytest

from research.ledgers import ledger
from suyuan.citations.claims import Disagreement, Side
from suyuan.research.checking import SentenceChecker
from suyuan.research.disagreements import found_by_check
from suyuan.research.quoting import QuotingWriter

QUESTION = "How long is the Tern Bridge?"
TERN = ("Tern Bridge", "The Tern Bridge is 420 metres long. The bridge carries two lanes of traffic.")
OTHER = ("Tern Bridge facts", "The Tern Bridge is 440 metres long. It was opened in May.")
WREN = ("Wren Bridge", "The Wren Bridge is 310 metres long. The bridge carries trains only, and no cars.")


def test_a_page_about_another_thing_is_no_side() -> None:
    known = ledger(QUESTION, TERN, OTHER, WREN)
    sides = [Side("420 metres", (1,), 1), Side("440 metres", (2,), 1), Side("310 metres", (3,), 1)]
    sentence = "The Tern Bridge is 420 metres long."
    [told] = found_by_check(QUESTION, known, [(sentence, Disagreement(0, 30, tuple(sides)))])
    assert [side.says for side in told.sides] == ["420 metres", "440 metres"]
    assert told.sides[1].sentence == "The Tern Bridge is 440 metres long."
    first, *_, last = sides
    assert not found_by_check(QUESTION, known, [(sentence, Disagreement(0, 30, (first, last)))])


def test_every_page_that_says_so_is_of_its_side() -> None:
    third = (
        "A walk along the river",
        "Walkers cross it in five minutes. The Tern Bridge, built of oak, is 440 metres long.",
    )
    known = ledger(QUESTION, TERN, OTHER, third)
    quoted = QuotingWriter(known, SentenceChecker(known)).write(QUESTION, known.rows, 8)
    [told] = quoted.disagreements
    assert {side.says[:3]: side.ids for side in told.sides} == {"420": (1,), "440": (2, 3)}


FIRST = (
    "Prize of the river towns",
    "The 2018 river prize for poems was given to Olga Brandt, a writer from Marlow who had sent in forty pages.",
)
SECOND = (
    "Poems of the year",
    "Peter Hollis won the river prize for his poems on Saturday evening, and read two of them to the guests.",
)
YEARS_LATER = (
    "Poems of another year",
    "In 2021 Peter Hollis won the river prize for his poems on Saturday evening, and read two of them to the guests.",
)


def _sides(question: str, *pages: tuple[str, str]) -> list[set[str]]:
    known = ledger(question, *pages)
    quoted = QuotingWriter(known, SentenceChecker(known)).write(question, known.rows, 8)
    for told in quoted.disagreements:
        assert all(known.rows[id - 1].text.count(side.says) for side in told.sides for id in side.ids)
    return [{side.says for side in told.sides} for told in quoted.disagreements]


def test_a_page_that_only_comes_near_the_question_has_no_side() -> None:
    held = ("峰会", "第十届北方领导人峰会于9日至11日在云国首都墨西哥城举行。")
    opened = ("要闻", "北方领导人峰会9日在墨西哥城开幕，三国总统出席并合影。")
    died = ("新闻", "当地时间8月30日，前领导人戈尔曼在莫斯科去世，他的葬礼将于9月3日举行。")
    funeral = ("快讯", "领导人戈尔曼的葬礼在莫斯科举行，数千人到场告别，向公众开放。")
    assert _sides("2023北方领导人峰会在哪里举行", held, opened, died, funeral) == []


@pytest.mark.parametrize(
    ("question", "ours", "theirs"),
    [
        (
            "2021年美国经济增长了多少？",
            "2021年，美国经济持续增长，全年国内生产总值增长5.7%，是多年来最强劲的。",
            "2021年，我国经济增长8.1%，全年国内生产总值增长8.1%，经济增速名列前茅。",
        ),
        (
            "第七届海滨议会议员宣誓仪式的时间",
            "第七届海滨议会议员的宣誓仪式将在2022年1月3日上午11时举行。",
            "第七届海滨议会选举将于2021年12月19日举行，选出90名议员。",
        ),
    ],
)
def test_a_page_that_lacks_words_of_the_question_which_another_has_is_no_side(
    question: str, ours: str, theirs: str
) -> None:
    assert _sides(question, ("新闻", ours), ("要闻", theirs)) == []


def test_two_answers_in_sentences_that_have_little_in_common_are_sides() -> None:
    question = "Who won the 2018 river prize for poems?"
    assert _sides(question, FIRST, SECOND) == [{"Olga Brandt", "Peter Hollis"}]
    assert _sides(question, FIRST, YEARS_LATER) == []
