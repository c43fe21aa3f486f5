"""A quote: sentences of a source, each with the numbers of the sources that say it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

_FINAL_MARK = re.compile(r"[。．.!！?？;；]?$")
_DOTS = re.compile(r"(?<!\s)\s*+(?:(?<!\.)\.{3,}+|(?<!…)…++)$")
_ENDS_WITHOUT_SPACE = "。！？”…："
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

    def adjoins(self, other: Sentence) -> bool:
        """Whether both stand side by side in one paragraph of a source."""
        *paragraph, position = self.place
        *other_paragraph, other_position = other.place
        return paragraph == other_paragraph and abs(position - other_position) <= 1


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
        written = (cited(sentence.text, sentence.numbers) for sentence in self.sentences)
        return joined(self.sentences[0].lead, *written)

    def adjoins(self, other: Quote) -> bool:
        """Whether the sentences of both stand side by side in one paragraph of a source."""
        if self.others or other.others:
            return False
        return any(ours.adjoins(theirs) for ours, theirs in product(self.sentences, other.sentences))

    def with_sentences_of(self, other: Quote) -> Quote:
        """Return both as one passage, in the order of the source."""
        by_place = {sentence.place: sentence for sentence in (*other.sentences, *self.sentences)}
        sentences = tuple(by_place[place] for place in sorted(by_place))
        text = joined(sentences[0].lead, *(sentence.text for sentence in sentences))
        return replace(self, text=text, sentences=sentences)


def joined(*parts: str) -> str:
    """Return sentences as one text."""
    text = ""
    for part in filter(None, parts):
        text += f" {part}" if text and text[-1] not in _ENDS_WITHOUT_SPACE else part
    return text


def join_neighbours(quotes: Sequence[Quote]) -> tuple[Quote, ...]:
    """Return ``quotes`` with those whose sentences stand side by side in a source as one passage, best first."""
    passages: list[Quote] = []
    for quote in quotes:
        # One sentence may close the gap between two that were quoted before it.
        adjoining = [passage for passage in passages if passage.adjoins(quote)]
        if not adjoining:
            passages.append(quote)
            continue
        at = passages.index(adjoining[0])
        passage = quote
        for neighbour in (*adjoining[1:], adjoining[0]):
            passage = neighbour.with_sentences_of(passage)
        passages = [other for other in passages if other not in adjoining]
        passages.insert(at, passage)
    return tuple(passages)
