"""Learn the weights of ``src/suyuan/embedded/answer_sides.py``, by which sources that answer differently are found.

Two small linear models, learned from the facts of RGB: one tells how probable it is that a value of a sentence is the answer that its
source gives (logistic regression), one tells which two values, if any, are two answers to one question (a choice between all pairs and
none). A case has documents that are right and documents in which the answer was replaced: by the data's own false answer, or by the answer
of another question of the same kind; cases without any such document teach when there is nothing to tell. Prints the weights of both
halves of the questions, what each finds in the other half, and the weights of all, which are then copied into the module.

    python -m tools.train_values
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import md5
from typing import Any, NamedTuple
from unittest.mock import patch

from benchmarks.answers import BENCH, half

from suyuan.embedded import answer_sides
from suyuan.embedded.evidence import Candidate, Evidence, find_candidates
from suyuan.embedded.sentence_features import Asked
from suyuan.embedded.value_features import ValueFeatures
from suyuan.text.likeness import may_be_same

_STEPS, _RATE, _PENALTY = 80, 0.08, 0.02
_REAL = 1.5
"""How much a case with the data's own false answer counts."""
_LETTERS = re.compile(r"\W+")
_SETS = ("zh_fact", "en_fact", "zh_refine")
_LEVELS = (0.0, 0.5, 1.0, 1.5, 2.0)
Rows = Sequence[tuple[Mapping[str, float], bool]]


class Case(NamedTuple):
    """A question with its documents, what they answer, and the false answer of some of them."""

    question: str
    candidates: list[Candidate]
    answers: list[str]
    false: str
    is_real: bool
    lang: str


def main() -> None:
    """Learn from either half and try on the other, then learn from both."""
    every = list(cases())
    for seen in (0, 1):
        weights = _learned([case for case in every if half(case.question) == seen])
        print(f"\nhalf {seen}: {_shown(weights)}")
        with patch.multiple(answer_sides, **weights):
            _print_found([case for case in every if half(case.question) != seen])
    print(f"\nall: {_shown(_learned(every))}")


def _shown(weights: Mapping[str, Mapping[str, float]]) -> str:
    return json.dumps({name: {key: round(value, 2) for key, value in own.items()} for name, own in weights.items()})


def cases() -> Iterator[Case]:
    """Yield the questions, each with documents that agree and, as far as there are any, with false ones."""
    loaded = [(name, json.loads(line)) for name in _SETS for line in _lines(name)]
    pool: dict[str, list[str]] = {}
    for name, case in loaded:
        pool.setdefault(_kind(name, _answers(case)[0]), []).append(_answers(case)[0])
    for name, case in loaded:
        right, rest, answers = case["positive"], case["negative"], _answers(case)
        yield _case(case, [*right[:5], *rest[:3]], "", name)
        yield _case(case, [*right[:3], *rest[:2]], "", name)
        middle = len(right) // 2 or 1
        if wrong := case.get("positive_wrong", ())[middle:]:
            for some in (len(right), 2, 1):
                texts = [*right[: min(some, middle)], *wrong[: some + 1], *rest[:some]]
                yield _case(case, texts, case["fakeanswer"], name, is_real=True)
        others = [each for each in pool[_kind(name, answers[0])] if not may_be_same(each.lower(), answers[0].lower())]
        false = random.Random(case["query"]).choice(others) if others else ""
        changed = [text.replace(answers[0], false) for text in right[:middle] if answers[0] in text]
        if false and changed and len(right) > middle and not any(false in text for text in right):
            yield _case(case, [*right[middle:6], *changed, *rest[:3]], false, name)


def _lines(name: str) -> list[str]:
    return (BENCH / "ir-rgb" / f"{name}.json").read_text("utf-8").splitlines()


def _answers(case: Mapping[str, Any]) -> list[str]:
    groups = case["answer"] if isinstance(case["answer"], list) else [case["answer"]]
    return [choice for group in groups for choice in (group if isinstance(group, list) else [group])]


def _kind(name: str, answer: str) -> str:
    return name[:2] + re.sub(r"\d+", "9", answer if re.search(r"\d", answer) else "")


def _case(case: Mapping[str, Any], texts: Sequence[str], false: str, name: str, is_real: bool = False) -> Case:
    order = sorted(texts, key=lambda text: md5(text.encode(), usedforsecurity=False).digest())
    evidence = [Evidence(number, text[:40], text) for number, text in enumerate(order, 1)]
    candidates = [candidate for source in evidence for candidate in find_candidates(source)]
    return Case(case["query"], candidates, _answers(case), false, is_real, name[:2])


def _is(value: str, answers: Sequence[str]) -> bool:
    own = _LETTERS.sub("", value.lower())
    plain = [_LETTERS.sub("", answer.lower()) for answer in answers if answer]
    return any(each in own or (len(own) > 1 and own in each and 2 * len(own) >= len(each)) for each in plain)


# --- learning --------------------------------------------------------------------------------------------------------
def _learned(every: Sequence[Case]) -> dict[str, Any]:
    values = [([(row, _is(value.text, [*case.answers, case.false]))], _weight(case))
              for case in every for value, row in _values(case)]  # fmt: skip
    learned: dict[str, Any] = {"VALUE_WEIGHTS": _minimised(values)}
    with patch.multiple(answer_sides, **learned):
        found = [([(pair.features, _is_right(pair, case)) for pair in _pairs(case)], _weight(case)) for case in every]
    return {**learned, "PAIR_WEIGHTS": _minimised([each for each in found if each[0]])}


def _weight(case: Case) -> float:
    return (_REAL if case.is_real else 1.0) * (1.5 if case.lang == "en" else 1.0)


def _values(case: Case) -> Iterator[tuple[Any, dict[str, float]]]:
    asked = Asked.of(case.question)
    texts = answer_sides.source_texts(case.candidates)
    features = ValueFeatures(asked)
    for candidate in answer_sides.about(asked, case.candidates):
        yield from features.rows(candidate, texts[candidate.number])


def _pairs(case: Case) -> list[answer_sides.Pair]:
    return list(answer_sides.pairs(case.question, case.candidates))


def _is_right(pair: answer_sides.Pair, case: Case) -> bool:
    one, other = (side.value.text for side in pair.sides)
    both = ((one, other), (other, one))
    return bool(case.false) and any(_is(a, case.answers) and _is(b, [case.false]) for a, b in both)


def _minimised(groups: Sequence[tuple[Rows, float]]) -> dict[str, float]:
    """The weights for the choice of a right row of each group, or of none where no row is right."""
    names = list(groups[0][0][0][0])
    rows = [row for own, _ in groups for row, _ in own]
    mean = {name: sum(row[name] for row in rows) / len(rows) for name in names}
    spread = {name: math.sqrt(sum((row[name] - mean[name]) ** 2 for row in rows) / len(rows)) + 1e-6 for name in names}
    scaled = [([([1.0, *((row[name] - mean[name]) / spread[name] for name in names)], right) for row, right in own], weight)
              for own, weight in groups]  # fmt: skip
    learned = _descended(scaled, len(names) + 1)
    weights = {name: value / spread[name] for name, value in zip(names, learned[1:], strict=True)}
    return {"": learned[0] - sum(weights[name] * mean[name] for name in names), **weights}


def _descended(groups: Sequence[tuple[Sequence[tuple[list[float], bool]], float]], size: int) -> list[float]:
    learned, first, second = [-2.0] + [0.0] * (size - 1), [0.0] * size, [0.0] * size
    total = sum(weight for _, weight in groups)
    for step in range(1, _STEPS + 1):
        slope = [0.0] + [_PENALTY * value for value in learned[1:]]
        for rows, weight in groups:
            odds = [math.exp(max(-30.0, min(30.0, sum(map(float.__mul__, learned, row))))) for row, _ in rows]
            of_right = sum(each for each, (_, right) in zip(odds, rows, strict=True) if right)
            for each, (row, right) in zip(odds, rows, strict=True):
                error = (each / (1 + sum(odds)) - (each / of_right if right else 0)) * weight / total
                for at, value in enumerate(row):
                    slope[at] += error * value
        for at, value in enumerate(slope):
            first[at], second[at] = 0.9 * first[at] + 0.1 * value, 0.99 * second[at] + 0.01 * value * value
            learned[at] -= _RATE * first[at] / (1 - 0.9**step) / (math.sqrt(second[at] / (1 - 0.99**step)) + 1e-8)
    return learned


# --- trying ----------------------------------------------------------------------------------------------------------
def _print_found(every: Sequence[Case]) -> None:
    best = [(case, max(_pairs(case), key=answer_sides.odds, default=None)) for case in every]
    kinds: dict[str, Callable[[Case], bool]] = {
        "false answers of the data, zh": lambda case: case.is_real and case.lang == "zh",
        "false answers of the data, en": lambda case: case.is_real and case.lang == "en",
        "exchanged answers": lambda case: bool(case.false) and not case.is_real,
        "no false answers, zh": lambda case: not case.false and case.lang == "zh",
        "no false answers, en": lambda case: not case.false and case.lang == "en",
    }
    for name, chosen in kinds.items():
        own = [(case, pair) for case, pair in best if chosen(case)]
        shares = [
            sum(bool(pair) and answer_sides.odds(pair) >= level and (not case.false or _is_right(pair, case))
                for case, pair in own if pair) / len(own)
            for level in _LEVELS
        ]  # fmt: skip
        print(f"  {name:32}" + "  ".join(f"{level}: {share:.3f}" for level, share in zip(_LEVELS, shares, strict=True)))


if __name__ == "__main__":
    main()
