"""Splitting a question that asks several things: about A and B, one after another, or when and where at once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import takewhile

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
_MEN_AND_WOMEN = re.compile(r"(?<![和与、])男女(?:子|(?=[单双团]))")
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
_MAX_NAMES = 6
# A name after one of these says when or where, not what a question is about.
_WHEN_OR_WHERE = r"\b(?:in|on|at|from|since|during|until|before|after)\s+(?:the\s+)?"
_MAX_SECOND_NAME = 4


@dataclass(frozen=True, slots=True)
class Part:
    """One question of several, and the thing that it is about where the others are the same about another thing."""

    question: str
    name: str = ""


def split_question(question: str) -> list[str]:
    """Return the questions in ``question``, mostly one; those after the first keep its subject."""
    return [part.question for part in split_parts(question)]


def split_parts(question: str) -> list[Part]:
    """Return the questions in ``question`` with the things that they are about."""
    pair = _TWO_YEARS.search(question) or _TWO_QUESTION_WORDS.search(question)
    if pair:
        return _with_each(question, pair.start(), pair.end(), pair[1], pair[2])
    sexes = _MEN_AND_WOMEN.search(question)
    if sexes:
        return _with_each(question, sexes.start(), sexes.end(), "男子", "女子")
    return _split_at_conjunction(question) or [Part(part) for part in _split_between(question)]


def _split_between(question: str) -> list[str]:
    """Return the questions that stand one after another."""
    parts = list(filter(_asks_something, _separate(question)))
    if len(parts) < 2:
        return [question] if content_stems(question) else []
    first, *further = parts
    subject = find_name(first)
    if not subject and not question.isascii():
        subject = " ".join(keywords(first))
    return [first, *(f"{subject} {part}" if _leans_on(subject, part) else part for part in further[:2])]


def _separate(question: str) -> list[str]:
    """Return what stands between the ends of questions; a comma is one where something is asked on both sides."""
    parts = [part.strip(" ,，。.") for part in _BETWEEN_QUESTIONS.split(question)]
    comma = _COMMA.search(question)
    if comma is None or len(parts) > 1:
        return parts
    before = question[: comma.start()]
    return [before, question[comma.end() :]] if _ASKS.search(before) else parts


def _asks_something(part: str) -> bool:
    """Whether a part has several words, or one that shows what kind of answer it wants."""
    count = len(content_stems(part))
    if count != 1:
        return count > 1
    return bool(answer_type(part).kinds)


def _leans_on(subject: str, part: str) -> bool:
    """Whether a further question needs the subject of the first: not where it has it, or is about a name of its own."""
    if not subject or subject in part:
        return False
    own = find_name(part) if part.isascii() else ""
    if not own or PRONOUN.search(part):
        return True
    return re.search(_WHEN_OR_WHERE + re.escape(own), part) is not None


def _with_each(question: str, start: int, end: int, *choices: str) -> list[Part]:
    """Return the question with each of ``choices`` in place of what is between ``start`` and ``end``."""
    return [Part(_EACH.sub("", question[:start] + choice + question[end:]), choice) for choice in choices]


def _split_at_conjunction(question: str) -> list[Part]:
    """Return "A和B…" as a question about A and one about B, where it asks what each of them has."""
    asks_each = _EACH.search(question) is not None
    conjunctions = [match for match in _CONJUNCTION.finditer(question) if asks_each or "、" not in match[0]]
    if not conjunctions or _SHARED.search(question):
        return []
    if not asks_each and not _has_answer_for_each(question):
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
    return _with_each(question, start, conjunction.end() + len(second), *names[-_MAX_NAMES:])


def _has_answer_for_each(question: str) -> bool:
    """Whether a question about two things asks for something that each of them has."""
    expected = answer_type(question)
    if question.isascii():
        return expected.is_exact and _TWO_NAMES.search(question) is not None
    return bool(set(expected.kinds) - {"reason"})


def _two_names(left: str, right: str) -> tuple[str, str]:
    """Return the names at the end of ``left`` and at the start of ``right``, as far as their spelling shows."""
    first, second = _LATIN_END.search(left), _LATIN.match(right)
    if first and second:
        return first[0], second[0]
    before = _BEFORE_NAMES.match(left)
    last = left[before.end() :] if before and before.end() < len(left) - 1 else left
    size = _size_by_ending(last, right)
    begin = last.rfind(right[:2])
    if not size:
        size = _size_by_next_word(right, is_begun=begin >= 0)
    elif begin < 0:
        begin = last.rfind(right[0])
    if begin < 0:
        begin = max(0, len(last) - size)
    # A single character that would be left over belongs to the name.
    if begin == 1:
        begin = 0
    return last[begin:], right[:size]


def _size_by_ending(last: str, right: str) -> int:
    """Return the length of a second name that ends like the first, or 0: names side by side mostly do (男单, 女单)."""
    common = {size: _common_ending(last, right[:size]) for size in range(2, min(_MAX_NAME, len(right)) + 1)}
    size = max(common, key=lambda size: (common[size], -size), default=0)
    return size if common.get(size) else 0


def _size_by_next_word(right: str, *, is_begun: bool) -> int:
    """Return the length of a second name by the word after it; a long one must begin like the first (最佳动画)."""
    match = _SECOND_NAME.match(right)
    if match is None:
        return 2
    size = len(match[1])
    return size if is_begun or size <= _MAX_SECOND_NAME else 2


def _common_ending(one: str, other: str) -> int:
    """Return how many characters at the ends of both are equal; 0 where ``one`` ends with ``other``."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    count = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    return count if count < len(other) else 0
