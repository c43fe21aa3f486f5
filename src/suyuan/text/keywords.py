"""The words of a question that matter: without function words, question words and polite phrases."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from functools import lru_cache

from .words import stem, words

_FUNCTION_WORDS = """a an the of in on at to for and or by with from as is was were are be been has have had it its this
that these those he she they his her their which who whom also but than then into about after before during over under
not no"""
_QUESTION_WORDS = """being can could did do does find how i if long many me much my our please s search should so tell
there we what when where whose why will would you your"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())
"""English function words, which every text has."""
_SKIPPED = STOP_WORDS.union(_QUESTION_WORDS.split(), words(_QUESTION_WORDS))
_REQUEST = r"请问|请?告诉我|我想知道|帮我(?:[查搜](?:一下|索)?)?"
_CHINESE_QUESTION = re.compile(
    rf"{_REQUEST}|查一下|搜索一下|什么时候|什么时间|为什么|是什么|什么样|什么|有哪些|哪一[年天个位家座]|哪[个些里年位家座种儿]|哪"
    r"|是多少|多少|多久|多长|怎么样|怎么|怎样|如何|是否|是不是|是谁|谁|几个|分别|一下|吗|呢|吧|啊|的|了|是|在|有|和|与|及|或|被|把"
)
# A verb that only makes the question: "How does a filter work?" is about filters, not about work.
_EMPTY_VERB = re.compile(
    r"(?<=\s)(?:works?|happens?|occurs?|functions?|means?)(?=\s*+[?？.]*+\s*+$)|(?:工作|运作|运行)的?(?=[?？。\s]*$)",
    re.I,
)
_ASKS_HOW = re.compile(r"\b(?:how|why|what) (?:do|does|did)\b|怎[么样]|如何", re.I)
# Compiled when it is first needed.
_OPENING = rf"(?i)^(?:{_REQUEST}|please|(?:can you |could you )?tell me(?: about)?)[\s,，:：]*"
_PUNCTUATION = re.compile(r"[?？!！。,，;；:：“”\"]")
_SINGLE_CHARACTER = 0.5
"""A Chinese character says little beside the pairs that it is part of."""


def keywords(question: str) -> list[str]:
    """Return the words of ``question`` for a search engine, as they are written."""
    own = _CHINESE_QUESTION.sub(" ", _PUNCTUATION.sub(" ", question))
    return [word for word in own.split() if word.lower() not in _SKIPPED]


def content_words(question: str) -> list[str]:
    """Return the words of ``question`` that its answer should contain, each once, in the form of :func:`words`."""
    asked = _EMPTY_VERB.sub(" ", question) if _ASKS_HOW.search(question) else question
    found = words(_CHINESE_QUESTION.sub(" ", asked)) or words(question)
    return list(dict.fromkeys(word for word in found if word not in _SKIPPED))


@lru_cache(maxsize=256)
def content_stems(question: str) -> Mapping[str, float]:
    """Return the stems of the content words of ``question``, each with its weight."""
    return {stem(word): _weight(word) for word in content_words(question)}


def _weight(word: str) -> float:
    """Return how much a word counts."""
    is_character = len(word) == 1 and not word.isascii()
    return _SINGLE_CHARACTER if is_character else 1.0


def weight_in(weighted: Mapping[str, float], words: Container[str]) -> float:
    """Return the weight of those of some words that are among others."""
    return sum(weight for word, weight in weighted.items() if word in words)


def without_request(question: str) -> str:
    """Return ``question`` without the polite phrase that it begins with."""
    return re.sub(_OPENING, "", question)
