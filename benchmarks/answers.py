"""The embedded model's answers on the question sets of ``shared/bench``: is the answer in the reply, and does the number fit?

The weights of the model are learned from these sets. So the questions are divided into halves by their hash, and the figures are those
of each half with weights that were learned from the other one (``tools/train_answers.py`` writes both). Beside them, on the very same
documents: the first sentence of the first result, and the best one and three sentences by plain BM25.
"""

from __future__ import annotations

import json
import math
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from hashlib import md5
from itertools import pairwise
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any, NamedTuple
from unittest.mock import patch

from suyuan.text.sentences import sentence_ends
from suyuan.text.words import words

from ._report import Target, table

BENCH = Path(__file__).resolve().parents[2] / "shared" / "bench"
NOISE = (0.0, 0.2, 0.4, 0.6, 0.8)
Answerer = Callable[[str, Sequence[tuple[str, str]]], str]
"""A question and its documents, title and text, give a reply."""
_MARK = re.compile(r"\[(\d+)\]")


class Case(NamedTuple):
    """A question, what the sources say, and what must stand in the reply: of each group at least one."""

    question: str
    documents: tuple[tuple[str, str], ...]
    answers: tuple[tuple[str, ...], ...]


class Figures(NamedTuple):
    """What the replies to a set are worth."""

    contained: float
    first: float
    """The baseline: the first sentence of the first result."""
    one: float
    three: float
    """The best sentence, and the best three, by plain BM25."""
    cited: float
    """Of the sentences with the answer: every number leads to a document that holds it."""
    sentences: float
    letters: float
    milliseconds: list[float]


def run() -> list[Target]:
    """Print a table of all sets, and return the targets."""
    if not BENCH.exists():
        print("\nanswers: skipped, the benchmark data is not beside the project")
        return []
    answer = unseen(answerer())
    rows, all_ms, found = [], [], {}
    for name, cases in sets().items():
        figures = measure(cases, answer)
        found[name] = figures
        all_ms += figures.milliseconds
        shown = (figures.contained, figures.first, figures.one, figures.three, figures.cited)
        rows.append(
            (
                f"{name} ({len(cases)})",
                *(f"{value:.3f}" for value in shown),
                f"{figures.sentences:.1f}",
                f"{figures.letters:.0f}",
            )
        )
    table(
        "answer in the reply, on questions that the weights have not seen",
        ("set", "suyuan", "first", "BM25 1", "BM25 3", "citation fits", "sentences", "characters"),
        rows,
    )
    evidence = clapnq(answer)
    table(
        "CLAPNQ: quoted evidence, and what is said of questions with and without an answer",
        ("", "P", "R", "F1", "answered", "comes near", "not in them"),
        [
            ("suyuan", *(f"{rate:.3f}" for rate in evidence.rates), *(f"{rate:.2f}" for rate in evidence.answerable)),
            ("unanswerable", "", "", "", *(f"{rate:.2f}" for rate in evidence.unanswerable)),
            ("BM25 3", *(f"{rate:.3f}" for rate in evidence.bm25), "", "", ""),
        ],
    )
    slow = quantiles(all_ms, n=20)[-1]
    print(f"CPU ms a question: mean {fmean(all_ms):.1f}, p95 {slow:.1f}")
    contained = {
        "rgb zh 0.0": 0.98, "rgb zh 0.4": 0.96, "rgb zh 0.8": 0.82, "rgb zh two-part 0.0": 0.65, "rgb zh two-part 0.4": 0.5,
        "rgb en facts 0.0": 0.98, "rgb en facts 0.4": 0.9, "cmrc": 0.95,
    }  # fmt: skip
    return [
        *(Target(f"answers: {name}", found[name].contained, least, at_least=True) for name, least in contained.items()),
        Target("answers: citations that fit", min(figures.cited for figures in found.values()), 0.97, at_least=True),
        Target("answers: CLAPNQ evidence F1", evidence.rates[2], 0.6, at_least=True),
        Target("answers: CLAPNQ answered", evidence.answerable[0], 0.88, at_least=True),
        Target("answers: CLAPNQ refused", 1 - evidence.unanswerable[0], 0.65, at_least=True),
        Target("answers: CPU of a question, p95", slow, 15, unit=" ms"),
    ]


def half(question: str) -> int:
    """Return the half of the data, 0 or 1, that a question belongs to."""
    return md5(question.encode(), usedforsecurity=False).digest()[0] % 2


def unseen(answer: Answerer) -> Answerer:
    """The same with weights that were learned from the other half of the questions."""
    from suyuan.embedded import answerability

    learned = json.loads((Path(__file__).parent / "answer_weights.json").read_text("utf-8"))

    def answer_unseen(question: str, documents: Sequence[tuple[str, str]]) -> str:
        with patch.object(answerability, "weights", return_value=learned[1 - half(question)]):
            return answer(question, documents)

    return answer_unseen


def answerer() -> Answerer:
    """The embedded model as a function of question and documents."""
    from suyuan.citations.registry import Source
    from suyuan.embedded.responder import Responder
    from suyuan.embedded.turn_input import TurnInput

    responder = Responder()

    def answer(question: str, documents: Sequence[tuple[str, str]]) -> str:
        turn = TurnInput(question)
        numbered = enumerate(documents, 1)
        turn.add_search(
            question, [Source(at, title, f"https://example.org/{at}", text) for at, (title, text) in numbered]
        )
        return "".join(responder.respond(turn))

    return answer


def measure(cases: Sequence[Case], answer: Answerer) -> Figures:
    """Ask every case."""
    contained, first, one, three, cited, count, letters, spent = [], [], [], [], [], [], [], []
    for case in cases:
        started = time.process_time()
        reply = answer(case.question, case.documents)
        spent.append((time.process_time() - started) * 1000)
        lines = reply.splitlines()
        contained.append(holds(_MARK.sub("", reply), case.answers))
        top = case.documents[0][1]
        first.append(holds(top[: sentence_ends(top)[0]], case.answers))
        ranked = bm25(case.question, [text for _, text in case.documents])
        one.append(holds("\n".join(ranked[:1]), case.answers))
        three.append(holds("\n".join(ranked[:3]), case.answers))
        cited += [
            _fits(line, case) for line in lines if any(holds(_MARK.sub("", line), (group,)) for group in case.answers)
        ]
        count.append(sum(len(sentence_ends(_MARK.sub("", line))) for line in lines))
        letters.append(len(_MARK.sub("", reply)))
    return Figures(
        fmean(contained),
        fmean(first),
        fmean(one),
        fmean(three),
        fmean(cited or [0]),
        fmean(count),
        fmean(letters),
        spent,
    )


def bm25(question: str, documents: Sequence[str]) -> list[str]:
    """The sentences of the documents, the best first, by BM25 on the same words and nothing else."""
    lines = [text[start:end] for text in documents for start, end in pairwise([0, *sentence_ends(text)])]
    bags = [Counter(words(line)) for line in lines]
    seen = Counter(term for bag in bags for term in bag)
    size = sum(bag.total() for bag in bags) / len(bags) or 1.0

    def score(bag: Counter[str]) -> float:
        norm = 1.2 * (0.25 + 0.75 * bag.total() / size)
        rare = {
            term: math.log(1 + (len(bags) - seen[term] + 0.5) / (seen[term] + 0.5))
            for term in set(words(question))
            if term in bag
        }
        return sum(weight * bag[term] * 2.2 / (bag[term] + norm) for term, weight in rare.items())

    return [line for line, _ in sorted(zip(lines, map(score, bags), strict=True), key=lambda pair: -pair[1])]


def holds(text: str, answers: tuple[tuple[str, ...], ...]) -> bool:
    """Whether ``text`` holds one of every group of answers; white space does not count."""
    squeezed = _squeeze(text)
    return all(any(_squeeze(choice) in squeezed for choice in group) for group in answers)


def _squeeze(text: str) -> str:
    return "".join(text.lower().split())


def _fits(line: str, case: Case) -> bool:
    """Whether every document that a line cites holds an answer that the line holds."""
    groups = [group for group in case.answers if holds(_MARK.sub("", line), (group,))]
    numbers = [int(number) for number in _MARK.findall(line)]
    return bool(numbers) and all(
        any(holds(case.documents[number - 1][1], (group,)) for group in groups) for number in numbers
    )


def sets() -> dict[str, list[Case]]:
    """The sets by name."""
    found = {f"rgb zh {noise}": list(rgb("zh_refine", noise)) for noise in NOISE}
    found |= {f"rgb zh two-part {noise}": list(rgb("zh_int", noise)) for noise in (0.0, 0.4)}
    found |= {
        f"rgb {lang} facts {noise}": list(rgb(f"{lang}_fact", noise)) for lang in ("zh", "en") for noise in (0.0, 0.4)
    }
    return {**found, "cmrc": list(_cmrc())}


def rgb(name: str, noise: float) -> Iterator[Case]:
    """Yield the questions of a file of RGB with five documents, of which a share does not answer."""
    for line in (BENCH / "ir-rgb" / f"{name}.json").read_text("utf-8").splitlines():
        case = json.loads(line)
        draw = random.Random(f"{name} {case['id']} {noise}")
        wrong = math.ceil(5 * noise)
        right = case["positive"]
        if isinstance(right[0], list):
            # Both parts of the question must have a document, as far as there is room.
            right = [choice[0] for choice in right] + [text for choice in right for text in choice[1:]]
        documents = right[: 5 - wrong] + draw.sample(case["negative"], min(wrong, len(case["negative"])))
        draw.shuffle(documents)
        answers = case["answer"] if isinstance(case["answer"], list) else [case["answer"]]
        groups = tuple(tuple(group) if isinstance(group, list) else (group,) for group in answers)
        yield Case(case["query"], tuple(("", text) for text in documents), groups)


def _cmrc() -> Iterator[Case]:
    for article in json.loads((BENCH / "ir-cmrc2018" / "cmrc2018_trial.json").read_text("utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                texts = tuple(answer["text"] for answer in asked["answers"])
                yield Case(asked["question"], ((article.get("title", ""), paragraph["context"]),), (texts,))


class Evidence(NamedTuple):
    """What is quoted and said on CLAPNQ."""

    rates: tuple[float, float, float]
    """Precision, recall and F1 of the quoted sentences."""
    bm25: tuple[float, float, float]
    """The same for the three best sentences by plain BM25."""
    answerable: tuple[float, float, float]
    """Of the questions with an answer: answered, said to come near, said not to be in the sources."""
    unanswerable: tuple[float, float, float]


def clapnq(answer: Answerer) -> Evidence:
    """Ask the questions of CLAPNQ, which have one passage each."""
    ours, plain, said = [], [], {"answerable": [0, 0, 0], "unanswerable": [0, 0, 0]}
    for kind, outcomes in said.items():
        for case in clapnq_cases(kind):
            reply, passage = ask_clapnq(case, answer)
            quoted = {text for text in passage["sentences"] if _squeeze(text) and _squeeze(text) in _squeeze(reply)}
            # The same words at the beginning of both, whether sentences follow or only titles.
            outcomes[0 if not reply.startswith("No sentence") else 1 if quoted else 2] += 1
            if kind == "answerable":
                gold = {text for output in case["output"] for text in output["selected_sentences"]}
                ours.append(_overlap(quoted, gold))
                ranked = {_squeeze(text) for text in bm25(case["input"], [passage["text"]])[:3]}
                plain.append(_overlap({text for text in passage["sentences"] if _squeeze(text) in ranked}, gold))
    shares = {kind: tuple(count / sum(counts) for count in counts) for kind, counts in said.items()}
    first, second = (tuple(map(fmean, zip(*rates, strict=True))) for rates in (ours, plain))
    return Evidence(first, second, shares["answerable"], shares["unanswerable"])  # type: ignore[arg-type]


def _overlap(quoted: set[str], gold: set[str]) -> tuple[float, float, float]:
    common = len(quoted & gold)
    precision, recall = common / (len(quoted) or 1), common / (len(gold) or 1)
    return precision, recall, 2 * precision * recall / (precision + recall) if common else 0.0


def clapnq_cases(name: str) -> Iterator[dict[str, Any]]:
    """Yield the questions of CLAPNQ, ``answerable`` or ``unanswerable``."""
    for line in (BENCH / "ir-clapnq" / f"clapnq_dev_{name}.jsonl").read_text("utf-8").splitlines():
        yield json.loads(line)


def ask_clapnq(case: dict[str, Any], answer: Answerer) -> tuple[str, dict[str, Any]]:
    """Return the reply to a question of CLAPNQ without its numbers, and its passage."""
    passage = case["passages"][0]
    return _MARK.sub("", answer(case["input"], [(passage["title"], passage["text"])])), passage


if __name__ == "__main__":
    run()
