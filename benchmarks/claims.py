"""Checking claims: are supported claims told from contradicted ones, and are sources that disagree shown as such?

``shared/bench/claims`` has pairs of a claim and its evidence; WiCE has claims of Wikipedia with the pages that they cite; the
facts of RGB have documents that say something wrong beside those that are right. The rules and their few constants were made by
looking at seven eighths of the pairs and at one half of the facts. What was not looked at is printed first. Two more sets are made here
(``_exchanged.py``), since the others have few Chinese names.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

from suyuan.citations.claims import ClaimChecker, SourceEvidence, verdict_of
from suyuan.citations.markers import find_markers
from suyuan.citations.matching import SUPPORTED, Match, SourceText, Statement, match
from suyuan.text.conflicts import conflicts

from ._exchanged import exchanged, replaced, same_facts
from ._report import Target, table
from .answers import answerer, holds

BENCH = Path(__file__).resolve().parents[2] / "shared" / "bench"
WICE = BENCH / "ir-wice" / "claim_dev.jsonl"
PAIRS = BENCH / "claims"
FACTS = BENCH / "ir-rgb"
CMRC = BENCH / "ir-cmrc2018" / "cmrc2018_trial.json"
_TITLE = "(meta data) TITLE:"
_MARK = re.compile(r"\[(\d+)\]")
_VARIANT = re.compile(r"(\.\d+)?-[cs]\d*$")
_ANSWER = (
    "The bridge is 55 km long and opened on October 24, 2018.[1] It cost about 126.9 billion yuan [1][2].\n\n"
    "- 大桥全长55公里,于2018年10月24日通车[2]。\n- The tunnel is not open to cyclists, and it lies 40 metres below the sea.[1]\n"
) * 4
_EVIDENCE = {
    1: SourceEvidence(
        page="The Hong Kong–Zhuhai–Macau Bridge is a 55-kilometre bridge–tunnel system. It opened on 24 October 2018. "
        "Cyclists may not use it. " * 12
    ),
    2: SourceEvidence(
        page="港珠澳大桥全长55公里，总投资约1269亿元人民币，于2018年10月24日上午9时正式通车。大桥的设计使用寿命为120年。"
        * 12
    ),
}


class Result(NamedTuple):
    """One claim of WiCE: whether its source supports it, what the match said, and the sentences that support it."""

    supported: bool
    found: Match
    gold: list[set[int]]


class Shares(NamedTuple):
    """How the pairs of a set came out."""

    size: int
    auc: float
    contradicted_supported: float
    contradicted: float
    supported: float
    false_alarms: float


class Facts(NamedTuple):
    """What the replies are worth where two of five documents say something wrong."""

    size: int
    wrong_citations: float
    """Of the citations on lines with an answer: those that lead to a document that says otherwise."""
    right: float
    both: float
    milliseconds: list[float]


def run() -> list[Target]:
    """Print how well claims are told apart, how disagreement is shown, and what that costs."""
    targets = [Target("claims, CPU ms for an answer of 16 sentences", cost_ms(), 25, unit=" ms")]
    if not WICE.exists() or not PAIRS.exists():
        print("\nclaims: skipped, the benchmark data is not beside the project")
        return targets
    for title, chosen in (("not looked at while building", is_untouched), ("all public pairs", lambda row: True)):
        rows = [_row(name, shares(pairs(name, chosen)), shares(pairs(name, chosen), by_words)) for name in sets()]
        table(f"claims: pairs, {title}; in brackets: by the share of words alone", _COLUMNS, rows)
    targets += _pair_targets()
    targets += _exchanged_targets()
    targets += _fact_targets()
    results = measured()
    reached = auc_of(results)
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
    return [*targets, Target("claims, AUC on WiCE", reached, 0.78, at_least=True)]


# --- pairs of claim and evidence -------------------------------------------------------------------------------------
_COLUMNS = ("set", "pairs", "AUC", "contradicted: supported", "contradicted", "supported: supported", "contradicted ")


def sets() -> list[str]:
    """The names of the sets."""
    return sorted(path.parent.name for path in PAIRS.glob("*/rows.jsonl"))


def pairs(name: str, chosen: Callable[[dict[str, Any]], bool] = lambda row: True) -> list[dict[str, Any]]:
    """The pairs of a set."""
    rows = map(json.loads, (PAIRS / name / "rows.jsonl").read_text("utf-8").splitlines())
    return [row for row in rows if chosen(row)]


def is_untouched(row: dict[str, Any]) -> bool:
    """Whether a pair was not looked at; those of one claim, page or article go together."""
    return hashlib.sha256(_VARIANT.sub("", row["id"]).encode()).digest()[0] % 8 == 7


def by_match(claim: str, evidence: str) -> tuple[str, float]:
    """The verdict on a claim, and the score."""
    found = match(Statement(claim), SourceText(evidence))
    return verdict_of(found), found.score


def by_words(claim: str, evidence: str) -> tuple[str, float]:
    """The baseline: the share of the claim's words that the best sentence has."""
    terms = Statement(claim).terms
    share = max((len(terms & own) / len(terms) for own in SourceText(evidence).terms), default=0.0) if terms else 0.0
    return "supported" if share >= SUPPORTED else "not_found", share


def shares(rows: Sequence[dict[str, Any]], check: Callable[[str, str], tuple[str, float]] = by_match) -> Shares:
    """Check every pair."""
    seen: Counter[tuple[str, str]] = Counter()
    scores: dict[bool, list[float]] = {True: [], False: []}
    for row in rows:
        verdict, score = check(row["claim"], row["evidence"])
        seen[row["label"], verdict] += 1
        scores[row["label"] == "supported"].append(score)
    of = Counter(row["label"] for row in rows)

    def share(label: str, verdict: str) -> float:
        return seen[label, verdict] / max(1, of[label])

    return Shares(
        len(rows),
        auc(scores[True], scores[False]),
        share("contradicted", "supported"),
        share("contradicted", "contradicted"),
        share("supported", "supported"),
        share("supported", "contradicted"),
    )


def _row(name: str, ours: Shares, words: Shares) -> tuple[str, ...]:
    shown = [f"{mine:.3f} ({theirs:.3f})" for mine, theirs in zip(ours[1:5], words[1:5], strict=True)]
    return (name, str(ours.size), *shown, f"{ours.false_alarms:.3f}")


def _pair_targets() -> list[Target]:
    found = {name: shares(pairs(name)) for name in sets()}
    written = ("fever-symmetric", "fool-me-twice", "vitaminc-sample", "conflictqa-strategy", "ocnli", "uhgeval-news")
    rgb = [found[f"rgb-pairs-{lang}"] for lang in ("zh", "en")]
    mutated = [found[f"mutated-{lang}"] for lang in ("zh", "en")]
    return [
        Target("claims, RGB: contradicted called supported", max(each.contradicted_supported for each in rgb), 0.03),
        Target("claims, RGB: called contradicted", min(each.contradicted for each in rgb), 0.90, at_least=True),
        Target("claims, mutated: called supported", max(each.contradicted_supported for each in mutated), 0.07),
        Target("claims, mutated: supported recognised", min(each.supported for each in mutated), 0.92, at_least=True),
        Target("claims, cfever: called supported", found["cfever-pairs"].contradicted_supported, 0.12),
        Target("claims, cfever: supported recognised", found["cfever-pairs"].supported, 0.90, at_least=True),
        Target("claims, false alarms, mutated", max(each.false_alarms for each in mutated), 0.05),
        Target("claims, false alarms, written by people", max(found[name].false_alarms for name in written), 0.07),
        Target("claims, AUC on fever-symmetric", found["fever-symmetric"].auc, 0.77, at_least=True),
        Target("claims, AUC on conflictqa", found["conflictqa-strategy"].auc, 0.73, at_least=True),
    ]


def _exchanged_targets() -> list[Target]:
    """Answers that were exchanged, and sentences with the same right answer."""
    rows, found = [], {}
    for title, half in (("not looked at", 1), ("looked at", 0)):
        found[half] = shares(exchanged(CMRC, half))
        same = [
            bool(conflict and conflict.is_certain)
            for name in ("zh_refine", "zh_fact", "en_fact")
            for conflict in (conflicts(*pair) for pair in same_facts(FACTS / f"{name}.json", half))
        ]
        shown = (found[half].contradicted_supported, found[half].contradicted, fmean(same))
        rows.append((f"{title} ({found[half].size}, {len(same)})", *(f"{value:.3f}" for value in shown)))
    table("claims: exchanged answers (CMRC), and the same answer in two documents (RGB)",
          ("", "exchanged: supported", "contradicted", "the same: in conflict"), rows)  # fmt: skip
    other_words = [shares(replaced(CMRC, half)) for half in (1, 0)]
    rows = [(str(each.size), f"{each.contradicted_supported:.3f}", f"{each.contradicted:.3f}") for each in other_words]
    table("claims: one word replaced by another of its kind (CMRC)", ("pairs", "supported", "contradicted"), rows)
    return [
        Target("claims, replaced words called supported", other_words[0].contradicted_supported, 0.05),
        Target("claims, exchanged answers called supported", found[1].contradicted_supported, 0.05),
        Target("claims, exchanged answers called contradicted", found[1].contradicted, 0.80, at_least=True),
    ]


# --- sources that disagree -------------------------------------------------------------------------------------------
def facts(lang: str, half: int | None = None) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """The questions with two documents that say something wrong among five; half 1 was not looked at."""
    for line in (FACTS / f"{lang}_fact.json").read_text("utf-8").splitlines():
        case = json.loads(line)
        if half is not None and hashlib.sha256(case["query"].encode()).digest()[0] % 2 != half:
            continue
        draw = random.Random(f"{lang} {case['id']}")
        order = list(range(min(len(case["positive"]), len(case["positive_wrong"]))))
        draw.shuffle(order)
        documents = [case["positive_wrong"][at] for at in order[:2]]
        documents += [case["positive"][at] for at in (order[2:] + order[:2])[:3]]
        draw.shuffle(documents)
        yield case, documents


def disagreeing(lang: str, half: int | None = None) -> Facts:
    """Ask every question."""
    answer, pointing, right, both, spent = answerer(), [], [], [], []
    for case, documents in facts(lang, half):
        started = time.process_time()
        reply = answer(case["query"], [("", text) for text in documents])
        spent.append((time.process_time() - started) * 1000)
        has_right, has_wrong = _says(reply, case["answer"]), _says(reply, case["fakeanswer"])
        right.append(has_right)
        both.append(has_right and has_wrong)
        for line in reply.splitlines():
            is_right = _says(line, case["answer"])
            if is_right == _says(line, case["fakeanswer"]):
                continue
            said, other = ("answer", "fakeanswer") if is_right else ("fakeanswer", "answer")
            cited = [documents[int(number) - 1] for number in _MARK.findall(line)]
            pointing += [_says(text, case[other]) and not _says(text, case[said]) for text in cited]
    return Facts(len(spent), fmean(pointing or [0]), fmean(right), fmean(both), spent)


def _says(text: str, answer: Any) -> bool:
    groups = answer if isinstance(answer, list) else [answer]
    choices = [choice for group in groups for choice in (group if isinstance(group, list) else [group])]
    return holds(_MARK.sub("", text), (tuple(choices),))


def joined(name: str, label: str) -> float:
    """The share of pairs whose two statements are shown as one sentence with both numbers."""
    from suyuan.embedded.evidence import Evidence
    from suyuan.embedded.quotes import pick_quotes

    found = []
    for row in pairs(name, lambda row: row["label"] == label):
        source = SourceText(row["evidence"])
        nearest = source.sentences[match(Statement(row["claim"]), source).related[0]]
        quotes = pick_quotes(row["claim"].rstrip("。."), [Evidence(1, "", nearest), Evidence(2, "", row["claim"])])
        found.append(any(set(quote.numbers) == {1, 2} for quote in quotes))
    return fmean(found)


def _fact_targets() -> list[Target]:
    rows, found = [], {}
    for lang in ("zh", "en"):
        for title, half in (("not looked at", 1), ("all", None)):
            result = found[lang] = disagreeing(lang, half)
            shown = (result.wrong_citations, result.right, result.both)
            rows.append((f"{lang}, {title} ({result.size})", *(f"{value:.3f}" for value in shown),
                         f"{median(result.milliseconds):.1f}"))  # fmt: skip
    table("claims: RGB facts, two wrong documents of five",
          ("", "citation says otherwise", "right answer", "both sides", "CPU ms"), rows)  # fmt: skip
    same = min(joined(f"mutated-{lang}", "supported") for lang in ("zh", "en"))
    other = max(joined(f"mutated-{lang}", "contradicted") for lang in ("zh", "en"))
    print(
        f"\nstatements that say the same and are joined {same:.3f}; that say something else and are joined {other:.3f}"
    )
    return [
        Target("claims, citation says otherwise", max(each.wrong_citations for each in found.values()), 0.03),
        Target("claims, right answer, zh", found["zh"].right, 0.90, at_least=True),
        Target("claims, both sides, zh", found["zh"].both, 0.80, at_least=True),
        Target("claims, right answer, en", found["en"].right, 0.82, at_least=True),
        Target("claims, both sides, en", found["en"].both, 0.60, at_least=True),
        Target("claims, the same is joined", same, 0.92, at_least=True),
    ]


# --- WiCE ----------------------------------------------------------------------------------------------------------
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


def auc_of(results: Sequence[Result]) -> float:
    """The share of pairs of a supported and another claim in which the supported one scores higher."""
    good = [result.found.score for result in results if result.supported]
    return auc(good, [result.found.score for result in results if not result.supported])


def auc(good: Sequence[float], rest: Sequence[float]) -> float:
    """The share of pairs of a good score and another in which the good one is higher."""
    return fmean((a > b) + (a == b) / 2 for a in good for b in rest) if good and rest else 0.0


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
    return fmean(result.found.is_supported == result.supported for result in results)


def cost_ms(rounds: int = 9) -> float:
    """The median CPU time for checking a usual answer."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        ClaimChecker(_EVIDENCE).check(_ANSWER, find_markers(_ANSWER))
        times.append((time.process_time() - started) * 1000)
    return median(times)
