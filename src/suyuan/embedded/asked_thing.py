"""Which sentences may be about the thing that a question names, and which are of pages about another such thing.

The titles of the sources show it. Where one asks about the Tern Bridge, a page "Wren Bridge" is about another one: of
the name, "Bridge" only says what kind of thing it is, and the part that tells it from others is "Tern".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..text.keywords import STOP_WORDS, content_stems, without_request
from ..text.scripts import HAN
from ..text.segmenter import tagged
from ..text.words import stems
from .evidence import Candidate
from .topic import find_names

_MIN_NAME = 2
# 听潮大桥: two characters tell which, the last two what kind of thing.
_WITH_KIND = 4
_BETWEEN_THINGS = re.compile(r"[和与跟比或、，,]|还是")
# The time stands before the subject of a Chinese question.
_BEGINNING = re.compile(rf"(?:\d+年(?:\d+月)?|现在|目前|如今|今年|去年)?的?(?P<rest>[{HAN}A-Za-z·-]+)")
_NEXT_WORD = re.compile(r"\s+([a-z]{3,})")
_NAME_IN_TITLE = re.compile(r"(?<=\s)[A-Z][a-z]{2,}")
_NAME_TAGS = ("ns", "nr", "nt")
# Marks, pronouns, prepositions, particles and others: a kind of thing after them has no name of its own.
_NO_NAME_TAGS = "xrpcudyzqbt"
_MAX_WORD = 8


@dataclass(frozen=True, slots=True)
class Subject:
    """What a question names, as the sentences of its sources that may be about it, each by its identity."""

    excluded: frozenset[int] = frozenset()
    """Those about something else."""
    secondary: frozenset[int] = frozenset()
    """Those of pages whose titles do not name it, where the title of another page does."""
    is_named: bool = True
    """Whether a source names it at all."""

    @classmethod
    def of(cls, question: str, candidates: Sequence[Candidate], about: str = "") -> Subject:
        """Read what ``question`` names; ``about`` is what it leaves out as said before.

        No sentence may be about it where all sources are about other things of the same kind.
        """
        sources = _Sources.of(candidates)
        own = _things(question, sources)
        named = [thing for thing in own or _things_said(about, sources) if sources.name(thing)]
        if named:
            return cls._by_names(named, candidates, sources, f"{question} {about}")
        if not own:
            return cls._by_words(question, about, candidates, sources)
        if all(thing.kind for thing in own):
            return cls(_ids(candidates), is_named=False)
        return cls(is_named=False)

    @classmethod
    def _by_names(
        cls, things: Sequence[_Thing], candidates: Sequence[Candidate], sources: _Sources, asked: str
    ) -> Subject:
        """Exclude the sentences that cannot be about one of the things that a source names."""
        excluded = [
            candidate
            for candidate in candidates
            if not any(_may_be_about(candidate, thing, sources, asked) for thing in things)
        ]
        titled = {number for number, title in sources.titles.items() if any(thing.key in title for thing in things)}
        return cls(_ids(excluded), _outside(titled, candidates))

    @classmethod
    def _by_words(cls, question: str, about: str, candidates: Sequence[Candidate], sources: _Sources) -> Subject:
        """Exclude, without a name, the sources that have no word of what was said before, or of the question."""
        words = {*content_stems(question), *content_stems(about)}
        said = {stem for stem in content_stems(about) if len(stem) > 1} or words
        excluded = [candidate for candidate in candidates if candidate.source.isdisjoint(said)]
        if len(excluded) == len(candidates):
            excluded = []
        if not question.isascii():
            return cls(_ids(excluded), is_named=sources.have_name_of(question))
        titled = {number for number, title in sources.titles.items() if not words.isdisjoint(stems(title))}
        return cls(_ids(excluded), _outside(titled, candidates))

    def allows(self, candidate: Candidate) -> bool:
        """Whether a sentence may be about it."""
        return id(candidate) not in self.excluded


@dataclass(frozen=True, slots=True)
class _Sources:
    """The titles of the sources, and their texts with the title as the first line, in small letters."""

    titles: dict[int, str]
    texts: dict[int, str]

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> _Sources:
        """Put the sentences of each source together."""
        written = _written(candidates)
        titles = {candidate.number: candidate.title.lower() for candidate in candidates}
        return cls(titles, {number: text.lower() for number, text in written.items()})

    @property
    def have_titles(self) -> bool:
        """Whether any source has a title."""
        return any(self.titles.values())

    def name(self, thing: _Thing) -> bool:
        """Whether a source names a thing."""
        return any(map(thing.is_named_by, self.texts.values()))

    def have_thing(self, word: str) -> bool:
        """Whether a source speaks of a thing by a common noun: "the bridge"."""
        return any(f"the {word} " in text for text in self.texts.values())

    def have_name_of(self, question: str) -> bool:
        """Whether a source has a place, a person or an organisation of a Chinese question, if it names any."""
        names = [word.lower() for word, tag in tagged(question) if tag[:2] in _NAME_TAGS and len(word) > 1]
        every = "\n".join(self.texts.values())
        return not names or any(name in every for name in names)


def _written(candidates: Sequence[Candidate]) -> dict[int, str]:
    """Return the text of each source with its title as the first line."""
    lines: dict[int, list[str]] = {}
    for candidate in candidates:
        lines.setdefault(candidate.number, [candidate.title]).append(candidate.text)
    return {number: "\n".join(own) for number, own in lines.items()}


def _outside(titled: set[int], candidates: Sequence[Candidate]) -> frozenset[int]:
    """Return the sentences of other sources than those whose titles name the subject, where there are such titles."""
    if not titled:
        return frozenset()
    return _ids(candidate for candidate in candidates if candidate.number not in titled)


@dataclass(frozen=True, slots=True)
class _Thing:
    """A thing that a question names, in small letters."""

    name: str
    key: str
    """The part that tells it from other things."""
    kind: str = ""
    """What kind of thing it is, where a source is about another one of this kind."""
    noun: str = ""
    """The word after the name that says what of it is meant: the Port Ember library."""

    def is_named_by(self, text: str) -> bool:
        """Whether a source, with its title as the first line, names it; Helga Strand is not the Strand Bridge."""
        if self.noun not in text:
            return False
        whole = self.name if self.kind else self.key
        return self.key in text.partition("\n")[0] or whole in text


def sources_about_others(question: str, candidates: Sequence[Candidate]) -> frozenset[int]:
    """Return the numbers of the sources that name another thing of the kind and nowhere the one of ``question``.

    A source that names neither may still be about it: it says "this bridge", or has the name in another form.
    """
    sources = _Sources.of(candidates)
    things = _things(question, sources)
    if not things:
        return frozenset()
    kinds = {thing.name: thing.kind or _word_after(thing.name, question, sources) for thing in things}
    return frozenset(
        number
        for number, text in _written(candidates).items()
        if all(name not in sources.texts[number] and _names_other(text, kind, name) for name, kind in kinds.items())
    )


def _names_other(text: str, kind: str, name: str) -> bool:
    """Whether a source names another thing of ``kind``, in Chinese by its title."""
    if not kind:
        return False
    if kind.isascii():
        other = rf"\b(?!The |This |Our )[A-Z][a-z]+ (?i:{re.escape(kind)})\b"
        return re.search(other, text) is not None
    title = text.partition("\n")[0].lower()
    return any(_is_named(title[: match.start()], name) for match in re.finditer(re.escape(kind), title))


def _is_named(before: str, name: str) -> bool:
    """Whether what stands before the kind of a Chinese thing is a name, and not "this" or "of the"."""
    # Of 世界杯, more than the last two characters say what it is.
    for character in reversed(name[:-_MIN_NAME]):
        if not before.endswith(character):
            break
        before = before[:-1]
    words = tagged(before[-_MAX_WORD:])
    if not words:
        return False
    word, tag = words[-1]
    return word != "是" and tag[0] not in _NO_NAME_TAGS


def _ids(candidates: Iterable[Candidate]) -> frozenset[int]:
    return frozenset(map(id, candidates))


def _may_be_about(candidate: Candidate, thing: _Thing, sources: _Sources, asked: str) -> bool:
    """Whether a sentence may be about a thing: it is named beside it, or its page is about nothing else."""
    text, title = sources.texts[candidate.number], candidate.title.lower()
    if thing.noun not in text:
        return False
    before = candidate.before.text if candidate.before else ""
    if thing.key in title or thing.key in f"{before}\n{candidate.text}".lower():
        return True
    others = (name for name in _NAME_IN_TITLE.findall(candidate.title) if name not in asked)
    if any(name in candidate.text for name in others):
        return False
    is_of_other_page = thing.kind and thing.kind in title
    return not is_of_other_page and thing.is_named_by(text)


def _things(question: str, sources: _Sources) -> list[_Thing]:
    """Return the things that a question names."""
    if not question or not sources.have_titles:
        return []
    if question.isascii():
        return [_english(name, question, sources) for name in find_names(question)]
    parts = _BETWEEN_THINGS.split(without_request(question))
    return list(filter(None, (_chinese(part, sources) for part in parts)))


def _english(written: str, question: str, sources: _Sources) -> _Thing:
    """Read a name: its last word says what kind of thing it is where a title has it with other words before it."""
    name = written.lower()
    first, _, kind = name.rpartition(" ")
    titles = sources.titles.items()
    has_other = first and any(kind in title.split() and first not in title for _, title in titles)
    # A surname is the last word too, but no text has "the obama".
    if has_other and sources.have_thing(kind):
        return _Thing(name, first, kind)
    noun = _word_after(name, question, sources)
    if any(noun in title and name in sources.texts[number] for number, title in titles):
        return _Thing(name, name, noun=noun)
    return _Thing(name, name)


def _word_after(name: str, question: str, sources: _Sources) -> str:
    """Return the word after a name that says what of it is meant."""
    after = _NEXT_WORD.match(question, question.lower().find(name) + len(name))
    if after is None or after[1] in STOP_WORDS:
        return ""
    return after[1] if sources.have_thing(after[1]) else ""


def _things_said(about: str, sources: _Sources) -> list[_Thing]:
    """Read what was said before, as far as a source has it: of "Osk Labs Leafpad" it may be "Osk Labs"."""
    name = _beginning_in(about, "\n".join(sources.texts.values()))
    if not name.isascii() or not sources.have_titles:
        return _things(name, sources)
    return [_english(name, about, sources)] if name[:1].isupper() else []


def _beginning_in(about: str, text: str) -> str:
    """Return the most words at the beginning of ``about`` that a text in small letters has."""
    words = about.split()
    for end in range(len(words), 0, -1):
        beginning = " ".join(words[:end])
        if re.search(rf"{re.escape(beginning.lower())}(?![a-z])", text):
            return beginning
    return ""


def _chinese(part: str, sources: _Sources) -> _Thing | None:
    """Return the beginning of a question that a title has."""
    match = _BEGINNING.match(part.strip().lower())
    beginning = match["rest"] if match else ""
    titles = "\n".join(sources.titles.values())
    ends = range(len(beginning), _MIN_NAME - 1, -1)
    name = next((beginning[:end] for end in ends if beginning[:end] in titles), "")
    if not name:
        return None
    if len(name) < _WITH_KIND:
        return _Thing(name, name)
    return _Thing(name, name[:_MIN_NAME], name[-_MIN_NAME:])
