"""Which sentences of the sources answer a question: chosen by words, by the type of answer, and without repetition."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..text.bm25 import BM25
from ..text.conflicts import Conflict, conflicts, disagreement
from ..text.keywords import content_stems
from ..text.language import script_language
from ..text.numbers import figures
from ..text.shingles import count_origins
from ..text.words import stems
from .answer_type import answer_type
from .evidence import LONGEST, Candidate, Evidence, find_candidates
from .question_splitter import split_question

# How much of the question's words one sentence must have, those of its title and neighbour counted half.
_MIN_FIT = 0.3
# The score of a further sentence, of the best one's; more where the best seems to be the whole answer.
_MIN_SCORE, _MIN_SCORE_AFTER_ANSWER = 0.3, 0.4
_ANSWER_FIT = 0.7
# Sentences for a question of one part, and for each part of several.
_MAX_FOR_WHOLE, _MAX_FOR_PART = 3, 2
# Two sentences say the same where so much of the shorter one's words is in both.
_SAME, _CERTAINLY_SAME = 0.62, 0.9
_ALIKE = 0.4
_ABOUT_WEIGHT, _SUBJECT_WEIGHT = 0.3, 0.7
_NEARBY_WEIGHT, _SOURCE_WEIGHT = 0.4, 0.6
_AGREEMENT_WEIGHT = 0.2
_WITHOUT_ANSWER, _CUT_OFF, _LATER = 0.5, 0.8, 0.01
_STEPS = re.compile(r"如何|怎么|怎样|步骤|\bhow (?:do|to|can|does|should)\b|\bsteps\b", re.I)
_FIGURE_OR_NAME = re.compile(r"\d+(?:[.,]\d+)*\s*[万亿%‰]?|[A-Z][a-zà-ž]+(?: [A-Z][a-zà-ž]+)+")
_REFERS_BACK = re.compile(
    r"(?:It|Its|They|Their|He|She|His|Her|This|These|That|Those|Such|The (?:former|latter)|However|But|And|Also|Then)\b"
    r"|[其该它他她此这那](?!他|它|外|次|时|后|前|种是)|两者|二者|同时|此外|另外|但|而且|因此|所以|随后|之后|目前为止"
)


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of the sources, and the numbers of those that say it."""

    text: str
    numbers: tuple[int, ...]
    score: float
    says: str = ""
    """The words of it that others contradict."""
    others: tuple[Quote, ...] = ()
    """What other sources say instead, in their sentences."""


@dataclass(slots=True)
class _Scored:
    """A candidate with how well it answers one part of the question."""

    candidate: Candidate
    score: float
    fit: float
    """The share of the question's words that it has."""
    has_answer: bool


@dataclass(slots=True)
class _Pick:
    """A chosen sentence, the sources that say it, and its text with what it needs to be understood."""

    candidate: Candidate
    numbers: list[int]
    score: float
    text: str

    def says(self, other: Candidate) -> bool:
        """Whether ``other`` is part of the text, literally or in other words."""
        return other.text in self.text or _say_the_same(other, self.candidate)

    def quote(self, says: str = "") -> Quote:
        """Return what is shown of it."""
        return Quote(self.text, tuple(sorted(self.numbers)), self.score, says)


def pick_quotes(question: str, evidence: Sequence[Evidence], most: int = 4, about: str = "") -> tuple[Quote, ...]:
    """Return the few sentences that answer ``question`` best, the best first; none where no sentence fits.

    ``about`` is what the question leaves out because it was said before.
    """
    candidates = [candidate for source in evidence for candidate in find_candidates(source)]
    is_chinese = script_language(question) == "zh"
    readable = [candidate for candidate in candidates if (script_language(candidate.text) == "zh") == is_chinese]
    # A sentence in another language is better than none.
    picks = _picks(question, about, readable, most) or _picks(question, about, candidates, most)
    asked = content_stems(question)
    return tuple(_with_others(picks, candidates, asked, {source.number: source.text for source in evidence}))


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


def _picks(question: str, about: str, candidates: list[Candidate], most: int) -> list[_Pick]:
    parts = split_question(question) or ([question] if about else [])
    if not candidates or not parts:
        return []
    picks: list[_Pick] = []
    for part in parts:
        most_for_part = _MAX_FOR_WHOLE if len(parts) == 1 else _MAX_FOR_PART
        _pick_for(part, _scored(part, about, candidates), picks, most, most_for_part)
    return _in_source_order(picks) if _STEPS.search(question) else picks


def _pick_for(part: str, scored: list[_Scored], picks: list[_Pick], most: int, most_for_part: int) -> None:
    """Pick the best candidate for ``part``, then others that are nearly as good and say something else."""
    expected = answer_type(part)
    ranked = sorted(scored, key=lambda each: -each.score)
    best = ranked[0]
    if max(each.fit for each in ranked) < _MIN_FIT:
        return
    is_answer = best.has_answer and best.fit >= _ANSWER_FIT
    least = best.score * (_MIN_SCORE_AFTER_ANSWER if is_answer else _MIN_SCORE)
    taken = 0
    for each in ranked:
        if each.score < least or taken >= most_for_part or len(picks) >= most:
            break
        # After the exact answer, a sentence without it is not needed.
        if each.has_answer or not best.has_answer or not expected.is_exact:
            taken += _take(each.candidate, each.score, picks)


def _scored(part: str, about: str, candidates: list[Candidate]) -> list[_Scored]:
    """Return every candidate with how well it answers ``part``; what it is about may stand elsewhere in its source."""
    expected, asked = answer_type(part), content_stems(part)
    subject = content_stems(about) if about else {}
    asked = {**{stem: _ABOUT_WEIGHT * weight for stem, weight in subject.items()}, **asked}
    ranking = BM25(asked, [candidate.stems for candidate in candidates])
    weights = ranking.weights
    total, most_fit = sum(weights.values()) or 1.0, sum(asked.values())
    found = []
    for candidate, own in zip(candidates, ranking.scores(), strict=True):
        nearby = [stem for stem in asked if stem in candidate.nearby and stem not in candidate.stems]
        fit = sum(weight for stem, weight in asked.items() if stem in candidate.stems)
        fit += 0.5 * sum(asked[stem] for stem in nearby)
        in_source = sum(weight for stem, weight in weights.items() if stem in candidate.source) / total
        has_answer = expected.is_given_by(candidate.text)
        score = own + _NEARBY_WEIGHT * sum(weights[stem] for stem in nearby)
        score *= 1 - _SOURCE_WEIGHT + _SOURCE_WEIGHT * in_source
        score *= (1.0 if has_answer else _WITHOUT_ANSWER) * (_CUT_OFF if candidate.is_cut_off else 1.0)
        score /= 1 + _LATER * min(candidate.position, 20)
        if subject:
            named = sum(
                weight for stem, weight in subject.items() if stem in candidate.stems or stem in candidate.nearby
            )
            score *= 1 - _SUBJECT_WEIGHT + _SUBJECT_WEIGHT * named / sum(subject.values())
        found.append(_Scored(candidate, score, fit / most_fit, has_answer))
    _raise_agreed(part, found)
    return found


def _raise_agreed(part: str, scored: list[_Scored]) -> None:
    """Raise the scores of sentences whose figures or names several sources have, and the question has not."""
    sources: dict[str, set[int]] = {}
    facts = [{fact for fact in _FIGURE_OR_NAME.findall(each.candidate.text) if fact not in part} for each in scored]
    for each, own in zip(scored, facts, strict=True):
        for fact in own:
            sources.setdefault(fact, set()).add(each.candidate.number)
    for each, own in zip(scored, facts, strict=True):
        if own and each.has_answer:
            each.score *= 1 + _AGREEMENT_WEIGHT * min(3, max(len(sources[fact]) for fact in own) - 1)


def _take(candidate: Candidate, score: float, picks: list[_Pick]) -> bool:
    """Add ``candidate`` to the picks, or to one of them; return whether there is one more."""
    same = next((pick for pick in picks if pick.says(candidate)), None)
    if same is not None:
        if candidate.number not in same.numbers and _supports(candidate, same):
            same.numbers.append(candidate.number)
        return False
    before = candidate.before
    if before is not None and _REFERS_BACK.match(candidate.text):
        quoted = next((pick for pick in picks if pick.says(before)), None)
        if quoted is not None:
            # The sentence before is quoted already: this one is added to it, unless it is quoted from another source.
            if quoted.text.endswith(before.text) and quoted.numbers == [candidate.number]:
                quoted.text = _joined(quoted.text, candidate.text)
            return False
    picks.append(_Pick(candidate, [candidate.number], score, _understandable(candidate)))
    return True


def _with_others(
    picks: list[_Pick], candidates: list[Candidate], asked: Mapping[str, float], texts: Mapping[int, str]
) -> Iterator[Quote]:
    """Yield the quotes of the picks; where sources disagree, the side of most origins with what the others say."""
    shown: set[str] = set()
    for pick in picks:
        if pick.candidate.text in shown:
            continue
        sides: dict[str, _Pick] = {}
        for candidate, found in _contradicting(pick, candidates, asked):
            if not sides:
                sides[found.ours.text] = pick
            elif found.ours.text not in sides:
                continue  # It is about something else than the first.
            side = sides.setdefault(found.theirs.text, _Pick(candidate, [], pick.score, _understandable(candidate)))
            side.numbers += [candidate.number] if candidate.number not in side.numbers else []
            shown.add(candidate.text)
        ordered = sorted(sides.items(), key=lambda side: -count_origins([texts[number] for number in side[1].numbers]))
        first, *others = [side.quote(says) for says, side in ordered] or [pick.quote()]
        yield replace(first, others=tuple(others))


def _contradicting(
    pick: _Pick, candidates: list[Candidate], asked: Mapping[str, float]
) -> Iterator[tuple[Candidate, Conflict]]:
    for candidate in candidates:
        if candidate.number in pick.numbers or not _may_say_the_same(candidate, pick.candidate):
            continue
        # Two sentences with all words of the question are about the same, however they go on.
        same_matter = all(_has_all(each, asked) for each in (pick.candidate, candidate))
        if found := disagreement(pick.candidate.text, candidate.text, same_matter):
            yield candidate, found


def _has_all(candidate: Candidate, asked: Mapping[str, float]) -> bool:
    return len(asked) > 1 and all(stem in candidate.stems for stem in asked)


def _may_say_the_same(one: Candidate, other: Candidate) -> bool:
    """Whether two sentences are about the same: they share many words."""
    return len(one.stems.keys() & other.stems.keys()) >= _ALIKE * min(len(one.stems), len(other.stems))


def _say_the_same(one: Candidate, other: Candidate) -> bool:
    common = len(one.stems.keys() & other.stems.keys()) / max(1, min(len(one.stems), len(other.stems)))
    if common < _SAME or conflicts(one.text, other.text):
        return False
    return common > _CERTAINLY_SAME or figures(one.text).stated <= figures(other.text).implied


def _supports(candidate: Candidate, pick: _Pick) -> bool:
    """Whether ``candidate`` may be cited for what was picked: it has most of the words, and every figure."""
    shown = pick.candidate.stems
    common = len(shown.keys() & candidate.stems.keys()) / max(1, len(shown))
    return common >= _SAME and figures(pick.text).stated <= figures(candidate.text).implied


def _understandable(candidate: Candidate) -> str:
    """Return the text, with the sentence before it or the title where it begins by referring back."""
    if not _REFERS_BACK.match(candidate.text):
        return candidate.text
    before = candidate.before.text if candidate.before else ""
    if before and len(before) + len(candidate.text) <= LONGEST and not _REFERS_BACK.match(before):
        return _joined(before, candidate.text)
    if candidate.title and candidate.title not in candidate.text:
        return f"{candidate.title}{': ' if candidate.title.isascii() else '：'}{candidate.text}"
    return candidate.text


def _joined(first: str, second: str) -> str:
    return first + ("" if first[-1] in "。！？”…" else " ") + second


def _in_source_order(picks: list[_Pick]) -> list[_Pick]:
    """Return the picks, best first, except that those of one source keep its order: they may be steps."""
    ordered = list(picks)
    for number in {pick.candidate.number for pick in picks}:
        places = [at for at, pick in enumerate(picks) if pick.candidate.number == number]
        by_position = sorted((picks[at] for at in places), key=lambda pick: pick.candidate.position)
        for at, pick in zip(places, by_position, strict=True):
            ordered[at] = pick
    return ordered
