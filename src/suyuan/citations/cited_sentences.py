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
    sentences = []
    for place, indexes in sorted(owned.items()):
        start = ends[place - 1] if place else 0
        end = start + len(plain[start : ends[min(place, len(ends) - 1)]].rstrip())
        lead = _LEAD.match(plain, start, ends[min(place, len(ends) - 1)])
        if lead:
            start = lead.end()
        if start >= end:
            continue
        parts = _parts(plain, start, end, [(spots[index], markers[index]) for index in indexes])
        # The positions in the text with the markers.
        first = start + shift[bisect_right(spots, start)]
        last = end + shift[bisect_right(spots, end - 1)]
        sentences.append(
            CitedSentence(
                min(first, markers[indexes[0]].start),
                max(last, markers[indexes[-1]].end),
                _without_markup(plain[start:end]),
                tuple(parts),
                tuple(parts.values()),
            )
        )
    return sentences


def _parts(plain: str, start: int, end: int, own: Sequence[tuple[int, Marker]]) -> dict[int, str]:
    """The part of a sentence for each number; markers side by side share one."""
    parts: dict[int, str] = {}
    begin = start
    next_spots = [*(spot for spot, _ in own[1:]), end]
    for index, ((spot, marker), after) in enumerate(zip(own, next_spots, strict=True), 1):
        # What follows the last marker belongs to it, and a marker at the beginning stands for what follows.
        is_open = index == len(own) or spot <= start
        part = _without_markup(plain[begin : after if is_open else spot])
        for number in marker.numbers:
            if parts.setdefault(number, part) != part:
                parts[number] += f" {part}"
        if plain[spot:after].strip():
            begin = max(begin, spot)
    return parts


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
