"""Questions that lean on what was said before: whether they do, what they are about, and how to search for it."""

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
    r"|the latter|the other)\b|\b(?:this|that)\b(?! (?:year|month|week|day|morning|evening|century|is\b))"
    r"|\bthere\b(?! (?:is|are|was|were|any|a|an)\b)"
    r"|它|[他她]们?|(?<!应)该(?!不该)|[这那][个些种里家座款部项次届位本条]|其中|前者|后者|另一个|这样",
    re.I,
)
# "What about Lyon?", "那里昂呢？": the same question about something else.
_SAME_ABOUT = re.compile(
    r"\s*(?:and\s+|but\s+|so\s+)?(?:what|how)\s+about\s+(?:the\s+|in\s+)?(?P<latin>[^?？]+)[?？]?\s*$"
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
_FEW_WORDS = 1
_MAX_SUBJECT = 5


@dataclass(frozen=True, slots=True)
class Said:
    """An earlier question and its answer."""

    question: str
    answer: str = ""


def leans_on_context(question: str, history: Sequence[Said]) -> bool:
    """Whether ``question`` can be understood only with what was said before."""
    if not history:
        return False
    if _PRONOUN.search(question) or _SAME_ABOUT.match(question):
        return True
    own = content_words(without_request(question))
    if find_subject(question):
        return False
    return len(own) <= _FEW_WORDS or bool(_CONTINUES.match(question)) or _names_what_was_said(question, history[-1])


def subject_of(question: str, history: Sequence[Said]) -> str:
    """What ``question`` leaves out because it was said before; empty where it stands alone."""
    if not leans_on_context(question, history):
        return ""
    before, earlier = history[-1], history[:-1]
    subject = find_subject(before.question) or " ".join(keywords(before.question)[:_MAX_SUBJECT])
    known = subject_of(before.question, earlier)
    named = _named_in_answer(before)
    return " ".join(dict.fromkeys(part for text in (known, subject, named) for part in text.split()))


def context_query(question: str, history: Sequence[Said]) -> str:
    """The search that says what ``question`` leaves out; empty where it stands alone."""
    if not leans_on_context(question, history):
        return ""
    if about := _SAME_ABOUT.match(question):
        return _same_question(history[-1].question, (about["latin"] or about["han"]).strip())
    subject = subject_of(question, history)
    own = keywords(_PRONOUN.sub(" ", without_request(question)))
    return " ".join([subject, *(word for word in own if word.lower() not in subject.lower().split())])


def _same_question(before: str, about: str) -> str:
    """The question ``before`` with ``about`` in place of its subject."""
    subject = find_subject(before)
    if subject and subject in before:
        return before.replace(subject, about)
    return f"{about} {' '.join(keywords(before))}"


def _names_what_was_said(question: str, before: Said) -> bool:
    """Whether ``question`` speaks of "the bridge", and a bridge was spoken of."""
    said = set(words(f"{before.question} {before.answer}"))
    return any(said.issuperset(words(noun)) for noun in _DEFINITE.findall(question) if words(noun))


def _named_in_answer(said: Said) -> str:
    """The name that was asked for, where the answer gives one."""
    if not {"name", "place"} & set(answer_type(said.question).kinds) and "which" not in said.question.lower():
        return ""
    first = next(iter(split_sentences(said.answer.lstrip("- "), 320)), "")
    found = [*_NAMES.findall(first), *("".join(groups) for groups in _HAN_NAMES.findall(first))]
    return next((name for name in found if name not in said.question and len(name) > 2 - (not name.isascii())), "")
