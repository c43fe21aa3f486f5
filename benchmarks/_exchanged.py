"""Pairs of a claim and its evidence that are made here: the answer of a question, exchanged for that of another one.

The questions of CMRC 2018 have their answers in Wikipedia. In the sentence with the answer it is replaced by the answer of another
question of the same type, whatever that is: a name that no segmenter knows, a time in words, half a sentence. Sentences of different
documents with the same right answer, from RGB, are the other way round: what is called a conflict between them is mostly none.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

from suyuan.text.sentences import split_sentences

_LONGEST_ANSWER, _LONGEST_SENTENCE, _CONTEXT = 8, 300, 2
_SHORT = 18, 45
_KINDS = {
    "person": re.compile("谁|哪位|什么人|人是"),
    "place": re.compile("哪里|哪儿|何处|什么地方|哪个国家|哪个城市|哪国|哪个省|地方|位于"),
}


def half_of(name: str) -> int:
    """The half of a set that a case belongs to; half 1 was not looked at."""
    return hashlib.sha256(f"split {name}".encode()).digest()[0] % 2


def exchanged(data: Path, half: int | None = None) -> list[dict[str, Any]]:
    """The contradicted pairs from the questions of CMRC, in the form of the other sets."""
    asked = [
        (question["id"], question["question"], question["answers"][0]["text"], paragraph["context"])
        for article in json.loads(data.read_text("utf-8"))["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]
    asked = [each for each in asked if 2 <= len(each[2]) <= _LONGEST_ANSWER]
    pool: dict[str, list[str]] = {}
    for _, question, answer, _ in asked:
        pool.setdefault(_kind(question, answer), []).append(answer)
    rows = (_row(*each, pool[_kind(each[1], each[2])]) for each in asked if half is None or half_of(each[0]) == half)
    return [row for row in rows if row]


def _kind(question: str, answer: str) -> str:
    if re.search(r"\d", answer):
        return "year" if "年" in answer else "number"
    return next((kind for kind, sign in _KINDS.items() if sign.search(question)), "other")


def _row(name: str, question: str, answer: str, context: str, pool: list[str]) -> dict[str, Any] | None:
    sentences = split_sentences(context)
    at = next((place for place, sentence in enumerate(sentences) if answer in sentence), None)
    others = [other for other in pool if other not in context and 0.5 <= len(other) / len(answer) <= 2]
    if _kind(question, answer) == "number":
        others = [other for other in others if _unit(other) == _unit(answer)]
    if at is None or not others or len(sentences[at]) > _LONGEST_SENTENCE:
        return None
    claim = sentences[at].replace(answer, random.Random(name).choice(others))
    evidence = "".join(sentences[max(0, at - _CONTEXT) : at + _CONTEXT + 1])
    return {"id": name, "lang": "zh", "claim": claim, "evidence": evidence, "label": "contradicted"}


def _unit(answer: str) -> str:
    return re.sub(r"[\d.,\s]", "", answer)


def same_facts(data: Path, half: int | None = None) -> Iterator[tuple[str, str]]:
    """Sentences of two documents with the same right answer."""
    for line in data.read_text("utf-8").splitlines():
        case = json.loads(line)
        if half is not None and half_of(case["query"]) != half:
            continue
        groups = case["answer"] if isinstance(case["answer"], list) else [case["answer"]]
        answers = [choice for group in groups for choice in (group if isinstance(group, list) else [group])]
        found = [
            next((each for each in split_sentences(text) if any(answer in each for answer in answers)), "")
            for text in case["positive"][:6]
        ]
        yield from combinations([each for each in found if 0 < len(each) <= _LONGEST_SENTENCE], 2)


def replaced(data: Path, half: int | None = None, most: int = 400) -> list[dict[str, Any]]:
    """Short sentences of CMRC in which a noun, verb or adjective is replaced by another one of the same kind."""
    import rjieba

    articles = json.loads(data.read_text("utf-8"))["data"]
    sentences = [
        sentence
        for article in articles
        if half is None or half_of(article["title"]) == half
        for paragraph in article["paragraphs"]
        for sentence in split_sentences(paragraph["context"])
        if _SHORT[0] <= len(sentence) <= _SHORT[1]
    ]
    random.Random("replaced").shuffle(sentences)
    words: dict[str, list[str]] = {}
    tagged = [[each for each in rjieba.tag(text) if len(each[0]) > 1 and each[1][0] in "nva"] for text in sentences]
    for word, tag in (each for own in tagged for each in own):
        words.setdefault(tag[0], []).append(word)
    rows: list[dict[str, Any]] = []
    for text, own in zip(sentences, tagged, strict=True):
        draw = random.Random(text)
        word, tag = draw.choice(own) if own else ("", "")
        other = draw.choice(words[tag[0]]) if own else ""
        if other != word and len(rows) < most:
            pair = {"claim": text.replace(word, other), "evidence": text}
            rows.append({"id": text, "lang": "zh", **pair, "label": "contradicted"})
    return rows
