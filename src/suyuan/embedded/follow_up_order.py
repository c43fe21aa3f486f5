"""Which of the quotes answers a follow-up: that one stands first, and what is about something else is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from ..text.keywords import content_stems, weight_in
from ..text.words import stems
from .answer_type import answer_type
from .follow_up import Resolved
from .quote import Quote

# What counts for a quote: the words that are new in the message, all that is asked, its subject, an answer of the
# expected type and unit, focus and subject close together, a whole sentence; and against it: that it was the answer
# before, that sources disagree about it, that it is about something else, and every place that it stands behind others.
_FOCUS, _ASKED, _SUBJECT, _TYPE, _UNIT, _CLOSE, _WHOLE = 0.4, 0.3, 0.8, 0.3, 0.4, 0.5, 0.4
_SAID, _DISPUTED, _OF_ANOTHER, _PLACE = 0.4, 0.3, 0.5, 0.1
_IN_TITLE = 0.5
"""How much a subject counts that only the title of the page names."""
_NEAR = 12.0
"""The characters between focus and subject at which closeness counts half."""
_END = re.compile(r"[.。!！?？…]\W*$")


def answer_first(
    quotes: Sequence[Quote], resolved: Resolved, said: str, titles: Mapping[int, str]
) -> tuple[Quote, ...]:
    """Return ``quotes`` with the one that answers the follow-up first; ``said`` is the answer before."""
    if not resolved.focus and not resolved.about:
        return tuple(quotes)
    fits = [_fit(quote, resolved, said, titles) - _PLACE * place for place, quote in enumerate(quotes)]
    best = fits.index(max(fits))
    others = [*quotes[:best], *quotes[best + 1 :]]
    return quotes[best], *(quote for quote in others if not _is_about_other(quote.text, resolved))


def _fit(quote: Quote, resolved: Resolved, said: str, titles: Mapping[int, str]) -> float:
    """Return how well a quote answers the message."""
    text, expected = quote.text, answer_type(resolved.question)
    own = set(stems(text))
    titled = own.union(*(stems(titles.get(number, "")) for number in quote.numbers))
    asked, focus, subject = map(content_stems, (resolved.question, resolved.focus, resolved.about))
    in_text, anywhere = _share(subject, own), _share(subject, titled)
    is_of_type = bool(expected.kinds) and expected.is_given_by(text)
    was_said = text.rstrip(" .。") in said.lstrip("- ").split("\n", 1)[0]
    values = (
        (_FOCUS, _share(focus, own)),
        (_ASKED, _share(asked, own)),
        (_SUBJECT, in_text + _IN_TITLE * (anywhere - in_text)),
        (_TYPE, is_of_type),
        (_UNIT, expected.unit_fit(text)),
        (_CLOSE, _closeness(text, resolved.focus or resolved.question, resolved.about)),
        (_WHOLE, _END.search(text) is not None),
        (-_DISPUTED, bool(quote.others)),
        (-1.0, _is_about_other(text, resolved)),
        (-_OF_ANOTHER, _is_of_another(text, resolved)),
        (-_SAID, was_said),
    )
    return sum(weight * value for weight, value in values)


def _is_about_other(text: str, resolved: Resolved) -> bool:
    """Whether a sentence is about what the question before was about, and not about this."""
    if not resolved.replaced:
        return False
    return resolved.replaced in text and resolved.focus not in text


def _is_of_another(text: str, resolved: Resolved) -> bool:
    """Whether it is "the diameter of the Earth" where the diameter of the Moon is asked for."""
    if not resolved.focus or not resolved.about:
        return False
    words = "|".join(map(re.escape, resolved.focus.split()))
    owners = re.findall(rf"\b(?:{words}) of (?:the )?([A-Z]\w+)", text)
    return bool(owners) and not any(owner in resolved.about for owner in owners)


def _share(weights: Mapping[str, float], words: set[str]) -> float:
    """Return the share of weighted words that are among others."""
    if not weights:
        return 0.0
    return weight_in(weights, words) / sum(weights.values())


def _closeness(text: str, focus: str, subject: str) -> float:
    """Return how near a word of the focus stands behind one of the subject, from 0 to 1."""
    starts = [start for start, _ in _places(text, focus)]
    ends = [end for _, end in _places(text, subject)]
    distances = [start - end for start, end in product(starts, ends) if start >= end]
    return 1 / (1 + min(distances) / _NEAR) if distances else 0.0


def _places(text: str, phrase: str) -> Iterator[tuple[int, int]]:
    """Yield where a text has words of a phrase, or what they begin with."""
    wanted = {stem for stem in (*phrase.lower().split(), *stems(phrase)) if len(stem) > 1}
    for word in wanted:
        yield from (match.span() for match in re.finditer(re.escape(word), text.lower()))
