"""Splitting a question that asks several things: about A and B, one after another, or when and where at once."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..text.keywords import content_stems, keywords
from ..text.scripts import HAN
from .answer_type import answer_type
from .follow_up import PRONOUN
from .topic import find_name

_BETWEEN_QUESTIONS = re.compile(
    r"[?？;；]\s*+(?:and\s++)?|[,，]?\s{0,8}+(?:以及|还有|另外|并且)(?=.{4})"
    r"|,?\s{1,8}+and\s++(?=(?:what|when|where|who|which|why|how)\b)",
    re.I,
)
# A comma separates two questions where something is asked on both sides of it.
_ASKS = re.compile(r"多少|什么|几[个次人年]|谁|哪")
_COMMA = re.compile(rf"(?<=[{HAN}])[,，](?=[^,，]*(?:{_ASKS.pattern}))")
_TWO_QUESTION_WORDS = re.compile(r"\b(when|where|who|why|how)\s+and\s+(when|where|who|why|how)\b", re.I)
_EACH = re.compile(r"分别|各自|\brespectively\b|\beach\b", re.I)
_TWO_YEARS = re.compile(r"(\d{4}\s{0,8}+年?)\s{0,8}+(?:和|与|、|及|\band\b)\s{0,8}+(\d{4}\s{0,8}+年?)")
_MEN_AND_WOMEN = re.compile(r"(?<![和与、])男女(?=[子单双团])")
# "国家和地区" is one term.
_CONJUNCTION = re.compile(r"(?<=[\w》”]),?\s*(?:和(?!地区)|与|及(?!其)|、|\band\b)\s*(?=[\w《“])")
# The question is about what two things share, not about each of them.
_SHARED = re.compile(
    r"之间|关系|区别|差别|差异|不同|异同|相比|比较|对比|哪个更|谁更|共同|一起|合作|联合|距离|多远"
    r"|\b(?:between|difference|distance|compared?|versus|vs|together|both|relation\w*|meet|met|marr\w+)\b",
    re.I,
)
_CAPITALS = r"(?:[A-Z][A-Za-z0-9.-]{0,40}+\s{1,8}+){0,8}"
_LATIN_END = re.compile(rf"{_CAPITALS}[A-Za-z][A-Za-z0-9.-]{{0,40}}+$")
_LATIN = re.compile(rf"{_CAPITALS}[A-Z][A-Za-z0-9-]*|[A-Za-z][A-Za-z0-9.-]*")
# What cannot be part of one of two names that stand side by side.
_BEFORE_NAMES = re.compile(r".*[的在年月日》”,，\s]")
_SECOND_NAME = re.compile(r"(.{2,6}?)(?:的|分别|各自|是|在哪|何时|有多|有哪|[?？]|$)")
_MAX_NAME = 10
# A further name before two others: "A、B和C", "A, B and C".
_NAME_BEFORE = re.compile(
    rf"({_CAPITALS}[A-Z][A-Za-z0-9-]{{0,40}}+|[^的在年月日》”,，、\s]{{1,10}})(?:、|,\s{{1,8}}+)$"
)
_TWO_NAMES = re.compile(r"\b[A-Z][\w-]{0,40}+,? and [A-Z]")
_MOST_NAMES = 6
# A name after one of these says when or where, not what a question is about.
_WHEN_OR_WHERE = r"\b(?:in|on|at|from|since|during|until|before|after)\s+(?:the\s+)?"


class Part(NamedTuple):
    """One question of several, and the thing that it is about where the others are the same about another thing."""

    question: str
    name: str = ""


def split_question(question: str) -> list[str]:
    """Return the questions in ``question``, mostly one; those after the first keep its subject."""
    return [part.question for part in split_parts(question)]


def split_parts(question: str) -> list[Part]:
    """Return the questions in ``question`` with the things that they are about."""
    for pattern in (_TWO_YEARS, _TWO_QUESTION_WORDS):
        if pair := pattern.search(question):
            return _with_each(question, pair.start(), pair.end(), pair[1], pair[2])
    if pair := _MEN_AND_WOMEN.search(question):
        end = pair.end() + question.startswith("子", pair.end())
        return _with_each(question, pair.start(), end, "男子", "女子")
    return _split_at_conjunction(question) or [Part(part) for part in _split_between(question)]


def _split_between(question: str) -> list[str]:
    """Return the questions that stand one after another."""
    parts = [part.strip(" ,，。.") for part in _BETWEEN_QUESTIONS.split(question)]
    if len(parts) == 1 and (comma := _COMMA.search(question)) and _ASKS.search(question[: comma.start()]):
        parts = [question[: comma.start()], question[comma.end() :]]
    parts = [
        part for part in parts if len(content_stems(part)) >= 2 or (content_stems(part) and answer_type(part).kinds)
    ]
    if len(parts) < 2:
        return [question] if content_stems(question) else []
    subject = find_name(parts[0]) or ("" if question.isascii() else " ".join(keywords(parts[0])))
    return [parts[0], *(f"{subject} {part}" if _leans_on(subject, part) else part for part in parts[1:3])]


def _leans_on(subject: str, part: str) -> bool:
    """Whether a further question needs the subject of the first: not where it has it, or is about a name of its own."""
    if not subject or subject in part:
        return False
    own = find_name(part) if part.isascii() else ""
    return not own or bool(PRONOUN.search(part)) or bool(re.search(_WHEN_OR_WHERE + re.escape(own), part))


def _with_each(question: str, start: int, end: int, *choices: str) -> list[Part]:
    """Return the question with each of ``choices`` in place of what is between ``start`` and ``end``."""
    return [Part(_EACH.sub("", question[:start] + choice + question[end:]), choice) for choice in choices]


def _split_at_conjunction(question: str) -> list[Part]:
    """Return "A和B…" as a question about A and one about B, where it asks what each of them has."""
    expected = answer_type(question)
    asks_about_each = _EACH.search(question) or (
        set(expected.kinds) - {"reason"}
        if not question.isascii()
        else expected.is_exact and _TWO_NAMES.search(question)
    )
    conjunctions = [each for each in _CONJUNCTION.finditer(question) if "、" not in each[0] or _EACH.search(question)]
    if not asks_about_each or not conjunctions or _SHARED.search(question):
        return []
    conjunction = conjunctions[-1]
    left, right = question[: conjunction.start()], question[conjunction.end() :]
    if left.count("《") > left.count("》") or left.count("“") > left.count("”"):
        return []
    first, second = _two_names(left, right)
    start = len(left) - len(first)
    names = [first, second]
    while before := _NAME_BEFORE.search(question[:start]):
        names.insert(0, before[1])
        start = before.start(1)
    return _with_each(question, start, conjunction.end() + len(second), *names[-_MOST_NAMES:])


def _two_names(left: str, right: str) -> tuple[str, str]:
    """Return the names at the end of ``left`` and at the start of ``right``, as far as their spelling shows."""
    latin = _LATIN_END.search(left), _LATIN.match(right)
    if latin[0] and latin[1]:
        return latin[0][0], latin[1][0]
    before = _BEFORE_NAMES.match(left)
    last = left[before.end() :] if before and before.end() < len(left) - 1 else left
    # Names side by side mostly end alike (男单, 女单) or begin alike (最佳电视剧, 最佳动画).
    common = {size: _common_ending(last, right[:size]) for size in range(2, min(_MAX_NAME, len(right)) + 1)}
    size = max(common, key=lambda size: (common[size], -size), default=2)
    begin = last.rfind(right[:2])
    if not common.get(size):
        second = _SECOND_NAME.match(right)
        size = len(second[1]) if second and (begin >= 0 or len(second[1]) <= 4) else 2
    elif begin < 0:
        begin = last.rfind(right[0])
    if begin < 0:
        begin = max(0, len(last) - size)
    # A single character that would be left over belongs to the name.
    return last[begin if begin != 1 else 0 :], right[:size]


def _common_ending(one: str, other: str) -> int:
    """Return how many characters at the ends of both are equal; 0 where ``one`` ends with ``other``."""
    count = 0
    while count < min(len(one), len(other)) and one[-1 - count] == other[-1 - count]:
        count += 1
    return count if count < len(other) else 0
