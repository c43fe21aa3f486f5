"""Which sentences of the sources answer a question: chosen by words, by the type of answer, and without repetition."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..core.answer_length import AnswerLength
from ..text.bm25 import BM25
from ..text.conflicts import conflicts, disagreement
from ..text.keywords import content_stems
from ..text.language import script_language
from ..text.lexicon import simplified
from ..text.numbers import figures
from ..text.shingles import count_origins
from ..text.tokens import tokens
from ..text.words import stems
from .answer_sides import AnswerSide, answer_sides
from .answer_type import answer_type
from .answerability import Outcome, outcome, sentence_scores
from .asked_thing import AskedThing
from .evidence import LONGEST, Candidate, Evidence, announces, find_candidates, refers_back
from .question_splitter import split_question
from .quote import Quote, Sentence, joined
from .recency import Recency, asks_for_newest
from .sentence_features import Asked, SentenceFeatures
from .subject import Fit, fit_subject
from .value_features import are_answers

# A further sentence is quoted where its odds are at least this share of the best one's.
_LEAST = math.log(0.01)
# As long as the sentences of a fact are together less probable than this to hold it, one more is quoted.
_ENOUGH = 0.95
# Where the sentences so far are more probable than this to hold a fact, one about another thing is not added.
_LIKELY = 0.6
# Of the sentences of a list, so many are looked at for new names.
_LOOK_AT = 24
# Where the newest is asked for: sentences down to this far below the best are about the subject.
_ABOUT_SUBJECT = -4.0
# A sentence that may be quoted is so far below the best one, which may not: then only the other thing has an answer.
_FAR_BELOW = -2.0
# How much more the row of the year that is asked about counts.
_OF_YEAR = 0.5
# A sentence is nearly as good as the best one down to this far below it.
_NEARLY = -1.0
# How much less a sentence counts whose page has a title about something else.
_BESIDE = 1.5
# After a sentence that announces something, so many are quoted with it.
_MOST_ANNOUNCED = 3
# Two sentences say the same where so much of the shorter one's words is in both.
_SAME, _CERTAINLY_SAME = 0.62, 0.9
_ALIKE = 0.4
_SUBJECT_WEIGHT, _ABOUT_ANOTHER = 0.7, 0.5
_STATEMENT_END = re.compile(r"(?<=.{5})(?:[：；]|[:;]\s)")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d\d(?![\d.,])")
_STEPS = re.compile(r"如何|怎么|怎样|步骤|\bhow (?:do|to|can|does|should)\b|\bsteps\b", re.I)


@dataclass(frozen=True, slots=True)
class Found:
    """What the sources say to a question."""

    quotes: tuple[Quote, ...] = ()
    outcome: Outcome = "none"
    """Whether the quotes answer it, only come near, or have nothing to do with it."""


@dataclass(slots=True)
class _Pick:
    """A chosen sentence, the sources that say it, and what it needs to be understood."""

    candidate: Candidate
    numbers: list[int]
    score: float
    beside: list[Candidate] = field(default_factory=list)
    """The sentences before and after it that are quoted with it."""
    lead: str = ""
    """The title of its source, where it refers back and no sentence before it can be quoted."""
    date: str = ""

    @classmethod
    def of(cls, candidate: Candidate, numbers: list[int], score: float, asked: Asked | None = None) -> _Pick:
        """Take a sentence with those before and after it, or the title, that it needs to be understood."""
        pick, before, title = cls(candidate, numbers, score), candidate.before, candidate.title
        if candidate.row:
            return pick
        if before and len(before.text) + len(candidate.text) > LONGEST:
            before = None
        if refers_back(candidate.text):
            if before and not refers_back(before.text):
                pick.beside.append(before)
            elif title and title not in candidate.text:
                pick.lead = f"{title}{': ' if title.isascii() else '：'}"
        elif before and asked and asked.expected.is_left_out(candidate.text, before.text):
            pick.beside.append(before)
        return pick

    @property
    def text(self) -> str:
        """All that is quoted."""
        return joined(self.lead.rstrip(), *(each.text for each in self._in_order()))

    @property
    def dangles(self) -> bool:
        """Whether it refers back to what is not quoted."""
        return not self.lead and not self.beside and refers_back(self.candidate.text)

    def says(self, other: Candidate) -> bool:
        """Whether ``other`` is part of the text, literally or in other words."""
        return other.text in self.text or _say_the_same(other, self.candidate)

    def quote(self, says: str = "") -> Quote:
        """Return what is shown of it."""
        numbers = tuple(sorted(self.numbers))
        sentences = tuple(
            Sentence(
                each.text,
                numbers if each is self.candidate else (each.number,),
                (each.number, each.paragraph, each.position),
                self.lead.rstrip(),
            )
            for each in self._in_order()
        )
        return Quote(self.text, numbers, self.score, self.date, says, sentences=sentences)

    def _in_order(self) -> list[Candidate]:
        return sorted((self.candidate, *self.beside), key=lambda each: each.position)


@dataclass(frozen=True, slots=True)
class _Limits:
    """How many sentences are quoted."""

    most: int
    least: float = _LEAST
    """Up to this far below the best, by score."""
    for_fact: int = 4
    for_whole: int = 4
    for_part: int = 2
    is_list: bool = False

    def most_for(self, asked: Asked, *, is_part: bool) -> int:
        """Return how many there are at most for a question, or for one part of several."""
        return self.for_part if is_part else self.for_fact if asked.expected.is_fact else self.for_whole


_LIMITS: dict[AnswerLength, _Limits] = {
    "short": _Limits(6, 0.0, 1, 1, 1),
    "full": _Limits(12, math.log(0.002), 8, 8, 4, is_list=True),
    "list": _Limits(8, math.log(0.01), 5, 5, 3, is_list=True),
    "table": _Limits(6, 0.0, 1, 1, 1),
}


@dataclass(frozen=True, slots=True)
class _Emphasis:
    """Words that matter more than others: the subject that was said before, and what makes a part of the question."""

    subject: Mapping[str, float]
    own: set[str]
    """The words of the part that the other parts do not have."""
    others: set[str]
    """The words that only the other parts have."""

    def of(self, candidate: Candidate) -> float:
        """Return how far a sentence has them, as the logarithm of a factor."""
        named = sum(
            weight for stem, weight in self.subject.items() if stem in candidate.stems or stem in candidate.nearby
        )
        factor = _factor(named / sum(self.subject.values())) if self.subject else 1.0
        if self.own and self.others:
            near = sum(stem in candidate.stems or stem in candidate.nearby for stem in self.own) / len(self.own)
            anywhere = sum(stem in candidate.source for stem in self.own) / len(self.own)
            factor *= _factor(max(near, anywhere / 2))
            if sum(stem in candidate.stems for stem in self.others) / len(self.others) > near:
                factor *= _ABOUT_ANOTHER
        return math.log(factor)


def _factor(share: float) -> float:
    return 1 - _SUBJECT_WEIGHT + _SUBJECT_WEIGHT * share


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
    fit = fit_subject(question, about, candidates)
    fitting = [candidate for candidate in candidates if fit.allows(candidate)]
    is_chinese = script_language(question) == "zh"
    quotable = [candidate for candidate in candidates if not candidate.is_heading]
    readable = [candidate for candidate in quotable if (script_language(candidate.text) == "zh") == is_chinese]
    limits = _LIMITS.get(form, _Limits(most))
    recency = Recency(evidence) if asks_for_newest(question) else None
    picks, outcome = _picks(question, about, readable, limits, recency, fit)
    if not picks:
        # A sentence in another language is better than none.
        picks, outcome = _picks(question, about, quotable, limits, recency, fit)
    if outcome == "answer" and not fit.is_named:
        outcome = "near"
    if outcome != "answer":
        recency = None  # What does not answer holds as of no day.
    thing = AskedThing.of(question, {each.number: f"{each.title} {each.text}" for each in evidence}, about)
    picks = [pick for pick in picks if not thing.is_surely_another(pick.candidate)] or picks
    same = [each for each in readable if fit.allows(each) and thing.is_told_in(each)]
    if outcome == "answer" and (sides := answer_sides(question, same, thing)):
        return Found(_with_sides(picks, sides, fitting, recency), outcome)
    texts = {source.number: source.text for source in evidence}
    quotes = tuple(_with_others(picks, same, Asked.of(question), texts, recency))
    return Found(quotes, outcome)


def coverage(question: str, texts: Iterable[str]) -> float:
    """Return the share of the question's content words that occur in ``texts``."""
    asked = content_stems(question)
    if not asked:
        return 1.0
    present = {stem for text in texts for stem in stems(text)}
    return sum(weight for stem, weight in asked.items() if stem in present) / sum(asked.values())


def rank_sources(question: str, evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return ``evidence`` with what fits the question best first, by title and text; equal ones stay in order."""
    texts = [Counter(stems(f"{source.title} {source.title} {source.text}")) for source in evidence]
    scores = BM25(content_stems(question), texts).scores()
    return [source for _, source in sorted(zip(scores, evidence, strict=True), key=lambda pair: -pair[0])]


def _picks(
    question: str,
    about: str,
    candidates: list[Candidate],
    limits: _Limits,
    recency: Recency | None,
    fit: Fit,
) -> tuple[list[_Pick], Outcome]:
    """Return the sentences for all parts of a question; what is true of one part is true of the whole.

    Sentences that do not fit count for what is rare and what is agreed on, but are not picked.
    """
    parts = split_question(question) or ([question] if about else [])
    if not candidates or not parts:
        return [], "none"
    picks: list[_Pick] = []
    words = [set(content_stems(part)) for part in parts]
    outcomes = set()
    for at, part in enumerate(parts):
        others = set[str]().union(*words[:at], *words[at + 1 :])
        emphasis = _Emphasis(content_stems(about), words[at] - others, others - words[at])
        # What is left is shared with the parts that follow.
        most = len(picks) + max(1, (limits.most - len(picks)) // (len(parts) - at))
        own = replace(limits, most=most)
        outcomes.add(_pick_for(Asked.of(part, about), candidates, picks, own, emphasis, recency, fit))
    fitting = [each for each in candidates if fit.allows(each)]
    _add_sources(picks, fitting)
    _add_announced(picks, fitting)
    outcome: Outcome = "answer" if "answer" in outcomes else "near" if "near" in outcomes else "none"
    if (expected := answer_type(question)).kinds == ("reason",):
        picks.sort(key=lambda pick: not expected.is_given_by(pick.candidate.text))
    return (_in_source_order(picks) if _STEPS.search(question) else picks), outcome


def _pick_for(
    asked: Asked,
    candidates: list[Candidate],
    picks: list[_Pick],
    limits: _Limits,
    emphasis: _Emphasis,
    recency: Recency | None,
    fit: Fit,
) -> Outcome:
    """Pick the best candidate for a part, then others that are nearly as good and say something else."""
    features = SentenceFeatures(asked, candidates)
    scores = sentence_scores(features)
    found = outcome(features, scores)
    if found == "none":
        return found
    rated = [pair for pair in zip(scores, candidates, strict=True) if not features.has_row_of_year(pair[1])]
    pairs = [pair for pair in rated if fit.allows(pair[1])]
    unfit = [score for score, each in rated if not fit.allows(each)]
    if not pairs:
        return "none"
    far_below = bool(unfit) and max(score for score, _ in pairs) < max(unfit) + _FAR_BELOW
    if far_below or features.tells_something_else([each for _, each in pairs]):
        found = "near"  # What answers is about another thing, or tells something else of this one.
    ranked = _ranked(pairs, features, emphasis, recency, fit)
    if not limits.is_list:
        ranked = _telling(ranked, features)
    best, first = ranked[0]
    # A follow-up leaves out what it is about: what is not quoted counts too, or the others would seem too sure.
    total = sum(
        math.exp(score - best) for score in [*(score for score, _ in ranked), *(unfit if emphasis.subject else ())]
    )
    sure, taken = 0.0, 0
    most = limits.most_for(asked, is_part=bool(emphasis.others))
    while ranked and taken < most and len(picks) < limits.most:
        score, candidate = ranked.pop(_next(asked, ranked, picks) if limits.is_list and taken else 0)
        if score < best + limits.least or (sure >= _ENOUGH and asked.expected.is_fact and not limits.is_list):
            break
        if limits.is_list or sure <= _LIKELY or not features.is_about_another(candidate, first):
            taken += _take(candidate, score, picks, asked)
        sure += math.exp(score - best) / total
    return found


def _ranked(
    pairs: Sequence[tuple[float, Candidate]],
    features: SentenceFeatures,
    emphasis: _Emphasis,
    recency: Recency | None,
    fit: Fit,
) -> list[tuple[float, Candidate]]:
    """Return the sentences by how well they answer, with what is about the subject, of its year and newest first."""
    candidates = [each for _, each in pairs]
    scores = [
        score + emphasis.of(each) - _BESIDE * (id(each) in fit.beside) + _OF_YEAR * features.is_row_of_year(each)
        for score, each in pairs
    ]
    if recency:
        scores = _newer_first(scores, candidates, recency)
    return sorted(zip(scores, candidates, strict=True), key=lambda each: -each[0])


def _telling(ranked: list[tuple[float, Candidate]], features: SentenceFeatures) -> list[tuple[float, Candidate]]:
    """Return only the sentences with the figure that is asked for, where such a one is nearly as good as the best."""
    telling = [pair for pair in ranked if features.asked.is_told_by(pair[1])]
    return telling if telling and telling[0][0] >= ranked[0][0] + _NEARLY else ranked


def _newer_first(scores: list[float], candidates: list[Candidate], recency: Recency) -> list[float]:
    """Return the scores with what is older counting less, among the sentences that are about the subject."""
    near = max(scores) + _ABOUT_SUBJECT
    about = [at for at, score in enumerate(scores) if score >= near]
    penalties = dict(zip(about, recency.penalties([candidates[at] for at in about]), strict=True))
    return [score - penalties.get(at, -_ABOUT_SUBJECT) for at, score in enumerate(scores)]


def _next(asked: Asked, ranked: list[tuple[float, Candidate]], picks: list[_Pick]) -> int:
    """Return the place of the sentence to be quoted next in a list: one that names something new is worth more."""
    told = {name for pick in picks for name in asked.names_in(pick.text)}
    worth = [
        score + math.log1p(len(set(asked.names_in(candidate.text)) - told)) for score, candidate in ranked[:_LOOK_AT]
    ]
    return worth.index(max(worth))


def _add_sources(picks: list[_Pick], candidates: list[Candidate]) -> None:
    """Add the numbers of the sources that say the same as what was picked, however well they answer."""
    for pick in picks:
        for candidate in candidates:
            if pick.dangles and candidate.text == pick.candidate.text and candidate.before:
                # Another source has the same sentence, with the one before it.
                pick.candidate, pick.beside = candidate, [candidate.before]
            if candidate.number not in pick.numbers and _supports(candidate, pick) and pick.says(candidate):
                pick.numbers.append(candidate.number)


def _add_announced(picks: list[_Pick], candidates: list[Candidate]) -> None:
    """Add what follows a sentence that only announces it: "There are two reasons." """
    following = {id(candidate.before): candidate for candidate in candidates if candidate.before}
    for pick in picks:
        last: Candidate | None = pick.candidate if announces(pick.candidate.text) else None
        while last and (after := following.get(id(last))) and len(pick.beside) < _MOST_ANNOUNCED:
            pick.beside.append(after)
            last = after if refers_back(following[id(after)].text if id(after) in following else "") else None


def _take(candidate: Candidate, score: float, picks: list[_Pick], asked: Asked) -> bool:
    """Add ``candidate`` to the picks, or to one of them; return whether there is one more."""
    same = next((pick for pick in picks if pick.says(candidate)), None)
    if same is not None:
        if candidate.number not in same.numbers and _supports(candidate, same):
            same.numbers.append(candidate.number)
        return False
    before = candidate.before
    if before is not None and refers_back(candidate.text):
        quoted = next((pick for pick in picks if pick.says(before)), None)
        if quoted is not None:
            # The sentence before is quoted already: this one is added to it, unless it is quoted from another source.
            if quoted.text.endswith(before.text) and quoted.numbers == [candidate.number]:
                quoted.beside.append(candidate)
            return False
    picks.append(_Pick.of(candidate, [candidate.number], score, asked))
    return True


def _with_others(
    picks: list[_Pick],
    candidates: list[Candidate],
    asked: Asked,
    texts: Mapping[int, str],
    recency: Recency | None,
) -> Iterator[Quote]:
    """Yield the quotes of the picks; where sources disagree, the side of most origins with what the others say.

    Where the newest is asked for, that comes first, however many are older.
    """
    shown: set[str] = set()
    for pick in picks:
        if pick.candidate.text in shown:
            continue
        sides: dict[str, _Pick] = {}
        for candidate, ours, theirs in _contradicting(pick, candidates, asked, recency):
            if not sides:
                sides[ours] = pick
            elif ours not in sides:
                continue  # It is about something else than the first.
            side = sides.setdefault(theirs, _Pick.of(candidate, [], pick.score))
            side.numbers += [candidate.number] if candidate.number not in side.numbers else []
            shown.add(candidate.text)
        for each in (pick, *sides.values()):
            each.date = recency.published(each.candidate) if recency else ""
        ordered = sorted(sides.items(), key=lambda side: -count_origins([texts[number] for number in side[1].numbers]))
        ordered.sort(key=lambda side: side[1].date, reverse=True)
        first, *others = [side.quote(says) for says, side in ordered] or [pick.quote()]
        yield replace(first, others=tuple(others))


def _with_sides(
    chosen: list[_Pick], sides: Sequence[AnswerSide], candidates: list[Candidate], recency: Recency | None
) -> tuple[Quote, ...]:
    """Return both answers first, each once with all of its sources, then what was chosen and says something else."""
    picks = [_Pick.of(side.sentences[0], [side.sentences[0].number], chosen[0].score) for side in sides]
    _add_sources(picks, candidates)
    for pick in (*picks, *chosen):
        pick.date = recency.published(pick.candidate) if recency else ""
    told = [pick.quote(side.says) for pick, side in zip(picks, sides, strict=True)]
    first, *others = sorted(told, key=lambda quote: quote.date, reverse=True)
    rest = [pick.quote() for pick in chosen if not any(side.says in pick.text for side in sides)]
    return replace(first, others=tuple(others)), *rest[: len(chosen) - 1]


def _contradicting(
    pick: _Pick, candidates: list[Candidate], asked: Asked, recency: Recency | None
) -> Iterator[tuple[Candidate, str, str]]:
    """Yield the sentences that say otherwise, with what the pick says and what they say instead."""
    for candidate in candidates:
        if candidate.number in pick.numbers or not _may_say_the_same(candidate, pick.candidate):
            continue
        if candidate.row or pick.candidate.row:
            continue  # Rows are of different things.
        # Two sentences with all words of the question are about the same, however they go on.
        same_matter = all(_has_all(each, asked.words) for each in (pick.candidate, candidate))
        pairs = _statements(pick.candidate.text, candidate.text)
        if found := next(filter(None, (disagreement(*pair, same_matter) for pair in pairs)), None):
            if are_answers(asked, found, pick.candidate.text, candidate.text):
                yield candidate, found.ours.text, found.theirs.text
        elif recency and (figures_of := _other_figures(pick.candidate, candidate)):
            # Of two versions or counts the newer one holds now.
            yield candidate, *figures_of


def _other_figures(one: Candidate, other: Candidate) -> tuple[str, str] | None:
    """Return the figures that differ in two sentences of nearly the same words."""
    common = len(one.stems.keys() & other.stems.keys()) / max(1, min(len(one.stems), len(other.stems)))
    ours, theirs = (_FIGURE.findall(_YEAR.sub("", each.text)) for each in (one, other))
    if common < _SAME or len(ours) != len(theirs):
        return None
    return next(((mine, its) for mine, its in zip(ours, theirs, strict=True) if mine != its), None)


def _has_all(candidate: Candidate, asked: Mapping[str, float]) -> bool:
    return len(asked) > 1 and all(stem in candidate.stems for stem in asked)


def _may_say_the_same(one: Candidate, other: Candidate) -> bool:
    """Whether two sentences are about the same: they share many words."""
    return len(one.stems.keys() & other.stems.keys()) >= _ALIKE * min(len(one.stems), len(other.stems))


def _say_the_same(one: Candidate, other: Candidate) -> bool:
    common = len(one.stems.keys() & other.stems.keys()) / max(1, min(len(one.stems), len(other.stems)))
    if common < _SAME or _conflict(one.text, other.text):
        return False
    return common > _CERTAINLY_SAME or figures(one.text).stated <= figures(other.text).implied


def _conflict(one: str, other: str) -> bool:
    return any(conflicts(*pair) for pair in _statements(one, other))


def _statements(one: str, other: str) -> list[tuple[str, str]]:
    """Return two sentences, and what they say before a colon: "X is safe: nobody fell ill" says that X is safe."""
    first = _STATEMENT_END.split(one, maxsplit=1)[0], _STATEMENT_END.split(other, maxsplit=1)[0]
    return [(one, other)] if first == (one, other) else [(one, other), first]


def _supports(candidate: Candidate, pick: _Pick) -> bool:
    """Whether ``candidate`` may be cited for what was picked: it has most of the words, every figure and every name."""
    shown = pick.candidate.stems
    common = len(shown.keys() & candidate.stems.keys()) / max(1, len(shown))
    if common < _SAME or not figures(pick.text).stated <= figures(candidate.text).implied:
        return False
    said = f"{candidate.title} {candidate.before.text if candidate.before else ''} {candidate.text}".lower()
    return all(name.lower() in said for name in _names(pick.text))


def _names(text: str) -> list[str]:
    return [text[token.start : token.end] for token in tokens(text) if token.kind == "name" and not token.is_aside]


def _in_source_order(picks: list[_Pick]) -> list[_Pick]:
    """Return the picks, best first, except that those of one source keep its order: they may be steps."""
    ordered = list(picks)
    for number in {pick.candidate.number for pick in picks}:
        places = [at for at, pick in enumerate(picks) if pick.candidate.number == number]
        by_position = sorted((picks[at] for at in places), key=lambda pick: pick.candidate.position)
        for at, pick in zip(places, by_position, strict=True):
            ordered[at] = pick
    return ordered
