"""Cited sentences are compared with the texts of their sources."""

from __future__ import annotations

import time

import pytest
from benchmarks.claims import PAIRS, WICE, auc_of, disagreeing, evidence_f1, measured, pairs, shares

from suyuan.citations.cited_sentences import cited_sentences
from suyuan.citations.claims import Claim, ClaimChecker, Disagreement, Side, SourceEvidence
from suyuan.citations.markers import find_markers

BRIDGE = {
    1: "港珠澳大桥全长55公里，总投资约1269亿元人民币。",
    2: "港珠澳大桥于2018年10月24日上午9时正式通车。大桥的设计使用寿命为120年。该桥不允许自行车通行。",
}
SEARX = {
    1: "SearXNG was forked from Searx in 2021. The fork was made to improve the user experience and fix bugs.",
    2: "SearXNG is a free internet metasearch engine which aggregates results from up to 247 search services. "
    "Users are neither tracked nor profiled. It had about 3,500,000 visitors, 12 percent of them in Asia.",
}


def checked(text: str, pages: dict[int, str]) -> tuple[Claim, ...]:
    """The claims of ``text``, with the markers that a scan of it finds, and pages that were read."""
    evidence = {number: SourceEvidence(page=page) for number, page in pages.items()}
    return ClaimChecker(evidence).check(text, find_markers(text))[0]


def disagreements(text: str, pages: dict[int, str]) -> tuple[Disagreement, ...]:
    evidence = {number: SourceEvidence(snippet=page) for number, page in pages.items()}
    return ClaimChecker(evidence).check(text, find_markers(text))[1]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("大桥的设计寿命为120年。[2]", "supported"),
        ("总投资约1269亿元人民币[1]。", "supported"),
        ("大桥于2018-10-24正式通车[2]。", "supported"),
        ("大桥全长36公里。[1]", "contradicted"),
        ("大桥于2018年10月25日正式通车[2]。", "contradicted"),
        ("它由日本公司建造。[2]", "not_found"),
        ("该桥允许自行车通行[2]。", "contradicted"),
        # A verb that is nowhere in the source, where all else is there.
        ("大桥的设计使用寿命超越120年。[2]", "weak"),
    ],
)
def test_chinese_claims(text: str, verdict: str) -> None:
    assert [claim.verdict for claim in checked(text, BRIDGE)] == [verdict]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("SearXNG is a free metasearch engine that combines results from up to 247 search services.[2]", "supported"),
        ("SearXNG had about 3.5 million visitors [2].", "supported"),
        ("12% of the visitors were in Asia [2].", "supported"),
        ("SearXNG was forked from Searx in 2018 [1].", "contradicted"),
        ("SearXNG was forked from Whoogle in 2021 [1].", "contradicted"),
        ("Users are tracked and profiled [2].", "contradicted"),
        ("It had over 3 million visitors [2].", "supported"),
        ("Its logo was drawn by a student from Lisbon [2].", "not_found"),
    ],
)
def test_english_claims(text: str, verdict: str) -> None:
    assert [claim.verdict for claim in checked(text, SEARX)] == [verdict]


def test_only_figures_and_names_are_compared_across_scripts() -> None:
    verdicts = [
        c.verdict for c in checked("It opened on October 24, 2018 [2].\nIt is 36 km long [1].\nIt is long [1].", BRIDGE)
    ]
    assert verdicts == ["weak", "not_found", "weak"]


def test_a_claim_has_its_position_and_its_quote() -> None:
    text = (
        "前言。\n\n- 大桥的**设计寿命**为120年。[2] 总投资约1269亿元人民币[1]。后记。\n\n"
        "```\n[1]\n```\n[1] 全长55公里。"
    )
    claims = checked(text, BRIDGE)
    assert [text[c.start : c.end] for c in claims] == [
        "大桥的**设计寿命**为120年。[2]",
        "总投资约1269亿元人民币[1]。",
        "[1] 全长55公里。",
    ]
    assert [(c.number, c.quote) for c in claims] == [(2, "大桥的设计使用寿命为120年。"), (1, BRIDGE[1]), (1, BRIDGE[1])]


def test_markers_belong_to_their_sentence() -> None:
    text = "One is first.[1] Two is second [2]. Three. [3][4]\nNone here.\n| a | Rome[5] |\n[6]"
    assert [(s.body, s.numbers) for s in cited_sentences(text, find_markers(text))] == [
        ("One is first.", (1,)), ("Two is second .", (2,)), ("Three.", (3, 4)), ("a Rome", (5,)),
    ]  # fmt: skip
    assert checked("", {}) == checked("[1]", {1: "x"}) == checked("It is 55 km long [7].", {1: "x"}) == ()


def test_each_number_stands_for_the_text_before_it() -> None:
    text = "The bridge is long [1], the tunnel [2][3] is short, and the ferry [4] is slow.\n[5] Water is wet."
    first, second = cited_sentences(text, find_markers(text))
    assert dict(zip(first.numbers, first.parts, strict=True)) == {
        1: "The bridge is long", 2: ", the tunnel", 3: ", the tunnel", 4: "is short, and the ferry is slow.",
    }  # fmt: skip
    assert (second.numbers, second.parts) == ((5,), ("Water is wet.",))
    twice = cited_sentences("Rome [1] is old [2] and large [1].", find_markers("Rome [1] is old [2] and large [1]."))
    assert twice[0].parts == ("Rome and large .", "is old")


def test_each_number_is_checked_by_itself() -> None:
    pages = {
        1: "Instagram was acquired by Apple in 2012.",
        2: "Instagram was acquired by Facebook in 2012.",
        3: "Cats purr.",
    }
    claims = checked("Instagram was acquired by Apple in 2012 [1][2][3].", pages)
    assert [(claim.number, claim.verdict) for claim in claims] == [
        (1, "supported"),
        (2, "contradicted"),
        (3, "not_found"),
    ]
    conflict = claims[1].conflict
    assert conflict and (conflict.ours.text, conflict.theirs.text) == ("Apple", "Facebook")
    assert claims[0].conflict is None and claims[1].quote == pages[2]
    parts = checked("港珠澳大桥全长55公里[1]，于2018年10月24日正式通车[2]。", BRIDGE)
    assert [claim.verdict for claim in parts] == ["supported", "supported"]


def test_a_verdict_says_what_was_compared() -> None:
    evidence = {
        1: SourceEvidence("Bridge", "The bridge is 55 km long.", "It opened in 2018. The toll is 150 yuan."),
        2: SourceEvidence("Bridge", "The bridge is 55 km long."),
        3: SourceEvidence("Bridge"),
    }
    text = "The bridge is 55 km long [1][2][3].\nThe toll is 150 yuan [1][2].\nThe bridge is 36 km long [2].\nCats purr [1]."
    found = ClaimChecker(evidence).check(text, find_markers(text))[0]
    assert [(claim.number, claim.verdict, claim.basis) for claim in found] == [
        (1, "supported", "snippet"), (2, "supported", "snippet"), (3, "unread", ""),
        (1, "supported", "page"), (2, "unread", "snippet"), (2, "contradicted", "snippet"), (1, "not_found", "page"),
    ]  # fmt: skip


def test_sources_that_disagree_are_named_whether_cited_or_not() -> None:
    news = "In 2012 Instagram was acquired by {} for 1 billion dollars.".format
    pages = {1: news("Apple"), 2: news("Facebook"), 3: news("Facebook") + " It was big news.", 4: "Cats purr."}
    (found,) = disagreements("Instagram was acquired by Apple in 2012 for 1 billion dollars [1].", pages)
    assert found.sides == (Side("Apple", (1,), 1), Side("Facebook", (2, 3), 1)), "a reprint is no second origin"
    assert disagreements("Instagram was acquired by Apple in 2012 for 1 billion dollars [1].", {1: pages[1]}) == ()
    cited = disagreements("In 2012 Instagram was acquired by Facebook for 1 billion dollars [1][2].", pages)
    assert [side.numbers for side in cited[0].sides] == [(2,), (1,)]


def test_a_long_answer_is_checked_quickly() -> None:
    text = "".join(f"大桥的设计寿命为{n}年[1]。" for n in range(300))
    started = time.process_time()
    assert len(checked(text, {1: BRIDGE[2] * 50})) == 300
    assert time.process_time() - started < 5


@pytest.mark.skipif(not WICE.exists(), reason="the benchmark data is not available")
def test_claims_of_wikipedia_are_classified() -> None:
    results = measured(step=2)
    assert auc_of(results) > 0.72 and evidence_f1(results) > 0.6


def test_a_literal_quotation_is_supported_in_any_markup_and_script() -> None:
    source = (
        "用 Docker 部署 SearXNG 需要两条命令:先运行 `suyuan searxng init` 生成配置,再运行 `suyuan searxng up` 启动。"
    )
    said = "用 Docker 部署 SearXNG 需要两条命令:先运行 suyuan searxng init 生成配置,再运行 suyuan searxng up 启动[1]。"
    assert [claim.verdict for claim in checked(said, {1: source})] == ["supported"]


@pytest.mark.skipif(not PAIRS.exists(), reason="the benchmark data is not available")
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_changed_name_figure_negation_or_direction_is_seen(lang: str) -> None:
    changed = shares(pairs(f"mutated-{lang}")[::3])
    assert changed.contradicted_supported < 0.07 and changed.supported > 0.92 and changed.false_alarms < 0.05
    names = shares(pairs(f"rgb-pairs-{lang}")[::3])
    assert names.contradicted_supported < 0.03 and names.contradicted > 0.85


@pytest.mark.skipif(not PAIRS.exists(), reason="the benchmark data is not available")
@pytest.mark.parametrize(
    "name", ["fever-symmetric", "fool-me-twice", "vitaminc-sample", "conflictqa-strategy", "ocnli"]
)
def test_what_people_wrote_is_rarely_called_contradicted_without_reason(name: str) -> None:
    assert shares(pairs(name)).false_alarms < 0.07


@pytest.mark.skipif(not PAIRS.exists(), reason="the benchmark data is not available")
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_embedded_model_cites_no_source_that_says_otherwise(lang: str) -> None:
    found = disagreeing(lang, half=1)
    assert found.wrong_citations < 0.03 and found.right > 0.8 and found.both > 0.6


def test_a_title_that_is_only_listed_is_no_claim() -> None:
    evidence = {1: SourceEvidence("Osk Bridge [opens] – Gazette", page="The Osk Bridge opens in May. Gazette.")}
    listed, said = "The nearest sources:\n\n- Osk Bridge  opens  – Gazette [1]", "The Osk Bridge opens in May[1]."
    assert [len(ClaimChecker(evidence).check(text, find_markers(text))[0]) for text in (listed, said)] == [0, 1]
