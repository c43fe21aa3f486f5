"""A quote: sentences of a source, each with the numbers of the sources that say it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

_FINAL_MARK = re.compile(r"[。．.!！?？;；]?$")
_DOTS = re.compile(r"(?<!\s)\s*+(?:(?<!\.)\.{3,}+|(?<!…)…++)$")
_DOTS_AFTER_SENTENCE = re.compile(r"(?<=[。！？.!?])…$")


def cited(text: str, numbers: Sequence[int]) -> str:
    """Return a sentence with its numbers before the full stop, so that they do not belong to the next one."""
    text = _DOTS_AFTER_SENTENCE.sub("", _DOTS.sub("…", text))
    end = _FINAL_MARK.search(text)
    at = end.start() if end else len(text)
    return text[:at] + "".join(f"[{number}]" for number in numbers if number) + text[at:]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A quoted sentence, and where in which source it stands."""

    text: str
    numbers: tuple[int, ...]
    place: tuple[int, int, int]
    """The number of the source, the paragraph, and which sentence of the source it is."""
    lead: str = ""
    """The title of the page, where the sentence cannot be understood without it."""


@dataclass(frozen=True, slots=True)
class Quote:
    """What the sources say, and the numbers of those that say it."""

    text: str
    numbers: tuple[int, ...]
    score: float
    date: str = ""
    """The day as of which it holds, where the newest is asked for."""
    says: str = ""
    """The words of it that others contradict."""
    others: tuple[Quote, ...] = ()
    """What other sources say instead, in their sentences."""
    sentences: tuple[Sentence, ...] = ()

    @property
    def written(self) -> str:
        """The sentences, each with its numbers."""
        if not self.sentences:
            return cited(self.text, self.numbers)
        return joined(self.sentences[0].lead, *(cited(each.text, each.numbers) for each in self.sentences))

    def adjoins(self, other: Quote) -> bool:
        """Whether the sentences of both stand side by side in one paragraph of a source."""
        return not (self.others or other.others) and any(
            ours.place[:2] == theirs.place[:2] and abs(ours.place[2] - theirs.place[2]) <= 1
            for ours in self.sentences
            for theirs in other.sentences
        )

    def with_sentences_of(self, other: Quote) -> Quote:
        """Return both as one passage, in the order of the source."""
        by_place = {each.place: each for each in (*other.sentences, *self.sentences)}
        sentences = tuple(by_place[place] for place in sorted(by_place))
        text = joined(sentences[0].lead, *(each.text for each in sentences))
        return replace(self, text=text, sentences=sentences)


def joined(*parts: str) -> str:
    """Return sentences as one text."""
    text = ""
    for part in filter(None, parts):
        text += part if not text or text[-1] in "。！？”…：" else f" {part}"
    return text


def join_neighbours(quotes: Sequence[Quote]) -> tuple[Quote, ...]:
    """Return ``quotes`` with those whose sentences stand side by side in a source as one passage, best first."""
    found: list[Quote] = []
    for quote in quotes:
        # One sentence may close the gap between two that were quoted before it.
        beside = [each for each in found if each.adjoins(quote)]
        at = found.index(beside[0]) if beside else len(found)
        found = [each for each in found if each not in beside]
        for each in beside[1:]:
            quote = each.with_sentences_of(quote)
        found.insert(at, beside[0].with_sentences_of(quote) if beside else quote)
    return tuple(found)
