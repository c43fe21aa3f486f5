"""Which sentences may be about the thing that a question names, and which are of pages about another such thing.

The titles of the sources show it. Where one asks about the Tern Bridge, a page "Wren Bridge" is about another one: of
the name, "Bridge" only says what kind of thing it is, and the part that tells it from others is "Tern".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..text.keywords import STOP_WORDS, content_stems, without_request
from ..text.scripts import HAN
from ..text.segmenter import tagged
from ..text.words import stems
from .evidence import Candidate
from .topic import find_names

_LEAST = 2
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
_LONGEST_WORD = 8


@dataclass(frozen=True, slots=True)
class AskedThing:
    """What a question names, as the sentences of its sources that may be about it, each by its identity."""

    barred: frozenset[int] = frozenset()
    """Those about something else."""
    beside: frozenset[int] = frozenset()
    """Those of pages whose titles do not name it, where the title of another page does."""
    is_named: bool = True
    """Whether a source names it at all."""

    @classmethod
    def of(cls, question: str, candidates: Sequence[Candidate], about: str = "") -> AskedThing:
        """Read what ``question`` names; ``about`` is what it leaves out as said before.

        No sentence may be about it where all sources are about other things of the same kind.
        """
        titles, texts = _by_source(candidates)
        own = _things(question, titles, texts)
        things = own or _said(about, titles, texts)
        named = [thing for thing in things if any(map(thing.is_named_by, texts.values()))]
        if own and not named:
            return cls(_ids(candidates) if all(thing.kind for thing in own) else frozenset(), is_named=False)
        if not named:
            return _by_words(question, about, candidates, texts)
        asked = f"{question} {about}"
        barred = [each for each in candidates if not any(_may_be_about(each, one, texts, asked) for one in named)]
        keyed = {number for number, title in titles.items() if any(one.key in title for one in named)}
        return cls(_ids(barred), _ids(each for each in candidates if keyed and each.number not in keyed))

    def allows(self, candidate: Candidate) -> bool:
        """Whether a sentence may be about it."""
        return id(candidate) not in self.barred


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
    titles, texts = _by_source(candidates)
    things = _things(question, titles, texts)
    kinds = {thing.name: thing.kind or _word_after(thing.name, question, texts) for thing in things}
    written: dict[int, str] = {}
    for each in candidates:
        written[each.number] = f"{written.get(each.number, each.title)}\n{each.text}"
    return frozenset(
        number
        for number, text in texts.items()
        if things and all(name not in text and _names_other(written[number], kinds[name], name) for name in kinds)
    )


def _names_other(text: str, kind: str, name: str) -> bool:
    """Whether a source names another thing of ``kind``, in Chinese by its title."""
    if not kind or kind.isascii():
        return bool(kind) and re.search(rf"\b(?!The |This |Our )[A-Z][a-z]+ (?i:{re.escape(kind)})\b", text) is not None
    title = text.partition("\n")[0].lower()
    return any(_is_named(title[: found.start()], name) for found in re.finditer(re.escape(kind), title))


def _is_named(before: str, name: str) -> bool:
    """Whether what stands before the kind of a Chinese thing is a name, and not "this" or "of the"."""
    at = len(name) - _LEAST
    while at and before.endswith(name[at - 1]):
        before, at = before[:-1], at - 1  # Of 世界杯, more than the last two characters say what it is.
    word, tag = [("", "x"), *tagged(before[-_LONGEST_WORD:])][-1]
    return tag[0] not in _NO_NAME_TAGS and word != "是"


def _by_source(candidates: Sequence[Candidate]) -> tuple[dict[int, str], dict[int, str]]:
    """Return the titles of the sources, and their texts with the title as the first line, in small letters."""
    titles = {each.number: each.title.lower() for each in candidates}
    lines = {number: [title] for number, title in titles.items()}
    for each in candidates:
        lines[each.number].append(each.text.lower())
    return titles, {number: "\n".join(found) for number, found in lines.items()}


def _by_words(question: str, about: str, candidates: Sequence[Candidate], texts: Mapping[int, str]) -> AskedThing:
    """Without a name: a source that has no word of what was said before, or of the question, is about another thing."""
    words = {*content_stems(question), *content_stems(about)}
    said = {stem for stem in content_stems(about) if len(stem) > 1} or words
    barred = [each for each in candidates if each.source.isdisjoint(said)]
    titled = {each.number for each in candidates if question.isascii() and not words.isdisjoint(stems(each.title))}
    return AskedThing(
        _ids(barred) if len(barred) < len(candidates) else frozenset(),
        _ids(each for each in candidates if titled and each.number not in titled),
        not _names_what_none_has(question, texts),
    )


def _ids(candidates: Iterable[Candidate]) -> frozenset[int]:
    return frozenset(map(id, candidates))


def _may_be_about(candidate: Candidate, thing: _Thing, texts: Mapping[int, str], asked: str) -> bool:
    text, title = texts[candidate.number], candidate.title.lower()
    if thing.noun not in text:
        return False
    before = candidate.before.text if candidate.before else ""
    if thing.key in title or thing.key in f"{before}\n{candidate.text}".lower():
        return True
    others = (name for name in _NAME_IN_TITLE.findall(candidate.title) if name not in asked)
    of_another = any(name in candidate.text for name in others)
    return not of_another and not (thing.kind and thing.kind in title) and thing.is_named_by(text)


def _things(question: str, titles: Mapping[int, str], texts: Mapping[int, str]) -> list[_Thing]:
    if not question or not any(titles.values()):
        return []
    if question.isascii():
        return [_english(name, question, titles, texts) for name in find_names(question)]
    parts = _BETWEEN_THINGS.split(without_request(question))
    return [thing for part in parts if (thing := _chinese(part, titles))]


def _english(written: str, question: str, titles: Mapping[int, str], texts: Mapping[int, str]) -> _Thing:
    """Read a name: its last word says what kind of thing it is where a title has it with other words before it."""
    name = written.lower()
    first, _, kind = name.rpartition(" ")
    others = (title for title in titles.values() if first and kind in title.split() and first not in title)
    # A surname is the last word too, but no text has "the obama".
    if next(others, "") and _is_thing(kind, texts):
        return _Thing(name, first, kind)
    noun = _word_after(name, question, texts)
    is_page = any(noun in title and name in texts[number] for number, title in titles.items())
    return _Thing(name, name, noun=noun if is_page else "")


def _word_after(name: str, question: str, texts: Mapping[int, str]) -> str:
    """Return the word after a name that says what of it is meant."""
    after = _NEXT_WORD.match(question, question.lower().find(name) + len(name))
    return after[1] if after and after[1] not in STOP_WORDS and _is_thing(after[1], texts) else ""


def _said(about: str, titles: Mapping[int, str], texts: Mapping[int, str]) -> list[_Thing]:
    """Read what was said before, as far as a source has it: of "Osk Labs Leafpad" it may be "Osk Labs"."""
    words = about.split()
    beginnings = (" ".join(words[:end]) for end in range(len(words), 0, -1))
    every = "\n".join(texts.values())
    name = next((each for each in beginnings if re.search(rf"{re.escape(each.lower())}(?![a-z])", every)), "")
    if not name.isascii() or not any(titles.values()):
        return _things(name, titles, texts)
    return [_english(name, about, titles, texts)] if name[:1].isupper() else []


def _is_thing(word: str, texts: Mapping[int, str]) -> bool:
    return any(f"the {word} " in text for text in texts.values())


def _chinese(part: str, titles: Mapping[int, str]) -> _Thing | None:
    """Return the beginning of a question that a title has."""
    beginning = found["rest"] if (found := _BEGINNING.match(part.strip().lower())) else ""
    ends = range(len(beginning), _LEAST - 1, -1)
    name = next((beginning[:end] for end in ends if any(beginning[:end] in title for title in titles.values())), "")
    if not name:
        return None
    return _Thing(name, name[:_LEAST], name[-_LEAST:]) if len(name) >= _WITH_KIND else _Thing(name, name)


def _names_what_none_has(question: str, texts: Mapping[int, str]) -> bool:
    """Whether a Chinese question names a place, a person or an organisation that is in no source."""
    if question.isascii():
        return False
    names = [word.lower() for word, tag in tagged(question) if tag[:2] in _NAME_TAGS and len(word) > 1]
    return bool(names) and not any(name in text for name in names for text in texts.values())
