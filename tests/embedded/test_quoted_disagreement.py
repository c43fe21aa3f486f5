"""Where sources disagree, the embedded model shows both sides, and cites each only for what it says."""

from __future__ import annotations

import re
from itertools import permutations

import pytest

from suyuan.embedded.evidence import Evidence
from suyuan.embedded.quotes import pick_quotes
from suyuan.embedded.turn_input import FoundSource, TurnInput
from suyuan.embedded.writer import write_answer


def answer(question: str, *texts: str) -> str:
    sources = {n: FoundSource(n, "", f"https://example.org/{n}", text) for n, text in enumerate(texts, 1)}
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
