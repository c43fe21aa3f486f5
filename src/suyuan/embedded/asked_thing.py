"""The thing that a question is about, and which sentences are about another one of its kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ..text.keywords import STOP_WORDS, content_stems
from ..text.scripts import HAN
from ..text.segmenter import tagged
from ..text.tokens import is_frequent
from .evidence import Candidate
from .question_splitter import split_question

_HAN_RUN = re.compile(f"[{HAN}]+")
_CAPITALS = re.compile(r"(?<!^)\b(?!I\b)[A-Z][\w’-]*(?: [A-Z][\w’-]*)*(?: (?P<next>[a-z]+))?")
_YEAR = re.compile(r"(?<!\d)(?:1\d|20)\d\d(?!\d)")
_COUNT = re.compile(r"\d+年?")
_NAME_TAGS = ("nr", "ns", "nt", "nz")
_PARTICLES = "the this that a an its our their his her in on at of and new old"
_NO_NAMES = frozenset(_PARTICLES.split())
_BEFORE = 6


@dataclass(frozen=True, slots=True)
class AskedThing:
    """The part of a thing's name that only it has, and the word for its kind."""

    names: tuple[str, ...] = ()
    """Any of them stands for it; without any the question does not tell what it is about."""
    kind: str = ""
    sources: frozenset[int] = frozenset()
    """The numbers of the sources that name it."""
    years: frozenset[str] = frozenset()
    """The years of the question."""
    of_years: frozenset[int] = frozenset()
    """The sources that name one of them."""
    asked: frozenset[str] = frozenset()
    """The Chinese characters of what is asked about it."""
    _titles: dict[str, bool] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, question: str, texts: Mapping[int, str], about: str = "") -> AskedThing:
        """Read what ``question`` is about; a name that no source has, or a question with parts, tells nothing.

        ``texts`` are the sources with their titles, by number.
        """
        if len(split_question(question)) > 1:
            return cls()
        question = f"{question} {about}"
        years = frozenset(_YEAR.findall(question))
        of_years = frozenset(number for number, text in texts.items() if any(year in text for year in years))
        found = [*_latin(question, list(texts.values())), *_chinese(question)]
        found = [each for each in found if any(name in text for name in each[0] for text in texts.values())]
        if not found:
            return cls(years=years, of_years=of_years)
        kind = found[0][1]
        names = tuple(name for own, of in found if of == kind for name in own)
        sources = (number for number, text in texts.items() if any(name in text for name in names))
        return cls(names, kind, frozenset(sources), years, of_years, _rest(question, *names, kind))

    def is_another(self, candidate: Candidate) -> bool:
        """Whether a sentence is about another thing, by its own words, those around it, or all of its source."""
        if not self.names:
            return False
        if self._is_in(candidate.text):
            return self._names_another(candidate.text) and not self._is_whole_in(candidate.text)
        if candidate.number not in self.sources or self._names_another(candidate.text):
            return True
        before = candidate.before.text if candidate.before else ""
        if self._is_in(before) or self._is_in(candidate.title):
            return False
        return self._has_title_of_another(candidate.title) or self._names_another(before)

    def is_surely_another(self, candidate: Candidate) -> bool:
        """Whether a sentence is about another thing; of a text without a title its own words must show it."""
        return self.is_another(candidate) and (bool(candidate.title) or self._names_another(candidate.text))

    def is_told_in(self, candidate: Candidate) -> bool:
        """Whether a sentence may be about the thing in the year that is asked about."""
        if not self.may_be_of(candidate.number, candidate.title) or self.is_another(candidate):
            return False
        around = f"{candidate.title} {candidate.before.text if candidate.before else ''} {candidate.text}".lower()
        return self._is_in(candidate.text) or self.kind.lower() in around

    def may_be_of(self, number: int, title: str) -> bool:
        """Whether a source may be about the thing in the year that is asked about."""
        if (self.of_years and number not in self.of_years) or (self.names and number not in self.sources):
            return False
        return self._is_in(title) or not self._has_title_of_another(title)

    def has_what_is_asked(self, candidate: Candidate) -> bool:
        """Whether a Chinese sentence has at least a character of what is asked about the thing."""
        return not self.asked or not self.asked.isdisjoint(candidate.text)

    def _is_in(self, text: str) -> bool:
        return any(name in text for name in self.names)

    def _has_title_of_another(self, title: str) -> bool:
        if title not in self._titles:
            self._titles[title] = self._names_another(title)
        return self._titles[title]

    def _is_whole_in(self, text: str) -> bool:
        """Whether its name and its kind stand together; "Long Point Lighthouse, north of Stone Head" is another."""
        gap = " " if self.kind.isascii() else ""
        return any(f"{name}{gap}{self.kind}".lower() in text.lower() for name in self.names)

    def _names_another(self, text: str) -> bool:
        """Whether a name of another thing of the kind stands in a text: "Wren Bridge" for "Tern Bridge"."""
        if not self.kind or self.kind.lower() not in text.lower():
            return False
        if self.kind.isascii():
            named = re.findall(rf"\b([A-Z][\w’-]*) {re.escape(self.kind)}\b", text, re.I)
            return any(name[0].isupper() and name.lower() not in _NO_NAMES for name in named)
        return any(_ends_with_name(text[: at.start()]) for at in re.finditer(re.escape(self.kind), text))


def _latin(question: str, texts: Sequence[str]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield names by their capitals; their last word is a kind where the sources write it small too."""
    for found in _CAPITALS.finditer(question):
        following = found["next"] or ""
        words = found[0].removesuffix(f" {following}").split()
        small = words[-1].lower()
        if len(words) > 1 and any(re.search(rf"\b{re.escape(small)}\b", text) for text in texts):
            yield (" ".join(words[:-1]),), words[-1]
        else:
            yield tuple(words), "" if following in STOP_WORDS else following


def _chinese(question: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield names at the beginning of nouns in a row: 听潮 of 听潮大桥, whose kind comes after it."""
    if not _HAN_RUN.search(question):
        return
    for is_noun, run in groupby(
        tagged(_COUNT.sub(" ", question)), key=lambda each: each[1][0] in "nbj" and not each[0].isascii()
    ):
        words = list(run)
        if is_noun and _is_name(*words[0]):
            yield (words[0][0],), words[1][0] if len(words) > 1 else ""


def _rest(question: str, *names: str) -> frozenset[str]:
    known = {character for name in names for character in name}
    return frozenset(stem for stem in content_stems(question) if _HAN_RUN.fullmatch(stem) and len(stem) == 1) - known


def _is_name(word: str, tag: str) -> bool:
    return len(word) > 1 and (tag[:2] in _NAME_TAGS or not is_frequent(word))


def _ends_with_name(text: str) -> bool:
    run = re.search(f"[{HAN}]+$", text)
    return run is not None and _is_name(*tagged(run[0][-_BEFORE:])[-1])
