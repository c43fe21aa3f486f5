"""The words by which kept texts are found, and what of a query must be in a text.

A text is found by whole words and by their beginnings; of scripts without spaces between words, by any run of
characters. Full-width and half-width forms, upper and lower case are the same; punctuation only separates words.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from operator import add

from .scripts import CJK
from .unicode_forms import in_form, pieces

# Thai to Burmese, Khmer, arrows, symbols, iteration marks, bopomofo, Yi, emoji, and rare Chinese characters.
_UNSPACED = (
    f"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2190-\u21ff\u2600-\u27bf\u3005-\u3007\u3100-\u312f\u31a0-\u31ff"
    f"\ua000-\ua48f{CJK}\U0001f000-\U0001faff\U00020000-\U0003ffff"
)
# As in C++ and C#.
_LETTERS = rf"[^\W_{_UNSPACED}]+[+#]*"
_MAX_WORD = 200
_MAX_QUERY = 200
"""In the form in which it is compared, which may be longer than what was typed."""
_AT_ONCE = 20_000
"""In a longer text the words are looked for one at a time, so that others have their turn."""


@dataclass(frozen=True, slots=True)
class Term:
    """A part of a query that must be in a text as it is."""

    words: tuple[str, ...]
    """The words that must follow one another; of the last one, its beginning."""
    runs: tuple[str, ...]
    """What is written in one piece, letters or characters of a script without spaces."""

    @property
    def sought(self) -> str:
        """What :func:`indexed` of a text contains if the term is in the text."""
        return " " + " ".join(self.words)

    @property
    def is_letter(self) -> bool:
        """Whether it is a single letter or digit, with which many words begin."""
        return len(self.sought) == 2 and _letter().match(self.runs[0]) is not None

    def is_in(self, text: str) -> bool:
        """Whether the term is in a text."""
        if next(self.places(normal(text)), None) is None:
            return False
        # What stands between several pieces may be more than punctuation.
        return len(self.runs) == 1 or self.sought in indexed(text)

    def places(self, shape: str) -> Iterator[tuple[int, int]]:
        """Where it is in a text in its normal form, or nearly."""
        letter = _letter()
        found = _places(self.runs[0], shape) if len(self.runs) == 1 else _joined(shape).places("".join(self.runs))
        for start, end in found:
            is_within_word = start and letter.match(shape[start - 1]) and letter.match(shape[start])
            if not is_within_word:
                yield start, end


def normal(text: str) -> str:
    """``text`` in lower case and without full-width, half-width and other forms of the same characters."""
    return text.lower() if text.isascii() else in_form("NFKC", text).casefold()


def position(text: str, place: int) -> int:
    """Where in ``text`` the character is that is at ``place`` in its normal form."""
    if text.isascii():
        return place
    start = reached = 0
    for piece, formed in pieces("NFKC", text):
        longer = reached + len(formed.casefold())
        if longer >= place:
            break
        start, reached = start + len(piece), longer
    else:
        return len(text)
    return start + bisect_left(range(len(piece)), place - reached, key=lambda end: len(normal(piece[:end])))


def indexed(text: str) -> str:
    """The words of a text, each after a blank: a pair of neighbours for each character of a script without spaces."""
    shape = normal(text)
    if len(shape) <= _AT_ONCE:
        return "".join(" " + word for word in _words(_runs().findall(shape)))
    return "".join(" " + word for word in _words((match[1] or "", match[2] or "") for match in _runs().finditer(shape)))


def terms(query: str) -> list[Term]:
    """What must be in a text that ``query`` finds; a part that is punctuation only says nothing."""
    parts = normal(query[:_MAX_QUERY])[:_MAX_QUERY].split()
    return list(dict.fromkeys(term for part in parts if (term := _term(part))))


def _term(part: str) -> Term | None:
    """Return a part of a query as a term; None where it is only punctuation."""
    runs = _runs().findall(part)
    words = _words(runs)
    if not words:
        return None
    last_run = runs[-1][0]
    if len(last_run) > 1:
        # In a text, its last character may be followed by another one.
        words.pop()
    return Term(tuple(words), tuple(run or word for run, word in runs))


def _words(runs: Iterable[tuple[str, str]]) -> list[str]:
    """Return the words of runs of characters."""
    found: list[str] = []
    for run, word in runs:
        if word:
            found.append(word[:_MAX_WORD])
        else:
            found.extend(map(add, run, run[1:]))
            found.append(run[-1])
    return found


def _places(sought: str, text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each place of ``sought`` in a text, none of which overlap."""
    start = text.find(sought)
    while start >= 0:
        yield start, start + len(sought)
        start = text.find(sought, start + len(sought))


@dataclass(frozen=True, slots=True)
class _Joined:
    """The words of a text without what stands between them.

    To skip what stands between the pieces of a term at every place of a text would take the time of their product.
    """

    text: str
    begins: list[int]
    """Where each word begins, here and in the text."""
    stands: list[int]

    def places(self, sought: str) -> Iterator[tuple[int, int]]:
        """Start and end in the text of each place of ``sought``."""
        for first, end in _places(sought, self.text):
            yield self._in_text(first), self._in_text(end - 1) + 1

    def _in_text(self, place: int) -> int:
        word = bisect_right(self.begins, place) - 1
        return self.stands[word] + place - self.begins[word]


@lru_cache(maxsize=4)
def _joined(shape: str) -> _Joined:
    """The words of a text in its normal form; kept, since each term of a query is looked for."""
    words: list[str] = []
    stands: list[int] = []
    for match in _runs().finditer(shape):
        words.append(match[0])
        stands.append(match.start())
    begins = list(accumulate(map(len, words), initial=0))[: len(words)]
    return _Joined("".join(words), begins, stands)


@cache
def _runs() -> re.Pattern[str]:
    return re.compile(rf"([{_UNSPACED}]+)|({_LETTERS})")


@cache
def _letter() -> re.Pattern[str]:
    return re.compile(rf"[^\W_{_UNSPACED}]")
