"""What the sources say to a question, as quotes: the sentences that answer it, and both sides where they disagree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from ..core.answer_length import AnswerLength
from ..text.language import script_language
from ..text.lexicon import simplified
from ..text.shingles import count_origins
from .agreement import answered_otherwise
from .answer_sides import AnswerSide, answer_sides
from .answerability import Outcome
from .asked_thing import Subject
from .evidence import Candidate, Evidence, find_candidates
from .pick import Pick, add_sources
from .quote import Quote
from .recency import Recency, asks_for_newest
from .sentence_features import Asked
from .sentence_picker import SentenceLimits, SentencePicker


@dataclass(frozen=True, slots=True)
class Found:
    """What the sources say to a question."""

    quotes: tuple[Quote, ...] = ()
    outcome: Outcome = "none"
    """Whether the quotes answer it, only come near, or have nothing to do with it."""


def pick_quotes(question: str, evidence: Sequence[Evidence], most: int = 4, about: str = "") -> tuple[Quote, ...]:
    """Return the few sentences that answer ``question`` best, the best first; none where no sentence fits.

    ``about`` is what the question leaves out because it was said before.
    """
    return find_quotes(question, evidence, most, about).quotes


def find_quotes(
    question: str, evidence: Sequence[Evidence], most: int = 4, about: str = "", form: AnswerLength = "auto"
) -> Found:
    """Return the sentences that answer ``question`` or come near, and which of both."""
    question, about = simplified(question), simplified(about)
    candidates = list(chain.from_iterable(map(find_candidates, evidence)))
    subject = Subject.of(question, candidates, about)
    quotable = [candidate for candidate in candidates if not candidate.is_heading]
    readable = _in_language_of(question, quotable)
    recency = Recency(evidence) if asks_for_newest(question) else None
    picker = SentencePicker(question, about, subject, SentenceLimits.of(form, most), recency)
    picks, outcome = picker.pick(readable)
    if not picks:
        # A sentence in another language is better than none.
        picks, outcome = picker.pick(quotable)
    if outcome == "answer" and not subject.is_named:
        outcome = "near"
    same = list(filter(subject.allows, readable))
    texts = {source.number: source.text for source in evidence}
    if outcome != "answer":
        # What does not answer holds as of no day.
        return Found(tuple(_QuoteWriter(texts, None).with_others(picks, same, Asked.of(question))), outcome)
    writer = _QuoteWriter(texts, recency)
    sides = answer_sides(question, same)
    if sides:
        return Found(tuple(writer.with_sides(picks, sides, same)), outcome)
    return Found(tuple(writer.with_others(picks, same, Asked.of(question))), outcome)


def _in_language_of(question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the sentences that are in Chinese, or not, as the question is."""
    is_chinese = script_language(question) == "zh"
    return [candidate for candidate in candidates if (script_language(candidate.text) == "zh") == is_chinese]


@dataclass(frozen=True, slots=True)
class _QuoteWriter:
    """Makes quotes of picks; ``texts`` are those of the sources by number."""

    texts: dict[int, str]
    recency: Recency | None

    def with_sides(
        self, chosen: Sequence[Pick], sides: Sequence[AnswerSide], candidates: Sequence[Candidate]
    ) -> Iterator[Quote]:
        """Yield both answers first, each once with all of its sources, then what was chosen and says something else."""
        picks = [Pick.of(side.sentences[0], [side.sentences[0].number], chosen[0].score) for side in sides]
        add_sources(picks, candidates)
        yield self._disputed({side.says: pick for side, pick in zip(sides, picks, strict=True)})
        rest = [pick for pick in chosen if not any(side.says in pick.text for side in sides)]
        yield from map(self._dated, rest[: len(chosen) - 1])

    def with_others(self, picks: Sequence[Pick], candidates: Sequence[Candidate], asked: Asked) -> Iterator[Quote]:
        """Yield the quotes of the picks, each with what other sources say instead."""
        shown: set[str] = set()
        for pick in picks:
            if pick.candidate.text in shown:
                continue
            contradictions = list(self._contradictions(pick, candidates, asked))
            shown.update(contradiction.candidate.text for contradiction in contradictions)
            yield self._disputed(_sides(pick, contradictions)) if contradictions else self._dated(pick)

    def _contradictions(self, pick: Pick, candidates: Sequence[Candidate], asked: Asked) -> Iterator[_Contradiction]:
        """Yield the sentences of other sources that say something else than a pick."""
        known: set[str] = set()
        for candidate in candidates:
            if candidate.number in pick.numbers:
                continue
            words = answered_otherwise(asked, pick.candidate, candidate, of_now=self.recency is not None)
            # It may say the same, or be about something else than the first.
            if words and words[0] in (known or words):
                known.update(words)
                yield _Contradiction(*words, candidate)

    def _disputed(self, sides: dict[str, Pick]) -> Quote:
        """Return the side of most origins with the others; where the newest is asked for, that comes first."""
        ordered = sorted(sides, key=lambda says: self._count_origins(sides[says]), reverse=True)
        quotes = [self._dated(sides[says], says) for says in ordered]
        first, *others = sorted(quotes, key=lambda quote: quote.date, reverse=True)
        return replace(first, others=tuple(others))

    def _count_origins(self, pick: Pick) -> int:
        """Return how many sources of a pick are no reprints of others."""
        return count_origins([self.texts[number] for number in pick.numbers])

    def _dated(self, pick: Pick, says: str = "") -> Quote:
        """Return the quote of a pick, with its day where the newest is asked for."""
        quote = pick.quote(says)
        return replace(quote, date=self.recency.published(pick.candidate)) if self.recency else quote


@dataclass(frozen=True, slots=True)
class _Contradiction:
    """The words of a pick, and those that the sentence of another source has instead."""

    ours: str
    theirs: str
    candidate: Candidate


def _sides(pick: Pick, contradictions: Sequence[_Contradiction]) -> dict[str, Pick]:
    """Return what a pick says and what other sources say instead, each with its sentence."""
    sides: dict[str, Pick] = {}
    for contradiction in contradictions:
        candidate = contradiction.candidate
        sides.setdefault(contradiction.ours, pick)
        side = sides.setdefault(contradiction.theirs, Pick.of(candidate, [], pick.score))
        if candidate.number not in side.numbers:
            side.numbers.append(candidate.number)
    return sides
