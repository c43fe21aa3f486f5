"""Train ``src/suyuan/embedded/weights.json``, by which the embedded model chooses sentences and knows that it has none.

Two linear models: one ranks the sentences of the sources (softmax over those of a question), one tells whether any of them answers
(logistic regression; the same questions without the sentences that answer are the hard cases). Questions are divided into halves by
their hash; ``benchmarks/answer_weights.json`` has the weights that either half gives, by which ``python -m benchmarks answers`` measures
each half with weights that have not seen it. The weights must be trained again whenever ``sentence_features.py`` or the features of
``answerability.py`` change. Needs ``pip install numpy scipy``, which are no dependencies of the project.

    python -m tools.train_answers
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import answers

from suyuan.embedded import answerability
from suyuan.embedded.evidence import Candidate, Evidence, find_candidates
from suyuan.embedded.sentence_features import Asked, SentenceFeatures

ROOT = Path(__file__).resolve().parents[1]
WEIGHTS = ROOT / "src" / "suyuan" / "embedded" / "weights.json"
HALVES = ROOT / "benchmarks" / "answer_weights.json"
# Of a question in each kind of set: the same question is in one of them several times, with more or less noise.
_RANKING_WEIGHTS = {"rgb": 0.3, "cmrc": 0.25, "clapnq": 1.0}
_ANSWERED_WEIGHTS = {"rgb": 0.3, "cmrc": 0.2, "clapnq": 1.0}
_UNANSWERED_WEIGHTS = {"rgb": 1.0, "rgb without": 0.3, "cmrc without": 0.2, "clapnq": 1.0, "clapnq without": 0.5}
_RANKING_PENALTY, _ANSWER_PENALTY = 0.005, 100.0
_EVERY_CMRC = 3

numpy: Any = import_module("numpy")
optimize: Any = import_module("scipy.optimize")


class Group(NamedTuple):
    """A question with the sentences of its sources, and which of them answer it."""

    kind: str
    question: str
    features: SentenceFeatures
    answers: list[bool]


def main() -> None:
    """Train on everything, and on either half, and write the weights."""
    groups = [*_questions(), *_clapnq()]
    print(f"{len(groups)} questions with their sources")
    WEIGHTS.write_text(_written(_trained(groups)), "utf-8")
    halves = [_trained([group for group in groups if answers.half(group.question) == half]) for half in (0, 1)]
    HALVES.write_text(f"[{','.join(map(_written, halves))}]\n", "utf-8")


def _written(weights: dict[str, dict[str, float]]) -> str:
    rounded = {name: {key: round(value, 4) for key, value in each.items()} for name, each in weights.items()}
    return json.dumps(rounded, indent=1) + "\n"


def _questions() -> Iterator[Group]:
    for name, cases in answers.sets().items():
        if "two-part" in name:
            continue
        for at, case in enumerate(cases):
            group = _group(name.split()[0], case.question, case.documents, case.answers)
            if group:
                yield group
            if group and any(group.answers) and (name.endswith("0.4") or (name == "cmrc" and at % _EVERY_CMRC == 0)):
                yield from _without_answers(group)
    for name in ("zh_refine", "zh_fact", "en_fact"):
        for case in answers.rgb(name, 1.0):
            if group := _group("rgb", case.question, case.documents, ()):
                yield group


def _clapnq() -> Iterator[Group]:
    for kind in ("answerable", "unanswerable"):
        for case in answers.clapnq_cases(kind):
            passage = case["passages"][0]
            chosen = (text for output in case["output"] for text in output.get("selected_sentences", ()))
            texts = {text for text in chosen if len(text) > 10}
            gold = ((*texts,),) if kind == "answerable" else ()
            if group := _group("clapnq", case["input"], [(passage["title"], passage["text"])], gold):
                yield group
                if any(group.answers):
                    yield from _without_answers(group)


def _group(
    kind: str, question: str, documents: Sequence[tuple[str, str]], gold: tuple[tuple[str, ...], ...]
) -> Group | None:
    sentences = _candidates(documents)
    if not sentences:
        return None
    labels = [bool(gold) and _answers(sentence.text, gold) for sentence in sentences]
    return Group(kind, question, SentenceFeatures(Asked.of(question), sentences), labels)


def _answers(sentence: str, gold: tuple[tuple[str, ...], ...]) -> bool:
    """Whether a sentence holds the answer, or is a part of an answer of several sentences."""
    whole = "".join(sentence.split())
    return answers.holds(sentence, gold) or any(whole in "".join(text.split()) for group in gold for text in group)


def _candidates(documents: Sequence[tuple[str, str]]) -> list[Candidate]:
    evidence = [Evidence(number, title, text) for number, (title, text) in enumerate(documents, 1)]
    return [sentence for source in evidence for sentence in find_candidates(source)]


def _without_answers(group: Group) -> Iterator[Group]:
    """Yield the same question with sources that do not say it any more."""
    texts: dict[int, tuple[str, list[str]]] = {}
    for sentence, answers_it in zip(group.features.candidates, group.answers, strict=True):
        if not answers_it:
            texts.setdefault(sentence.number, (sentence.title, []))[1].append(sentence.text)
    documents = [(title, "\n".join(lines)) for title, lines in texts.values()]
    if sum(len(lines) for _, lines in texts.values()) > 1 and (
        left := _group(f"{group.kind} without", group.question, documents, ())
    ):
        yield left


def _trained(groups: Sequence[Group]) -> dict[str, dict[str, float]]:
    ranking = _train_ranking([group for group in groups if any(group.answers) and not all(group.answers)])
    rows, labels, weights = [], [], []
    for group in groups:
        answered = any(group.answers)
        weight = (_ANSWERED_WEIGHTS if answered else _UNANSWERED_WEIGHTS).get(group.kind)
        if weight is None:
            continue
        scores = [
            ranking[""] + sum(ranking[name] * value for name, value in row.items()) for row in group.features.rows()
        ]
        rows.append(answerability.source_features(group.features, scores))
        labels.append(answered)
        weights.append(weight)
    return {"sentence": ranking, "sources": _train_answerability(rows, labels, weights)}


def _train_ranking(groups: Sequence[Group]) -> dict[str, float]:
    """Maximise the share that the sentences with the answer have in a softmax over those of their question."""
    rows = [list(group.features.rows()) for group in groups]
    names = list(rows[0][0])
    values, mean, spread = _standard([row for each in rows for row in each], names)
    sizes = [len(each) for each in rows]
    starts, group_of = numpy.r_[0, numpy.cumsum(sizes)[:-1]], numpy.repeat(numpy.arange(len(rows)), sizes)
    right = numpy.concatenate([numpy.array(group.answers, float) for group in groups])
    weight = numpy.array([_RANKING_WEIGHTS[group.kind] for group in groups])
    weight = weight / weight.sum()

    def loss(learned: Any) -> tuple[float, Any]:
        score = values @ learned
        score = numpy.exp(score - numpy.maximum.reduceat(score, starts)[group_of])
        of_all, of_right = numpy.add.reduceat(score, starts), numpy.add.reduceat(score * right, starts)
        slope = weight[group_of] * (score / of_all[group_of] - score * right / of_right[group_of])
        penalty = _RANKING_PENALTY * learned
        return -(weight * numpy.log(of_right / of_all)).sum() + penalty @ learned, slope @ values + 2 * penalty

    return _plain(_minimum(loss, len(names)), names, mean, spread)


def _train_answerability(rows: list[dict[str, float]], labels: list[bool], weights: list[float]) -> dict[str, float]:
    """Logistic regression on whether any sentence answers."""
    names = list(rows[0])
    values, mean, spread = _standard(rows, names)
    sign, weight = numpy.where(labels, 1.0, -1.0), numpy.array(weights)

    def loss(learned: Any) -> tuple[float, Any]:
        margin = sign * (values @ learned[:-1] + learned[-1])
        slope = -weight * sign / (1 + numpy.exp(margin))
        penalty = _ANSWER_PENALTY * learned[:-1]
        cost = (weight * numpy.logaddexp(0, -margin)).sum() + penalty @ learned[:-1] / 2
        return cost, numpy.r_[slope @ values + penalty, slope.sum()]

    found = _minimum(loss, len(names) + 1)
    plain = _plain(found[:-1], names, mean, spread)
    return {**plain, "": plain[""] + float(found[-1])}


def _standard(rows: list[dict[str, float]], names: list[str]) -> tuple[Any, Any, Any]:
    values = numpy.array([[row[name] for name in names] for row in rows])
    mean, spread = values.mean(0), values.std(0) + 1e-9
    return (values - mean) / spread, mean, spread


def _minimum(loss: Any, size: int) -> Any:
    return optimize.minimize(loss, numpy.zeros(size), jac=True, method="L-BFGS-B").x


def _plain(learned: Any, names: list[str], mean: Any, spread: Any) -> dict[str, float]:
    """Return the weights for values as they are, and the constant that follows from their mean."""
    weights = learned / spread
    return {"": float(-(weights @ mean)), **{name: float(weight) for name, weight in zip(names, weights, strict=True)}}


if __name__ == "__main__":
    main()
