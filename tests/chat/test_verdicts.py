"""The check of an answer in words: the same sentences on the page, in the terminal and in exports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from suyuan.chat.events import Answer, ClaimCheck
from suyuan.chat.verdicts import check_lines, checks, counts, disagreements, verdict_text
from suyuan.citations.claims import Disagreement, Side
from suyuan.citations.registry import Source

SOURCES = tuple(
    Source(n, f"Page {n}", f"https://site{n}.example/", published_at=f"2012-04-0{n}T10:00:00") for n in (1, 2, 3)
)
ANSWERED = Answer(
    "Apple bought it [1][2].",
    "",
    "chat",
    "m",
    "en",
    SOURCES,
    cited=(1, 2),
    claims=(
        ClaimCheck(0, 23, 1, "supported", "page", "Apple bought it."),
        ClaimCheck(0, 23, 2, "contradicted", "snippet", "Facebook bought it.", "", "Apple", "Facebook"),
    ),
    disagreements=(Disagreement(0, 23, (Side("Apple", (1,)), Side("Facebook", (2, 3), 2))),),
)
ANSWER = ANSWERED.as_dict()


def test_sides_that_are_told_in_two_sentences_are_one_disagreement() -> None:
    apple, facebook = Side("Apple", (1,)), Side("Facebook", (2,))
    twice = (Disagreement(0, 23, (apple, facebook)), Disagreement(24, 47, (facebook, apple)))
    assert disagreements(replace(ANSWERED, disagreements=twice).as_dict(), "en") == [
        "Sources disagree: Apple [1] (2012-04-01); Facebook [2] (2012-04-02)"
    ]


def test_verdicts_and_disagreements_in_words() -> None:
    assert counts(ANSWER, "en") == [("supported", "✓ 1 supported by the page"), ("contradicted", "≠ 1 contradicted")]
    assert check_lines(ANSWER, "en") == [
        "[1] ✓ Supported by the page — Apple bought it [1][2].",
        "[2] ≠ Contradicted: the source says “Facebook” — Apple bought it [1][2].",
        "Sources disagree: Facebook [2, 3] (2012-04-02, 2012-04-03); Apple [1] (2012-04-01)",
    ]
    assert disagreements(ANSWER, "zh") == [
        "来源说法不一：Facebook [2, 3] （2012-04-02，2012-04-03）；Apple [1] （2012-04-01）"
    ]


@pytest.mark.parametrize(
    ("verdict", "basis", "text"),
    [
        ("supported", "snippet", "✓ Supported by the snippet"),
        ("supported", "", "✓ Supported by the source"),
        ("weak", "page", "~ Partly supported"),
        ("not_found", "page", "✗ Not found in the page"),
        ("unread", "snippet", "? Page not read"),
        ("unread", "", "? Page not read"),
    ],
)
def test_a_verdict_names_what_was_compared(verdict: str, basis: str, text: str) -> None:
    assert verdict_text({"verdict": verdict, "basis": basis}, "en") == text


def test_an_answer_that_was_stored_earlier_is_understood() -> None:
    old: dict[str, Any] = {"text": "A [1][2].", "claims": [
        {"start": 0, "end": 9, "numbers": [1, 2], "verdict": "not_found", "quote": "", "link": ""}
    ]}  # fmt: skip
    assert [(check["number"], check["verdict"]) for check in checks(old)] == [(1, "not_found"), (2, "not_found")]
    assert counts(old, "en") == [("not_found", "✗ 2 not found in the source")]
    assert checks({}) == [] and check_lines({}, "zh") == []


def test_a_citation_has_the_weakest_verdict_of_its_own_number() -> None:
    answer = Answer("", "", "chat", "m", "en", SOURCES, cited=(1, 2), claims=(
        ClaimCheck(0, 1, 1, "supported", "page"), ClaimCheck(0, 1, 2, "unread"), ClaimCheck(2, 3, 2, "contradicted", "page", says="x"),
    ))  # fmt: skip
    assert [(each.verdict, each.basis, each.says) for each in answer.citations] == [
        ("supported", "page", ""), ("contradicted", "page", "x"),
    ]  # fmt: skip
