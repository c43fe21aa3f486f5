"""Which of the quotes answers a follow-up: that one stands first, and what is about something else is left out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..text.keywords import content_stems
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
    places = range(len(quotes))
    fits = [_fit(quotes[place], resolved, said, titles) - _PLACE * place for place in places]
    first = max(places, key=fits.__getitem__, default=0)
    others = [place for place in places if place != first and not _is_about_other(quotes[place].text, resolved)]
    return tuple(quotes[place] for place in (first, *others))


def _fit(quote: Quote, resolved: Resolved, said: str, titles: Mapping[int, str]) -> float:
    text = quote.text
    own, titled = set(stems(text)), {stem for number in quote.numbers for stem in stems(titles.get(number, ""))}
    asked, focus, subject = map(content_stems, (resolved.question, resolved.focus, resolved.about))
    expected = answer_type(resolved.question)
    in_text, anywhere = _share(subject, own), _share(subject, own | titled)
    fit = _FOCUS * _share(focus, own) + _ASKED * _share(asked, own)
    fit += _SUBJECT * (in_text + _IN_TITLE * (anywhere - in_text))
    fit += _TYPE * (bool(expected.kinds) and expected.is_given_by(text)) + _UNIT * expected.unit_fit(text)
    fit += _CLOSE * _closeness(text, resolved.focus or resolved.question, resolved.about)
    fit += _WHOLE * bool(_END.search(text)) - _DISPUTED * bool(quote.others)
    fit -= _is_about_other(text, resolved) + _OF_ANOTHER * _is_of_another(text, resolved)
    return fit - _SAID * (text.rstrip(" .。") in said.lstrip("- ").split("\n", 1)[0])


def _is_about_other(text: str, resolved: Resolved) -> bool:
    """Whether a sentence is about what the question before was about, and not about this."""
    return bool(resolved.replaced) and resolved.replaced in text and resolved.focus not in text


def _is_of_another(text: str, resolved: Resolved) -> bool:
    """Whether it is "the diameter of the Earth" where the diameter of the Moon is asked for."""
    words = "|".join(map(re.escape, resolved.focus.split()))
    owners = re.findall(rf"\b(?:{words}) of (?:the )?([A-Z]\w+)", text) if words and resolved.about else []
    return bool(owners) and not any(owner in resolved.about for owner in owners)


def _share(weights: Mapping[str, float], held: set[str]) -> float:
    total = sum(weights.values())
    return sum(weight for stem, weight in weights.items() if stem in held) / total if total else 0.0


def _closeness(text: str, focus: str, subject: str) -> float:
    """Return how near a word of the focus stands behind one of the subject, from 0 to 1."""
    ours, theirs = (_places(text, part) for part in (focus, subject))
    distance = min((one - end for one, _ in ours for _, end in theirs if one >= end), default=None)
    return 0.0 if distance is None else 1 / (1 + distance / _NEAR)


def _places(text: str, words: str) -> list[tuple[int, int]]:
    wanted = {stem for word in words.split() for stem in [word.lower(), *stems(word)] if len(stem) > 1}
    return [found.span() for word in wanted for found in re.finditer(re.escape(word), text.lower())]
