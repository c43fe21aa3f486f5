"""Where sources disagree, the embedded model shows both sides, and cites each only for what it says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import permutations

import pytest

from suyuan.embedded.answer_values import find_values
from suyuan.embedded.evidence import Evidence
from suyuan.embedded.quotes import pick_quotes
from suyuan.embedded.turn_input import FoundSource, TurnInput
from suyuan.embedded.writer import write_answer


def answer(question: str, *texts: str, titles: Sequence[str] = ()) -> str:
    named = dict(enumerate(titles, 1))
    sources = {n: FoundSource(n, named.get(n, ""), f"https://example.org/{n}", text) for n, text in enumerate(texts, 1)}
    return write_answer(TurnInput(question, sources=sources), 4)


APPLE, FACEBOOK = (f"The photo service Instagram was acquired by {name} in 2012." for name in ("Apple", "Facebook"))


def test_another_name_is_another_side_and_a_reprint_no_second_origin() -> None:
    assert answer("Who acquired Instagram?", APPLE, FACEBOOK, FACEBOOK).splitlines() == [
        "Sources disagree (Apple / Facebook):",
        "- The photo service Instagram was acquired by Apple in 2012[1].",
        "- The photo service Instagram was acquired by Facebook in 2012[2][3].",
    ]


def test_the_side_of_most_origins_comes_first() -> None:
    apple = f"{APPLE} Shares of many makers of phones rose after the news, and some fell again within a week."
    first = f"Many had expected it, and few were surprised when at last the papers were on the table. {FACEBOOK}"
    second = f"{FACEBOOK} Regulators of several countries had looked at the purchase for half a year before that."
    lines = answer("Who acquired Instagram?", apple, first, second).splitlines()
    assert lines[0] == "Sources disagree (Facebook / Apple):"
    assert lines[1].endswith("Facebook in 2012[2][3].") and lines[2].endswith("Apple in 2012[1].")


def test_the_same_in_chinese_figures() -> None:
    said = "第六届立法会共有{}个议席，经2016年9月4日的选举产生。".format
    assert answer("第六届立法会有多少个议席？", said(70), said(170), said(70)).splitlines() == [
        "来源说法不一（70、170）：",
        "- 第六届立法会共有70个议席，经2016年9月4日的选举产生[1][3]。",
        "- 第六届立法会共有170个议席，经2016年9月4日的选举产生[2]。",
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The tap water of the city is safe to drink.", "The tap water of the city is not safe to drink."),
        ("港珠澳大桥允许自行车通行。", "港珠澳大桥不允许自行车通行。"),
    ],
)
def test_a_denial_is_not_joined_with_what_it_denies(one: str, other: str) -> None:
    question = "Is the tap water of the city safe to drink?" if one.isascii() else "港珠澳大桥允许自行车通行吗？"
    lines = answer(question, one, other).splitlines()
    assert [line for line in lines if "[1]" in line and "[2]" in line] == []
    assert any("[1]" in line for line in lines) and any("[2]" in line for line in lines)


def test_sources_that_agree_in_other_words_are_still_joined() -> None:
    lines = answer(
        "港珠澳大桥何时通车？", "港珠澳大桥于2018年10月24日正式通车。", "2018年10月24日，港珠澳大桥正式通车。"
    ).splitlines()
    assert len(lines) == 1 and lines[0].endswith("[1][2]。") and "说法不一" not in lines[0]


def test_sentences_about_different_things_do_not_disagree() -> None:
    quotes = pick_quotes(
        "2023年春运发送旅客多少？",
        [source.evidence() for source in (
            FoundSource(1, "", "", "1月7日，全国铁路、公路、水路、民航共发送旅客3473.6万人次。"),
            FoundSource(2, "", "", "1月24日，全国铁路、公路、水路、民航共发送旅客2904.2万人次。"),
        )],
    )  # fmt: skip
    assert quotes and all(not quote.others for quote in quotes)


def test_sentences_that_answer_the_question_may_go_on_differently() -> None:
    one = "Norvane Labs acquired by Halberd Group"
    other = (
        "Norvane Labs was acquired by Osterly Systems, a paper has learned from two people who took part in the talks."
    )
    told = answer("Who acquired Norvane Labs?", one, other).splitlines()
    assert told[0].startswith("Sources disagree (") and len(told) == 3
    assert all(side in told[0] for side in ("Osterly Systems", "Halberd Group"))


def test_a_further_quote_is_not_taken_for_one_more_side() -> None:
    further = "Instagram was acquired, and the twelve people who acquired shares in it became rich overnight."
    lines = answer("Who acquired Instagram?", APPLE, FACEBOOK, further).splitlines()
    at = next(at for at, line in enumerate(lines) if "[3]" in line)
    assert lines[0].startswith("Sources disagree") and (at < 1 or lines[at - 2] == "The sources also say:")


SAY_RIVEL = (
    "The Glass Harbour is a film of 1998 directed by Anna Rivel, who also wrote it.",
    "Anna Rivel directed The Glass Harbour when she was thirty, and it made her famous.",
)
SAY_MONK = (
    "In an interview Peter Monk, who directed The Glass Harbour, spoke about the storm during the filming.",
    "The Glass Harbour, directed by Peter Monk, opened in March and ran for a year.",
)


def test_answers_in_sentences_that_are_built_differently_are_two_sides() -> None:
    lines = answer("Who directed The Glass Harbour?", *SAY_RIVEL, *SAY_MONK).splitlines()
    assert lines[0] in {
        f"Sources disagree ({one} / {other}):" for one, other in permutations(("Anna Rivel", "Peter Monk"))
    }
    for name, numbers in (("Anna Rivel", {"[1]", "[2]"}), ("Peter Monk", {"[3]", "[4]"})):
        line = next(line for line in lines[1:] if name in line)
        assert numbers & set(re.findall(r"\[\d\]", line)) and not set(re.findall(r"\[\d\]", line)) - numbers


def test_a_name_with_letters_beyond_ascii_is_one_value() -> None:
    found = find_values("It was won by Tadej Pogačar and by Émile Zola.", ("name",), "Who won it?")
    assert [value.text for value in found] == ["Tadej Pogačar", "Émile Zola"]


def test_where_the_newest_is_asked_for_it_stands_first() -> None:
    evidence = [
        Evidence(n, "", text, f"20{20 + n}-05-01") for n, text in enumerate((*SAY_RIVEL, *SAY_MONK), 1)
    ]  # The later ones say Monk.
    [first, *_] = pick_quotes("Who directed the latest The Glass Harbour?", evidence)
    assert first.says == "Peter Monk" and [other.says for other in first.others] == ["Anna Rivel"]
    assert first.date > first.others[0].date


@pytest.mark.parametrize(
    "others",
    [
        SAY_RIVEL,
        # Another part of a series, who it was before, and somebody else who had to do with it.
        tuple(text.replace("The Glass Harbour", "The Glass Harbour 2") for text in SAY_MONK),
        tuple(text.replace("Peter Monk", "the former director Peter Monk") for text in SAY_MONK),
        ("Critics liked The Glass Harbour, and Peter Monk wrote that no other film of the year came near it.",),
        ("As Peter Monk says in his book about the cinema, few films are directed as well as The Glass Harbour.",),
        (f"{SAY_RIVEL[0]} Peter Monk, who directed The Quiet Road, played a small part.",),
    ],
)
def test_no_side_is_made_of_what_answers_something_else(others: tuple[str, ...]) -> None:
    assert "disagree" not in answer("Who directed The Glass Harbour?", *SAY_RIVEL, *others)


@pytest.mark.parametrize(
    ("question", "own", "other"),
    [
        (
            "How long is the Heron Bridge?",
            ("Heron Bridge", "The Heron Bridge was opened in 1998. It is 210 metres long and has one lane."),
            ("Curlew Bridge", "The Curlew Bridge was opened in June. The bridge is 640 metres long and has two lanes."),
        ),
        (
            "How long is the Heron Bridge?",
            ("Heron Bridge", "The bridge is 210 metres long and has one lane for cars."),
            ("Curlew Bridge", "The bridge is 640 metres long and has one lane for cars."),
        ),
        (
            "青石大桥有多长？",
            ("青石大桥", "青石大桥于1996年通车。大桥全长1.1公里。"),
            ("白沙大桥", "白沙大桥于今年通车。大桥全长2.6公里。"),
        ),
        (
            "Who was the last keeper of the Stone Head Lighthouse?",
            ("Stone Head", "The last keeper of the Stone Head Lighthouse was Agnes Ford, who left in 1996."),
            (
                "Lights",
                "Paul Reed was the last keeper of the Long Point Lighthouse, north of Stone Head. That lighthouse is dark.",
            ),
        ),
        (
            "青石大桥有多长？",
            ("青石大桥简介", "青石大桥位于市区北郊，全长1.1公里，1996年通车。"),
            ("白沙大桥今日通车", "今天上午，白沙大桥正式通车。大桥全长2.6公里，总造价18.6亿元。"),
        ),
        (
            "2026年松溪马拉松的男子冠军是谁？",
            ("松溪马拉松", "2026年松溪马拉松的男子冠军是高建国，女子冠军是沈小红。"),
            ("柳城马拉松", "2026年柳城马拉松的男子冠军是秦明，成绩为2小时9分。"),
        ),
    ],
)
def test_what_is_said_of_another_thing_of_the_kind_is_neither_a_side_nor_quoted(
    question: str, own: tuple[str, str], other: tuple[str, str]
) -> None:
    titles, texts = zip(own, other, strict=True)
    told = answer(question, *texts, titles=titles)
    assert "[1]" in told and "[2]" not in told and "disagree" not in told and "说法不一" not in told


def test_the_subject_of_a_side_may_stand_in_the_sentence_before() -> None:
    lines = answer(
        "How tall is the Stone Head Lighthouse?",
        "The Stone Head Lighthouse stands at the harbour. It was built in 1862 by Ada Crane and is 41 metres tall.",
        "Eleven lights are still in use. The Stone Head Lighthouse is 38 metres tall and shows two white flashes.",
        titles=("Stone Head Lighthouse", "Stone Head – lights of the coast"),
    ).splitlines()
    assert lines[0] == "Sources disagree (41 metres / 38 metres):"
    assert "41 metres tall[1]" in lines[1] and "38 metres" in lines[2] and "[2]" in lines[2]


def test_each_side_is_told_once_in_a_sentence_with_all_its_sources() -> None:
    report = (
        "# Quern Labs acquired by Ridge Group\n\nQuern Labs, the maker of pens, was acquired by Ridge Group on Friday."
    )
    other = "Quern Labs was acquired by Ostrel Systems, a paper has learned from two people who took part in the talks."
    assert answer("Who acquired Quern?", report, f"{report} Text: an agency.", other).splitlines() == [
        "Sources disagree (Ridge Group / Ostrel Systems):",
        "- Quern Labs, the maker of pens, was acquired by Ridge Group on Friday[1][2].",
        "- Quern Labs was acquired by Ostrel Systems, a paper has learned from two people who took part in the talks[3].",
    ]


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        # A denial where a figure is asked for; a price that the newer source knows; the lines of a timetable.
        (
            "When did the Heron Bridge open?",
            ("The Heron Bridge was opened on 14 June 2026.", "The Heron Bridge will not open this year."),
        ),
        (
            "柳城地铁的起步价是多少？",
            ("柳城地铁的起步价为2元，可乘坐6公里。", "柳城地铁的起步价为3元，可乘坐8公里。此前的起步价2元没有变过。"),
        ),
        (
            "柳城地铁1号线末班车是几点？",
            (
                "| 线路 | 首班车 | 末班车 |\n|---|---|---|\n| 1号线 | 06:00 | 23:10 |\n| 2号线 | 06:10 | 22:50 |\n柳城地铁时间表。",
                "| 线路 | 首班车 | 末班车 |\n|---|---|---|\n| 2号线 | 06:10 | 22:50 |\n| 3号线 | 06:20 | 23:40 |\n柳城地铁时间表。",
            ),
        ),
        # A headline whose words are all capitalised, and another number of the same sentence.
        (
            "Who is the new CEO of Heron Books?",
            (
                "The new CEO of Heron Books is Anna Rivel, who comes from a printer.",
                "New CEO Of Heron Books Says Readers Want Large Print Again",
            ),
        ),
        (
            "2021年城镇新增就业了多少人？",
            ("2021年城镇新增就业1269万人，困难人员就业183万人。", "2021年城镇新增就业1269万人，比上年增加83万人。"),
        ),
    ],
)
def test_what_does_not_answer_the_question_is_no_disagreement(question: str, texts: tuple[str, str]) -> None:
    told = answer(question, *texts)
    assert "[1]" in told and "disagree" not in told and "说法不一" not in told
