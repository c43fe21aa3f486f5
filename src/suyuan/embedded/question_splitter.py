"""The questions in a question: "A and B" asked about at once, one question after another, or when and where together."""

from __future__ import annotations

import re

from ..text.keywords import keywords
from .answer_type import content, wanted

_SPLIT = re.compile(
    r"[?？;；]\s*(?:and\s+)?|[,，]?\s*(?:以及|还有|另外|并且)(?=.{4})|,?\s+and\s+(?=(?:what|when|where|who|which|why|how)\b)",
    re.I,
)
# A comma divides two questions where something is asked on both sides of it.
_ASKED = re.compile(r"多少|什么|几[个次人年]|谁|哪")
_COMMA = re.compile(rf"(?<=[\u4e00-\u9fff])[,，](?=[^,，]*(?:{_ASKED.pattern}))")
_TWICE = re.compile(r"\b(when|where|who|why|how)\s+and\s+(when|where|who|why|how)\b", re.I)
_EACH = re.compile(r"分别|各自|\brespectively\b|\beach\b", re.I)
_YEARS = re.compile(r"(\d{4}\s*年?)\s*(?:和|与|、|及|\band\b)\s*(\d{4}\s*年?)")
_SEXES = re.compile(r"(?<![和与、])男女(?=[子单双团])")
# "国家和地区" is one word.
_JOINT = re.compile(r"(?<=[\w》”])\s*(?:和(?!地区)|与|及|、|\band\b)\s*(?=[\w《“])")
# What two things share is asked for, not what each of them has.
_SHARED = re.compile(r"之间|关系|区别|差别|差异|不同|异同|相比|比较|对比|哪个更|谁更|共同|一起|合作|联合|距离|多远")
_LATIN_END, _LATIN = re.compile(r"[A-Za-z][A-Za-z0-9.-]*$"), re.compile(r"[A-Za-z][A-Za-z0-9.-]*")
# What cannot be inside of one of two things that are named side by side.
_BEFORE = re.compile(r".*[的在年月日》”,，\s]")
_AFTER = re.compile(r"(.{2,6}?)(?:的|分别|各自|是|在哪|何时|有多|有哪|[?？]|$)")
_LONGEST = 10


def parts_of(question: str) -> list[str]:
    """The questions in ``question``, mostly one; a later part that says "it" keeps the subject of the first."""
    for pattern in (_YEARS, _TWICE):
        if pair := pattern.search(question):
            return _each(question, pair.start(), pair.end(), pair[1], pair[2])
    if pair := _SEXES.search(question):
        end = pair.end() + question.startswith("子", pair.end())
        return _each(question, pair.start(), end, "男子", "女子")
    if found := _side_by_side(question):
        return found
    parts = [part.strip(" ,，。.") for part in _SPLIT.split(question)]
    if len(parts) == 1 and (comma := _COMMA.search(question)) and _ASKED.search(question[: comma.start()]):
        parts = [question[: comma.start()], question[comma.end() :]]
    parts = [part for part in parts if len(content(part)) >= 2 or (content(part) and wanted(part).kinds)]
    if len(parts) < 2:
        return [question] if content(question) else []
    subject = subject_of(parts[0]) or ("" if question.isascii() else " ".join(keywords(parts[0])))
    return [parts[0], *(f"{subject} {part}" if subject and subject not in part else part for part in parts[1:3])]


def subject_of(part: str) -> str:
    """The name that a question is about, as far as marks and capitals tell."""
    if named := re.search(r"《[^》]+》|“[^”]+”|\"[^\"]+\"", part):
        return named[0]
    names = re.findall(r"\b[A-Z][\w-]*(?:\s+[A-Z][\w-]*)*", re.sub(r"^\s*\w+", "", part))
    return max(names, key=len) if names else ""


def _each(question: str, start: int, end: int, *choices: str) -> list[str]:
    """The question with each of ``choices`` in turn in place of what stands from ``start`` to ``end``."""
    return [_EACH.sub("", question[:start] + choice + question[end:]) for choice in choices]


def _side_by_side(question: str) -> list[str]:
    """ "A和B…" as a question about A and one about B, where something is asked that each of them has."""
    asks_of_each = _EACH.search(question) or (not question.isascii() and set(wanted(question).kinds) - {"reason"})
    joints = list(_JOINT.finditer(question))
    if not asks_of_each or not joints or _SHARED.search(question):
        return []
    joint = joints[-1]
    left, right = question[: joint.start()], question[joint.end() :]
    if left.count("《") > left.count("》") or left.count("“") > left.count("”"):
        return []
    first, second = _named(left, right)
    return _each(question, len(left) - len(first), joint.end() + len(second), first, second)


def _named(left: str, right: str) -> tuple[str, str]:
    """The two things named at the end of ``left`` and at the start of ``right``, as far as their spelling tells."""
    latin = _LATIN_END.search(left), _LATIN.match(right)
    if latin[0] and latin[1]:
        return latin[0][0], latin[1][0]
    bound = _BEFORE.match(left)
    room = left[bound.end() :] if bound and bound.end() < len(left) - 1 else left
    # Things side by side mostly end alike (男单, 女单) or begin alike (最佳电视剧, 最佳动画).
    ends = {size: _alike(room, right[:size]) for size in range(2, min(_LONGEST, len(right)) + 1)}
    size = max(ends, key=lambda size: (ends[size], -size), default=2)
    begin = room.rfind(right[:2])
    if not ends.get(size):
        after = _AFTER.match(right)
        size = len(after[1]) if after and (begin >= 0 or len(after[1]) <= 4) else 2
    elif begin < 0:
        begin = room.rfind(right[0])
    if begin < 0:
        begin = max(0, len(room) - size)
    # A single character that would be left over belongs to the name.
    return room[begin if begin != 1 else 0 :], right[:size]


def _alike(one: str, other: str) -> int:
    """How many characters the ends of both have in common; none where one is the end of the other."""
    count = 0
    while count < min(len(one), len(other)) and one[-1 - count] == other[-1 - count]:
        count += 1
    return count if count < len(other) else 0
