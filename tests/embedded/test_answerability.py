"""Whether the sources answer, come near, or do not speak of it: the three outcomes, and the weights behind them."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest
from benchmarks import answers

from suyuan.embedded.answerability import outcome, probability, sentence_scores, source_features, weights
from suyuan.embedded.evidence import Evidence, find_candidates
from suyuan.embedded.quotes import find_quotes
from suyuan.embedded.sentence_features import Asked, SentenceFeatures
from suyuan.text.shingles import is_reprint

BRIDGE = (
    "Tarn Bridge",
    "Tarn Bridge is a road bridge over the river Tarn. It was opened in June 1998. The bridge carries two lanes.",
)


def features(question: str, *texts: tuple[str, str]) -> SentenceFeatures:
    evidence = [Evidence(number, title, text) for number, (title, text) in enumerate(texts, 1)]
    return SentenceFeatures(Asked.of(question), [each for source in evidence for each in find_candidates(source)])


def test_every_feature_has_a_weight_and_every_weight_a_feature() -> None:
    seen = features("When was Tarn Bridge opened?", BRIDGE)
    scores = sentence_scores(seen)
    halves = json.loads((Path(answers.__file__).parent / "answer_weights.json").read_text("utf-8"))
    for learned in (weights(), *halves):
        assert set(learned["sentence"]) == {"", *seen.row(0)}
        assert set(learned["sources"]) == {"", *source_features(seen, scores)}
    assert len((files("suyuan.embedded") / "weights.json").read_bytes()) < 4000


def test_what_is_said_is_more_probable_than_what_is_not() -> None:
    said, unsaid = (
        features(question, BRIDGE) for question in ("When was Tarn Bridge opened?", "Who paid for the toll?")
    )
    chances = [probability(each, sentence_scores(each)) for each in (said, unsaid)]
    assert chances[0] > 0.5 > 0.3 > chances[1] and outcome(said, sentence_scores(said)) == "answer"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When was Tarn Bridge opened?", "answer"),
        ("How heavy are the cars that may use the bridge?", "near"),
        ("What is the boiling point of tungsten carbide?", "none"),
    ],
)
def test_three_outcomes(question: str, expected: str) -> None:
    found = find_quotes(question, [Evidence(1, *BRIDGE)])
    assert found.outcome == expected and bool(found.quotes) == (expected != "none")


def test_where_a_time_is_asked_for_and_none_is_there_the_sources_only_come_near() -> None:
    length, opened = "港珠澳大桥全长五十五千米。", "港珠澳大桥于2018年10月24日通车。"
    said = [find_quotes("港珠澳大桥何时通车？", [Evidence(1, "港珠澳大桥", text)]) for text in (length, opened)]
    assert [found.outcome for found in said] == ["near", "answer"]


def test_a_reprint_is_no_second_source_that_agrees() -> None:
    one = ("", "The photo service Instagram was acquired by Apple in 2012. Many had expected it for a long time.")
    other = ("", "The photo service Instagram was acquired by Facebook in 2012. Few were told before the evening news.")
    single, twice = (features("Who acquired Instagram?", one, *others) for others in ([other], [other, other]))
    assert [single.row(at)["shared"] for at in range(4)] == [twice.row(at)["shared"] for at in range(4)]


def test_a_reprint_with_another_figure_is_one_more_statement() -> None:
    one = (
        "The bridge over the bay is 55 kilometres long and was opened to all traffic in October 2018 by the president."
    )
    other = one.replace("55", "49")
    assert is_reprint(one, other), "it has the same origin"
    found = features("How long is the bridge over the bay?", ("", one), ("", other))
    assert found.row(0)["shared"] > 0


def test_a_part_of_a_question_is_answered_by_what_is_about_that_part() -> None:
    sources = [
        Evidence(1, "", "2021年中国经济增长8.1%，增速居世界前列，这是十年来最快的增长。"),
        Evidence(2, "", "2021年中国经济比上年增长8.1%，总量稳居世界第二，增长强劲。"),
        Evidence(3, "", "美国商务部的数据显示，去年全年经济增长5.7%。"),
    ]
    told = "".join(quote.text for quote in find_quotes("2021年中国和美国经济分别增长了多少？", sources, most=2).quotes)
    assert "8.1%" in told and "5.7%" in told


def test_what_is_said_of_the_other_thing_does_not_crowd_out_a_part() -> None:
    sources = [
        Evidence(1, "", "北港马拉松男子冠军是高建国。北港马拉松男子比赛由高建国夺得冠军，成绩为2小时9分。"),
        Evidence(2, "", "高建国第三次夺得北港马拉松男子冠军。北港马拉松男子冠军高建国来自山区，是一名教师。"),
        Evidence(3, "", "沈小红跑完全程，是北港马拉松最快的女选手，女子组的奖牌由市长颁发给她。"),
    ]
    told = find_quotes("北港马拉松男子和女子冠军分别是谁？", sources).quotes
    assert any("高建国" in quote.text for quote in told) and any("沈小红" in quote.text for quote in told)


@pytest.mark.skipif(not answers.BENCH.exists(), reason="the benchmark data is not beside the project")
def test_most_questions_without_an_answer_are_refused() -> None:
    ask = answers.unseen(answers.answerer())
    said = {
        kind: [answers.ask_clapnq(case, ask)[0].startswith("No sentence") for case in answers.clapnq_cases(kind)]
        for kind in ("answerable", "unanswerable")
    }
    assert sum(said["answerable"]) <= 0.16 * len(said["answerable"])
    assert sum(said["unanswerable"]) >= 0.58 * len(said["unanswerable"])
