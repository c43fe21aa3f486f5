"""Messages that lean on what was said before: what they ask, what they are about, and how to search for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..text.dates import YEAR
from ..text.keywords import content_stems, content_words, keywords, without_request
from ..text.tokens import is_name, tokens
from ..text.words import stems, words
from .topic import figure_meant, find_name, find_topic, named_in, nouns_meant

PRONOUN = re.compile(
    r"\b(?:it|its|itself|they|them|their|theirs|he|him|his|she|her|hers|that one|those|these|the same|the former"
    r"|the latter|the other|(?:an?|any|which|even|first|last|new|old)(?: \w+)? ones?)\b"
    r"|\b(?:this|that)\b(?! (?:year|month|week|day|morning|evening|century|is\b))"
    r"|\bthere\b(?! (?:is|are|was|were|any|a|an)\b)"
    r"|它|[他她]们?|(?<!应)该(?!不该)|[这那][个些种里家座款部项次届位本条]|其中|前者|后者|另一个|这样",
    re.I,
)
# "What about Lyon?", "And in 2025?", "那里昂呢？": the same question about something else.
_SAME_ABOUT = re.compile(
    r"\s*+(?:and\s++|but\s++|so\s++)?(?:what|how)\s++about\s++(?:the\s++|in\s++)?(?P<latin>[^?？]++)[?？]?\s*+$"
    r"|\s*+and\s++(?:(?P<preposition>in|for|of|at|on|from|to)\s++)?(?:the\s++)?(?P<other>(?!what|how|who|when|where|why|which|is|are|was|were|did|does|do|can)"
    r"[^?？]{1,30})[?？]\s*+$"
    r"|\s*+(?:那么?|还有)?[,，]?\s*+(?P<han>[^?？,，]{1,20}?)呢[?？]?\s*+$",
    re.I,
)
_CONTINUES = re.compile(
    r"\s*(?:and|but|so|then|also|why|how so)\b|\s*(?:那么|那|还有|然后|再|为什么|为何|怎么会)", re.I
)
_DEFINITE = re.compile(r"\bthe ([a-z]+)\b")
# What a Chinese question is about mostly stands before its first "的".
_OF = re.compile(r"(?P<thing>[^的，,？?]{2,12})(?=的)(?:的(?P<property>[^的，,？?是有多]{2,8})(?=[是有多]))?")
_LATIN_OR_DIGIT = re.compile("[A-Za-z0-9]")
_FEW_WORDS, _FEW_CHARACTERS, _SHORT = 1, 10, 8
_MIN_SHARE = 0.6
_ENDING = 2
"""The characters in which names side by side are alike."""
# "What is a bloom filter?" begins a new subject.
_DEFINES = re.compile(r"\s*(?:what|who)\s+(?:is|are|was|were)\s+(?:an?\s+)?[\w-]+(?:\s+[\w-]+)?\s*\?", re.I)


@dataclass(frozen=True, slots=True)
class Said:
    """An earlier question and its answer."""

    question: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A message with what it leaves out."""

    question: str
    """What is asked: the message itself, or the question before with another subject."""
    about: str = ""
    """What was said before and is left out; empty where the message stands alone."""
    query: str = ""
    """The search for both; empty where the message stands alone."""
    focus: str = ""
    """What is new in the message: its own words, or the other subject."""
    replaced: str = ""
    """What the question before was about, where the message asks the same about something else."""
    certain: bool = True
    """Whether the message cannot be understood alone; else it only may be meant so."""

    def fits(self, text: str) -> bool:
        """Whether a text names what was said before and has the words of the message."""
        present, asked = set(stems(text)), content_stems(self.focus)
        is_named = content_stems(self.about).keys() <= present
        return is_named and len(asked.keys() & present) >= _MIN_SHARE * len(asked)


def resolve(message: str, history: Sequence[Said]) -> Resolved:
    """Put in what ``message`` leaves out because it was said before."""
    if not history:
        return Resolved(message)
    same = _SAME_ABOUT.match(message)
    if same:
        other = (same["latin"] or same["other"] or same["han"]).strip()
        return _same_question(history[-1].question, other, same["preposition"] or "")
    certain = _leans(message, history[-1])
    if not certain and not _may_lean(message):
        return Resolved(message)
    about = _subject(message, history)
    rest = PRONOUN.sub(" ", without_request(message))
    for noun in nouns_meant(message):
        rest = rest.replace(noun, " ")
    own = keywords(rest)
    known = about.lower().split()
    query = " ".join([about, *(word for word in own if word.lower() not in known)])
    return Resolved(message, about, query, " ".join(own), certain=certain)


def _leans(message: str, before: Said) -> bool:
    """Whether ``message`` can be understood only with what was said before."""
    if PRONOUN.search(message):
        return True
    if find_name(message):
        return False
    if len(content_words(without_request(message))) <= _FEW_WORDS or _CONTINUES.match(message):
        return True
    return _names_what_was_said(message, before)


def _may_lean(message: str) -> bool:
    """Whether ``message`` is short and without a name that its spelling shows, as questions of a dialogue are."""
    if find_name(message) or _DEFINES.match(message):
        return False
    if not message.isascii():
        return len(message.strip(" ?？。")) <= _FEW_CHARACTERS
    return message.rstrip().endswith("?") and len(message.split()) <= _SHORT


def _subject(message: str, history: Sequence[Said]) -> str:
    """What the last exchange was about."""
    before, earlier = history[-1], history[:-1]
    known = resolve(before.question, earlier)
    parts = (
        known.about,
        find_topic(known.question, before.answer),
        named_in(before.question, before.answer),
        figure_meant(message, before.question, before.answer),
    )
    return " ".join(dict.fromkeys(" ".join(parts).split()))


def _same_question(before: str, other: str, preposition: str) -> Resolved:
    """The question ``before`` about ``other``, in place of the part of it that is most alike."""
    old = _after(preposition, before) or _part_like(other, before)
    if not old:
        asked = f"{other} {' '.join(keywords(before))}"
        return Resolved(asked, query=asked, focus=other)
    asked = before.replace(old, other, 1)
    of = _OF.match(before)
    if of and old == of["property"]:
        # What has the property is the same: it may be named elsewhere on the page.
        return Resolved(asked[of.end("thing") + 1 :], of["thing"], asked, other, old)
    return Resolved(asked, query=asked, focus=other, replaced=old)


def _after(preposition: str, before: str) -> str:
    """What stands after the same preposition: "for adults" and "for children"."""
    if not preposition:
        return ""
    match = re.search(rf"\b{preposition}\s+(?:the\s+)?(\w+)", before, re.I)
    return match[1] if match else ""


def _part_like(about: str, before: str) -> str:
    """The part of the question ``before`` that is most like ``about``."""
    year = YEAR.search(before)
    if year and YEAR.fullmatch(about.rstrip("年")):
        return year[0]
    is_long = len(about) > _ENDING and not about.isascii()
    if is_long and about[-_ENDING:] in before:
        # 1号线 and 2号线, 男子冠军 and 女子冠军: names side by side mostly end alike.
        end = before.index(about[-_ENDING:]) + _ENDING
        return before[max(0, end - len(about)) : end]
    name = find_name(before)
    if name:
        return name
    of = _OF.match(before)
    if of is None:
        return ""
    # 学生月票 after 云汀地铁的起步价: what is no name is another property of the same thing.
    is_property = of["property"] and not _may_be_name(about)
    return of["property"] if is_property else of["thing"]


def _may_be_name(text: str) -> bool:
    """Whether a text has letters, digits or a name."""
    return bool(_LATIN_OR_DIGIT.search(text)) or is_name(tokens(text), text)


def _names_what_was_said(message: str, before: Said) -> bool:
    """Whether ``message`` speaks of "the bridge", and a bridge was spoken of."""
    said = set(words(f"{before.question} {before.answer}"))
    nouns = filter(None, map(words, _DEFINITE.findall(message)))
    return any(map(said.issuperset, nouns))
