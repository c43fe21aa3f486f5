"""Compares each cited sentence of an answer with the text of its sources, word by word: a match is not a proof."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..text.dates import MONTHS
from ..text.keywords import STOP_WORDS
from ..text.numbers import figures
from ..text.scripts import HAN
from ..text.sentences import sentence_ends, split_sentences
from ..text.words import count_cjk, words
from .markers import Marker

Verdict = Literal["supported", "weak", "not_found"]

_ORDER: tuple[Verdict, ...] = ("not_found", "weak", "supported")

SUPPORTED = 0.6
WEAK = 0.3
# The factors for a score when all figures or all names are missing, or when only one side is negated.
_MISSING_FIGURES = 0.25
_MISSING_NAMES = 0.25
_OTHER_NEGATION = 0.45
_FIGURE_WEIGHT = 4.0
_SECOND_SENTENCE = 0.05
"""How much a second sentence must add to the score to be part of the quote."""
_RELATED = 0.65
_MAX_EVIDENCE = 100_000
_PREFIX = 7
"""English words are compared by their first letters: "constructed" equals "construction"."""
_NO_LETTER = re.compile(r"[\W_]+")
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+")
_NAME = re.compile(r"(?<![\w'’])[A-Z][\w’'&.-]*[\w]")
# With the few words after it, which are negated.
_NEGATION = re.compile(
    r"(?:\b(?:not|never|neither|nor|without|cannot|no longer|nobody|none)\b|n[’']t\b"
    r"|不(?![仅过断同少久但管只光论])|没有?(?!收)|未(?!来)|并非|绝非|而非|无法|无需|毫无|尚无)"
    rf"(?=[\s\W]*((?:[{HAN}]{{1,4}}|[^\s{HAN}]+(?:\s+[^\s{HAN}]+){{0,2}})))",
    re.I,
)
_MARKUP = re.compile(
    r"\*\*|__|`+|^[ \t>]*(?:#{1,6}[ \t]+|[-*+•][ \t]+|\d{1,3}[.)][ \t]+)|\]\([^()\s]*\)|[|\[\]*]", re.M
)
_LEAD = re.compile(r"[\s>|]*(?:#{1,6}\s+|[-*+•]\s+|\d{1,3}[.)、]\s+)?[\s*_|]*")


@dataclass(frozen=True, slots=True)
class Claim:
    """A cited sentence: its position in the answer, the numbers it cites, and how well the sources match it."""

    start: int
    end: int
    numbers: tuple[int, ...]
    verdict: Verdict
    quote: str
    """The passage of the source that matches best."""
    number: int | None
    """The number of the source that the quote is from."""


@dataclass(frozen=True, slots=True)
class Match:
    """How well a source matches a sentence, from 0 to 1, and which part of it does."""

    score: float
    quote: str = ""
    missing: frozenset[str] = frozenset()
    """The figures of the sentence that the source does not contain."""
    stated: frozenset[str] = frozenset()
    related: tuple[int, ...] = ()
    """The indexes of the most similar sentences of the source, best first."""


class SourceText:
    """The text of a source, split into sentences once and compared with many claims."""

    def __init__(self, text: str, title: str = "", sentences: Sequence[str] | None = None) -> None:
        self.sentences = tuple(split_sentences(text[:_MAX_EVIDENCE]) if sentences is None else sentences)
        self.title = _terms(title) | figures(title).implied
        self.figures = tuple(figures(sentence).implied for sentence in self.sentences)
        self.terms = tuple(_terms(sentence) | held for sentence, held in zip(self.sentences, self.figures, strict=True))
        self.held = self.title.union(*self.figures)
        self.plain = f"{title} {' '.join(self.sentences)}".lower()
        self.letters = _letters(self.plain)
        self.wide = _is_wide(self.plain[:2000])
        self._counts = Counter(term for terms in self.terms for term in terms)

    def weight(self, term: str) -> float:
        """The weight of a word: higher for rare words, very low for function words."""
        if term in STOP_WORDS:
            return 0.1
        return math.log(1 + (len(self.terms) + 1) / (0.5 + self._counts[term]))


def check_claims(
    text: str, markers: Sequence[Marker], evidence: Mapping[int, str], titles: Mapping[int, str] | None = None
) -> tuple[Claim, ...]:
    """Compare every sentence of ``text`` that has a citation with the ``evidence`` for the numbers that it cites."""
    titles = titles or {}
    cited = cited_sentences(text, markers)
    used = {number for sentence in cited for number in sentence.numbers if number in evidence}
    sources = {number: SourceText(evidence[number], titles.get(number, "")) for number in sorted(used)}
    return tuple(_claim(sentence, sources) for sentence in cited)


class Statement:
    """A sentence without its markers, prepared for the comparison with sources."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.figures = figures(text).stated
        self.words = _terms(text)
        self.terms = self.words | self.figures
        self.names = _names(text)
        self.wide = _is_wide(text)
        self.denied = _denied(text)


def match(claim: Statement, source: SourceText) -> Match:
    """Compare one sentence with one source."""
    facts = claim.figures
    if not claim.terms or not source.sentences:
        return Match(0.0, stated=facts, missing=facts)
    missing = facts - source.held
    score, quote, related = _best(claim, source)
    if _letters(claim.text) in source.letters:
        # The source contains the sentence literally.
        return Match(1.0, quote, stated=facts, related=related)
    if source.wide == claim.wide:
        absent = [name for name in claim.names if name.lower() not in source.plain]
        score *= _MISSING_NAMES ** (len(absent) / len(claim.names)) if absent else 1
        score *= _OTHER_NEGATION if _contradicts(claim, quote) else 1
    else:
        # A source in another script spells names and words differently.
        score = _across(claim, source)
    score *= _MISSING_FIGURES ** (len(missing) / len(facts)) if missing else 1
    return Match(score, quote, missing, facts, related)


def _letters(text: str) -> str:
    """``text`` reduced to letters and digits, so that markup makes no difference."""
    return _NO_LETTER.sub("", text.lower())


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer with at least one marker; ``body`` is its text without markers and markup."""

    start: int
    end: int
    body: str
    numbers: tuple[int, ...]


def cited_sentences(text: str, markers: Sequence[Marker]) -> list[CitedSentence]:
    """The sentences of ``text`` that have a citation; a marker after a full stop belongs to the sentence before it."""
    plain, spots, shift = _without(text, markers)
    ends = sentence_ends(plain)
    owned: dict[int, list[Marker]] = {}
    for marker, spot in zip(markers, spots, strict=True):
        owned.setdefault(bisect_right(ends, _owner(plain, spot)), []).append(marker)
    found = []
    for place, own in sorted(owned.items()):
        start, end = (ends[place - 1] if place else 0), ends[min(place, len(ends) - 1)]
        lead = _LEAD.match(plain, start, end)
        start, end = lead.end() if lead else start, start + len(plain[start:end].rstrip())
        if start < end:
            numbers = tuple(dict.fromkeys(number for marker in own for number in marker.numbers))
            first = min(own[0].start, start + shift[bisect_right(spots, start)])
            last = max(own[-1].end, end - 1 + shift[bisect_right(spots, end - 1)] + 1)
            found.append(CitedSentence(first, last, " ".join(_MARKUP.sub(" ", plain[start:end]).split()), numbers))
    return found


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


def _claim(sentence: CitedSentence, sources: Mapping[int, SourceText]) -> Claim:
    statement = Statement(sentence.body)
    matches = [(number, match(statement, sources[number])) for number in sentence.numbers if number in sources]
    if not matches:
        return Claim(sentence.start, sentence.end, sentence.numbers, "not_found", "", None)
    number, best = max(matches, key=lambda found: found[1].score)
    verdict = _verdict(best)
    if verdict != "supported" and len(matches) > 1:
        # Each of the sources may support a part of the sentence.
        joined = SourceText("", sentences=[quote for _, found in matches if (quote := found.quote)])
        together = match(statement, joined)
        verdict = max(verdict, _verdict(together), key=_ORDER.index)
    quote = best.quote if verdict != "not_found" else ""
    return Claim(sentence.start, sentence.end, sentence.numbers, verdict, quote, number)


def _verdict(found: Match) -> Verdict:
    if found.missing and found.missing == found.stated:
        return "not_found"
    if found.score >= SUPPORTED and not found.missing:
        return "supported"
    return "weak" if found.score >= WEAK or (found.score >= WEAK / 2 and found.missing < found.stated) else "not_found"


def _best(claim: Statement, source: SourceText) -> tuple[float, str, tuple[int, ...]]:
    """The share of a claim that one or two adjacent sentences contain, these sentences, and the most similar ones."""
    terms = claim.terms
    weights = {term: _FIGURE_WEIGHT if term in claim.figures else source.weight(term) for term in terms}
    total = sum(weights.values())

    def share(held: Iterable[str]) -> float:
        return sum(map(weights.__getitem__, terms.intersection(held))) / total

    single = [share(own) for own in source.terms]
    with_title = [share(own | title) for own in source.terms] if (title := source.title & terms) else single
    at = max(range(len(single)), key=lambda i: (with_title[i], -i))
    score, span = with_title[at], (at, at + 1)
    for i in range(len(single) - 1):
        # The sum is an upper bound: most pairs cannot improve the score.
        if with_title[i] + single[i + 1] > score + _SECOND_SENTENCE:
            both = share(source.terms[i] | source.terms[i + 1] | title)
            if both > score + (_SECOND_SENTENCE if span[1] - span[0] == 1 else 0):
                score, span = both, (i, i + 2)
    order = sorted(range(len(single)), key=lambda i: -single[i])
    top = single[order[0]]
    related = tuple(i for i in order[:4] if single[i] >= _RELATED * top > 0)
    return score, " ".join(source.sentences[span[0] : span[1]]), related


def _across(claim: Statement, source: SourceText) -> float:
    """The score where claim and source use different scripts: only figures and Latin names can be compared."""
    shared = {name.lower() for name in _LATIN_WORD.findall(claim.text)} & set(_LATIN_WORD.findall(source.plain))
    anchors = len(claim.figures) + len(shared)
    return SUPPORTED if claim.figures and anchors >= 2 else (SUPPORTED + WEAK) / 2


def _contradicts(claim: Statement, quote: str) -> bool:
    """Whether one of the two negates what the other states."""
    ours, theirs = claim.denied, _denied(quote)
    if not ours and not theirs:
        return False
    return bool((ours - theirs) & _terms(quote) or (theirs - ours) & claim.words)


def _denied(text: str) -> frozenset[str]:
    """The words that follow a negation."""
    return frozenset().union(*(_terms(found[1]) for found in _NEGATION.finditer(text))) - STOP_WORDS


def _names(claim: str) -> set[str]:
    """Capitalised Latin words, except the first of the sentence and the months."""
    found = {found[0].removesuffix("'s").removesuffix("’s") for found in _NAME.finditer(claim) if found.start() > 0}
    return {name for name in found if name.lower() not in MONTHS}


def _is_wide(text: str) -> bool:
    return count_cjk(text) * 4 > len(text)


def _terms(text: str) -> frozenset[str]:
    """The words to compare; numbers are left to :func:`figures`."""
    return frozenset(word[:_PREFIX] if word.isascii() else word for word in words(text) if not word[0].isdigit())
