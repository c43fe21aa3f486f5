"""Checking claims: how well our match tells supported claims from others, and finds their evidence, on WiCE (``shared/bench/ir-wice``).

A match of words is measured here, not an understanding: about three in four pairs of a supported and another claim come out in order.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from suyuan.citations.claims import SUPPORTED, Match, SourceText, Statement, check_claims, match
from suyuan.citations.markers import find_markers

from ._report import Target, table

WICE = Path(__file__).resolve().parents[2] / "shared" / "bench" / "ir-wice" / "claim_dev.jsonl"
_TITLE = "(meta data) TITLE:"
_ANSWER = (
    "The bridge is 55 km long and opened on October 24, 2018.[1] It cost about 126.9 billion yuan [1][2].\n\n"
    "- 大桥全长55公里,于2018年10月24日通车[2]。\n- The tunnel is not open to cyclists, and it lies 40 metres below the sea.[1]\n"
) * 4
_EVIDENCE = {
    1: "The Hong Kong–Zhuhai–Macau Bridge is a 55-kilometre bridge–tunnel system. It opened on 24 October 2018. Cyclists may not use it. "
    * 12,
    2: "港珠澳大桥全长55公里，总投资约1269亿元人民币，于2018年10月24日上午9时正式通车。大桥的设计使用寿命为120年。"
    * 12,
}


class Result(NamedTuple):
    """One claim of the set: whether its source supports it, what the match said, and the sentences that support it."""

    supported: bool
    found: Match
    gold: list[set[int]]


def run() -> list[Target]:
    """Print how well claims are told apart, and what that costs."""
    targets = [Target("claims, CPU ms for an answer of 16 sentences", cost_ms(), 10, unit=" ms")]
    if not WICE.exists():
        print("\nclaims: skipped, the benchmark data is not beside the project")
        return targets
    results = measured()
    reached = auc(results)
    rows = [
        ("AUC, supported against the rest", f"{reached:.3f}", ".698"),
        ("evidence F1", f"{evidence_f1(results):.3f}", ".535"),
        (
            "accuracy of “supported”",
            f"{accuracy(results):.3f}",
            f"{fmean(not result.supported for result in results):.3f}",
        ),
    ]
    table(f"claims: WiCE, {len(results)} claims", ("", "suyuan", "baseline"), rows)
    return [*targets, Target("claims, AUC on WiCE", reached, 0.75, at_least=True)]


def measured(step: int = 1) -> list[Result]:
    """Match every ``step``-th claim of the set with its page."""
    results = []
    for line in WICE.read_text(encoding="utf-8").splitlines()[::step]:
        row = json.loads(line)
        head, *sentences = row["evidence"]
        found = match(Statement(row["claim"]), SourceText("", head.removeprefix(_TITLE), sentences))
        results.append(
            Result(row["label"] == "supported", found, [set(gold) for gold in row["supporting_sentences"] if gold])
        )
    return results


def auc(results: Sequence[Result]) -> float:
    """The share of pairs of a supported and another claim in which the supported one scores higher."""
    good = [result.found.score for result in results if result.supported]
    rest = [result.found.score for result in results if not result.supported]
    return fmean((a > b) + (a == b) / 2 for a in good for b in rest)


def evidence_f1(results: Sequence[Result]) -> float:
    """The mean of F1 against the nearest set of supporting sentences; the title is sentence 0."""
    scores = []
    for result in results:
        chosen = {place + 1 for place in result.found.related}
        if result.gold:
            scores.append(max(2 * len(chosen & gold) / (len(chosen) + len(gold)) for gold in result.gold))
    return fmean(scores)


def accuracy(results: Sequence[Result]) -> float:
    """How often a claim is rightly called supported, or rightly not."""
    return fmean(
        (result.found.score >= SUPPORTED and not result.found.missing) == result.supported for result in results
    )


def cost_ms(rounds: int = 9) -> float:
    """The median CPU time for checking a usual answer."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        check_claims(_ANSWER, find_markers(_ANSWER), _EVIDENCE)
        times.append((time.process_time() - started) * 1000)
    return median(times)
