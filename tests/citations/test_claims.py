"""Cited sentences are compared with the texts of their sources."""

from __future__ import annotations

import time

import pytest
from benchmarks.claims import WICE, auc, evidence_f1, measured

from suyuan.citations.claims import Claim, check_claims, cited_sentences
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


def checked(text: str, evidence: dict[int, str]) -> tuple[Claim, ...]:
    """The claims of ``text``, with the markers that a scan of it finds."""
    return check_claims(text, find_markers(text), evidence)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("大桥的设计寿命为120年。[2]", "supported"),
        ("总投资约1269亿元人民币[1]。", "supported"),
        ("大桥于2018-10-24正式通车[2]。", "supported"),
        ("港珠澳大桥全长55公里[1]，于2018年10月24日正式通车[2]。", "supported"),
        ("大桥全长36公里。[1]", "not_found"),
        ("大桥于2018年10月25日正式通车[2]。", "not_found"),
        ("它由日本公司建造。[2]", "not_found"),
        ("该桥允许自行车通行[2]。", "weak"),
        ("大桥全长55公里[7]。", "not_found"),
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
        ("SearXNG was forked from Searx in 2018 [1].", "not_found"),
        ("SearXNG was forked from Whoogle in 2021 [1].", "weak"),
        ("Users are tracked [2].", "weak"),
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
    assert checked("", {}) == checked("[1]", {1: "x"}) == ()


def test_a_long_answer_is_checked_quickly() -> None:
    text = "".join(f"大桥的设计寿命为{n}年[1]。" for n in range(300))
    started = time.process_time()
    assert len(checked(text, {1: BRIDGE[2] * 50})) == 300
    assert time.process_time() - started < 5


@pytest.mark.skipif(not WICE.exists(), reason="the benchmark data is not available")
def test_claims_of_wikipedia_are_classified() -> None:
    results = measured(step=2)
    assert auc(results) > 0.72 and evidence_f1(results) > 0.6


def test_a_literal_quotation_is_supported_in_any_markup_and_script() -> None:
    source = (
        "用 Docker 部署 SearXNG 需要两条命令:先运行 `suyuan searxng init` 生成配置,再运行 `suyuan searxng up` 启动。"
    )
    said = "用 Docker 部署 SearXNG 需要两条命令:先运行 suyuan searxng init 生成配置,再运行 suyuan searxng up 启动[1]。"
    assert [claim.verdict for claim in checked(said, {1: source})] == ["supported"]
