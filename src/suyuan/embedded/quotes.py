"""What the sources say to a question, as quotes: the sentences that answer it, and both sides where they disagree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

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
    candidates = [candidate for source in evidence for candidate in find_candidates(source)]
    thing = Subject.of(question, candidates, about)
    is_chinese = script_language(question) == "zh"
    quotable = [candidate for candidate in candidates if not candidate.is_heading]
    readable = [candidate for candidate in quotable if (script_language(candidate.text) == "zh") == is_chinese]
    recency = Recency(evidence) if asks_for_newest(question) else None
    picker = SentencePicker(question, about, thing, SentenceLimits.of(form, most), recency)
    picks, outcome = picker.pick(readable)
    if not picks:
        # A sentence in another language is better than none.
        picks, outcome = picker.pick(quotable)
    if outcome == "answer" and not thing.is_named:
        outcome = "near"
    if outcome != "answer":
        recency = None  # What does not answer holds as of no day.
    writer = _QuoteWriter({source.number: source.text for source in evidence}, recency)
    same = [each for each in readable if thing.allows(each)]
    if outcome == "answer" and (sides := answer_sides(question, same)):
        return Found(tuple(writer.with_sides(picks, sides, same)), outcome)
    return Found(tuple(writer.with_others(picks, same, Asked.of(question))), outcome)


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
        yield from (self._dated(pick) for pick in rest[: len(chosen) - 1])

    def with_others(self, picks: Sequence[Pick], candidates: Sequence[Candidate], asked: Asked) -> Iterator[Quote]:
        """Yield the quotes of the picks, each with what other sources say instead."""
        shown: set[str] = set()
        for pick in picks:
            if pick.candidate.text in shown:
                continue
            sides: dict[str, Pick] = {}
            for candidate in candidates:
                if candidate.number in pick.numbers:
                    continue
                found = answered_otherwise(asked, pick.candidate, candidate, of_now=self.recency is not None)
                if not found or (sides and found[0] not in sides):
                    continue  # It says the same, or is about something else than the first.
                sides.setdefault(found[0], pick)
                side = sides.setdefault(found[1], Pick.of(candidate, [], pick.score))
                side.numbers += [candidate.number] if candidate.number not in side.numbers else []
                shown.add(candidate.text)
            yield self._disputed(sides) if sides else self._dated(pick)

    def _disputed(self, sides: dict[str, Pick]) -> Quote:
        """Return the side of most origins with the others; where the newest is asked for, that comes first."""
        ordered = sorted(sides.items(), key=lambda side: -count_origins([self.texts[at] for at in side[1].numbers]))
        first, *others = sorted(
            (self._dated(pick, says) for says, pick in ordered), key=lambda quote: quote.date, reverse=True
        )
        return replace(first, others=tuple(others))

    def _dated(self, pick: Pick, says: str = "") -> Quote:
        return replace(pick.quote(says), date=self.recency.published(pick.candidate) if self.recency else "")
