"""The sentences of an answer that have citations, and which part of a sentence each number stands for."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ..text.sentences import sentence_ends
from .markers import Marker

_MARKUP = re.compile(
    r"\*\*|__|`+|^[ \t>]*(?:#{1,6}[ \t]+|[-*+•][ \t]+|\d{1,3}[.)][ \t]+)|\]\([^()\s]*\)|[|\[\]*]", re.M
)
_LEAD = re.compile(r"[\s>|]*+(?:#{1,6}\s++|[-*+•]\s++|\d{1,3}[.)、]\s++)?+[\s*_|]*+")


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer with at least one marker; ``body`` is its text without markers and markup."""

    start: int
    end: int
    body: str
    numbers: tuple[int, ...]
    parts: tuple[str, ...]
    """What each of the numbers stands for: the text from the marker before it up to its own."""


def cited_sentences(text: str, markers: Sequence[Marker]) -> list[CitedSentence]:
    """The sentences of ``text`` that have a citation; a marker after a full stop belongs to the sentence before it."""
    plain, spots, shift = _without(text, markers)
    ends = sentence_ends(plain)
    owned: dict[int, list[int]] = {}
    for index, spot in enumerate(spots):
        owned.setdefault(bisect_right(ends, _owner(plain, spot)), []).append(index)
    found = []
    for place, own_places in sorted(owned.items()):
        own = [markers[index] for index in own_places]
        start, end = (ends[place - 1] if place else 0), ends[min(place, len(ends) - 1)]
        lead = _LEAD.match(plain, start, end)
        start, end = lead.end() if lead else start, start + len(plain[start:end].rstrip())
        if start < end:
            numbers = tuple(dict.fromkeys(number for marker in own for number in marker.numbers))
            first = min(own[0].start, start + shift[bisect_right(spots, start)])
            last = max(own[-1].end, end - 1 + shift[bisect_right(spots, end - 1)] + 1)
            parts = _parts(plain, start, end, [(spots[index], markers[index]) for index in own_places])
            body = _without_markup(plain[start:end])
            found.append(CitedSentence(first, last, body, numbers, tuple(parts[number] for number in numbers)))
    return found


def _parts(plain: str, start: int, end: int, own: Sequence[tuple[int, Marker]]) -> dict[int, str]:
    """The part of a sentence for each number; markers side by side share one."""
    found: dict[int, str] = {}
    begin = start
    for index, (spot, marker) in enumerate(own):
        after = own[index + 1][0] if index + 1 < len(own) else end
        # What follows the last marker belongs to it, and a marker at the beginning stands for what follows.
        stop = after if index + 1 == len(own) or spot <= start else spot
        part = _without_markup(plain[begin:stop])
        for number in marker.numbers:
            found[number] = f"{found[number]} {part}" if number in found and found[number] != part else part
        if plain[spot:after].strip():
            begin = max(begin, spot)
    return found


def _without_markup(text: str) -> str:
    return " ".join(_MARKUP.sub(" ", text).split())


def _without(text: str, markers: Sequence[Marker]) -> tuple[str, list[int], list[int]]:
    """The text without its markers, the position of each marker in it, and the offset of the text after each marker."""
    parts, spots, shift = [], [], [0]
    at = kept = 0
    for marker in markers:
        parts.append(text[at : marker.start])
        kept += marker.start - at
        at = marker.end
        spots.append(kept)
        shift.append(at - kept)
    return "".join(parts) + text[at:], spots, shift


def _owner(plain: str, spot: int) -> int:
    """A position in the sentence that a marker belongs to: the one before it, or the one that it begins."""
    before = plain[plain.rfind("\n", 0, spot) + 1 : spot]
    if _LEAD.fullmatch(before):
        after = plain[spot:].lstrip()
        return len(plain) - len(after) if after else spot
    return spot - 1 - (len(before) - len(before.rstrip()))
