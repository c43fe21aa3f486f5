"""Messages that lean on what was said before: what they ask, what they are about, and how to search for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..text.keywords import content_words, keywords, without_request
from ..text.scripts import HAN
from ..text.sentences import split_sentences
from ..text.words import words
from .answer_type import answer_type
from .question_splitter import find_subject

_PRONOUN = re.compile(
    r"\b(?:it|its|itself|they|them|their|theirs|he|him|his|she|her|hers|that one|those|these|the same|the former"
    r"|the latter|the other|(?:an?|any|which|even|first|last|new|old)(?: \w+)? ones?)\b"
    r"|\b(?:this|that)\b(?! (?:year|month|week|day|morning|evening|century|is\b))"
    r"|\bthere\b(?! (?:is|are|was|were|any|a|an)\b)"
    r"|它|[他她]们?|(?<!应)该(?!不该)|[这那][个些种里家座款部项次届位本条]|其中|前者|后者|另一个|这样",
    re.I,
)
# "What about Lyon?", "And in 2025?", "那里昂呢？": the same question about something else.
_SAME_ABOUT = re.compile(
    r"\s*(?:and\s+|but\s+|so\s+)?(?:what|how)\s+about\s+(?:the\s+|in\s+)?(?P<latin>[^?？]+)[?？]?\s*$"
    r"|\s*and\s+(?:the\s+|in\s+|for\s+|of\s+)?(?P<other>(?!what|how|who|when|where|why|which|is|are|was|were|did|does|do|can)"
    r"[^?？]{1,30})[?？]\s*$"
    r"|\s*(?:那么?|还有)?[,，]?\s*(?P<han>[^?？,，]{1,20}?)呢[?？]?\s*$",
    re.I,
)
_CONTINUES = re.compile(
    r"\s*(?:and|but|so|then|also|why|how so)\b|\s*(?:那么|那|还有|然后|再|为什么|为何|怎么会)", re.I
)
_DEFINITE = re.compile(r"\bthe ([a-z]+)\b")
_NAMES = re.compile(r"\b[A-Z][\w'’-]*(?:\s+(?:(?:of|the|de|van|von|der|al)\s+)*[A-Z][\w'’-]*)*")
_HAN_NAMES = re.compile(
    rf"《([^》]+)》|([{HAN}]{{2,5}}(?:·[{HAN}]{{1,8}})+)|(?:由|是|为|叫做?|名为)([{HAN}]{{2,4}})(?=[，。于在（(])"
)
_YEAR = re.compile(r"\b(?:1\d|20)\d\d\b|(?:1\d|20)\d\d(?=年)")
# What a Chinese question is about mostly stands before its first "的".
_BEFORE_OF = re.compile(r"^[^的，,？?]{2,12}(?=的)")
_FEW_WORDS, _FEW_CHARACTERS = 1, 10
_MAX_SUBJECT = 5


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
    certain: bool = True
    """Whether the message cannot be understood alone; else it only may be meant so."""


def resolve(message: str, history: Sequence[Said]) -> Resolved:
    """Put in what ``message`` leaves out because it was said before."""
    alone = Resolved(message)
    if not history:
        return alone
    if same := _SAME_ABOUT.match(message):
        asked = _same_question(history[-1].question, (same["latin"] or same["other"] or same["han"]).strip())
        return Resolved(asked, query=asked)
    certain = _leans(message, history[-1])
    if not certain and not _may_lean(message):
        return alone
    about = _subject(history)
    own = keywords(_PRONOUN.sub(" ", without_request(message)))
    query = " ".join([about, *(word for word in own if word.lower() not in about.lower().split())])
    return Resolved(message, about, query, certain)


def _leans(message: str, before: Said) -> bool:
    """Whether ``message`` can be understood only with what was said before."""
    if _PRONOUN.search(message):
        return True
    if find_subject(message):
        return False
    few = len(content_words(without_request(message))) <= _FEW_WORDS
    return few or bool(_CONTINUES.match(message)) or _names_what_was_said(message, before)


def _may_lean(message: str) -> bool:
    """Whether ``message`` is short Chinese without a name that its spelling shows, as questions of a dialogue are."""
    return not message.isascii() and len(message.strip(" ?？。")) <= _FEW_CHARACTERS and not find_subject(message)


def _subject(history: Sequence[Said]) -> str:
    """What the last exchange was about."""
    before, earlier = history[-1], history[:-1]
    known = resolve(before.question, earlier)
    named = find_subject(known.question) or " ".join(keywords(known.question)[:_MAX_SUBJECT])
    parts = (known.about, named, _named_in_answer(before))
    return " ".join(dict.fromkeys(part for text in parts for part in text.split()))


def _same_question(before: str, about: str) -> str:
    """The question ``before`` about ``about``, in place of the part of it that is most alike."""
    old = _part_like(about, before)
    return before.replace(old, about, 1) if old else f"{about} {' '.join(keywords(before))}"


def _part_like(about: str, before: str) -> str:
    if (year := _YEAR.search(before)) and _YEAR.fullmatch(about.rstrip("年")):
        return year[0]
    ending = about[-2:]
    if not about.isascii() and len(about) > 2 and (at := before.find(ending)) >= 0:
        # 1号线 and 2号线, 男子冠军 and 女子冠军: names side by side mostly end alike.
        return before[max(0, at + len(ending) - len(about)) : at + len(ending)]
    if subject := find_subject(before):
        return subject
    of = _BEFORE_OF.match(before)
    return of[0] if of else ""


def _names_what_was_said(message: str, before: Said) -> bool:
    """Whether ``message`` speaks of "the bridge", and a bridge was spoken of."""
    said = set(words(f"{before.question} {before.answer}"))
    return any(said.issuperset(words(noun)) for noun in _DEFINITE.findall(message) if words(noun))


def _named_in_answer(said: Said) -> str:
    """The name that was asked for, where the answer gives one."""
    if not {"name", "place"} & set(answer_type(said.question).kinds) and "which" not in said.question.lower():
        return ""
    first = next(iter(split_sentences(said.answer.lstrip("- "), 320)), "")
    found = [*_NAMES.findall(first), *("".join(groups) for groups in _HAN_NAMES.findall(first))]
    return next((name for name in found if name not in said.question and len(name) > 2 - (not name.isascii())), "")
