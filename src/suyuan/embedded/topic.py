"""What a question was about, as far as its names, and the words that its answer repeats, show it."""

from __future__ import annotations

import re

from ..text.keywords import STOP_WORDS, keywords
from ..text.numbers import FIGURE
from ..text.scripts import HAN
from ..text.sentences import split_sentences
from .answer_type import answer_type

_QUOTED = re.compile(r"《[^《》]+》|“[^“”]+”|\"[^\"]+\"")
# A name may go on with a number: Marl 5.0, Quillpad 3.
_NAME = re.compile(r"\b[A-Z][\w'’-]*(?:\s+(?:(?:of|the|de|van|von|der|al)\s+)*(?:[A-Z][\w'’-]*|\d[\w.]*\w|\d))*")
_FIRST_WORD = re.compile(r"(?:^|[?!]|(?<=[a-z]{4})\.)\s*\w+")
# A name after one of these is mostly not what the question is about.
_AFTER_PREPOSITION = re.compile(r"\b(?:from|in|at|to|by|of|on|with|than|for|between)\s+(?:the\s+)?$", re.I)
_WORD = re.compile(r"\s+([a-z][\w-]*)")
_MAX_WORDS = 2
# A preposition, an article and the spaces between them.
_BEFORE = 40
_MAX_KEYWORDS = 5
_LONGEST_SENTENCE = 320
_NAMING_KINDS = frozenset(("name", "place"))
# What stands between the subject of a Chinese question and what is asked of it.
_RELATION = re.compile("(?<=..)(?:的|[是在有为由从离距与和被对比到共，,]).*+$")
_HAN_NAMES = re.compile(
    rf"《([^《》]+)》|([{HAN}]{{2,5}}(?:·[{HAN}]{{1,8}})+)|(?:由|是|为|叫做?|名为)([{HAN}]{{2,4}})(?=[，。于在（(])"
)
_WHICH = re.compile(r"哪[一个颗座家种部位款条只]|\bwhich\b", re.I)
# 海王星是离太阳最远的行星
_ANSWER_SUBJECT = re.compile(rf"[-\s]*([{HAN}\w·]{{2,8}}?)(?=是|为|离|，|最)")
# "That company", 这家公司: what was spoken of; "this version", 这一年: the figure that the answer gave for it.
_THIS = re.compile(
    rf"\b(?:this|that|these|those)\s+([a-z]+)|[这那该](?:[个家座款部项次届位本条种些]|一)([{HAN}]{{1,2}})"
)
_FIGURES_OF = frozenset(("version", "release", "year", "edition", "season", "版本", "年", "届", "赛季", "年份"))
_MARKER = re.compile(r"\[\d+\]")


def find_topic(question: str, answer: str) -> str:
    """Return what ``question`` is about; ``answer`` shows where a name ends."""
    quoted = _QUOTED.search(question)
    if quoted:
        return quoted[0]
    names = _names(question, answer)
    if names:
        return names
    repeated = "" if question.isascii() else _repeated(question, answer)
    return repeated or " ".join(keywords(question)[:_MAX_KEYWORDS])


def find_name(question: str) -> str:
    """Return the name that a question is about, as far as quotation marks and capitals show; empty without one."""
    quoted = _QUOTED.search(question)
    return quoted[0] if quoted else _names(question, "")


def find_names(question: str) -> list[str]:
    """Return the names of an English question, those after a preposition only where there are no others."""
    return [name[0] for name in _name_matches(question)]


def _names(question: str, answer: str) -> str:
    """Return the names that a question is about, as one text."""
    return " ".join(_whole(question, name, answer) for name in _name_matches(question))


def _name_matches(question: str) -> list[re.Match[str]]:
    """Return the names of a question, those after a preposition only where there are no others."""
    # A word at the beginning of a sentence has its capital for another reason.
    question = _FIRST_WORD.sub(lambda first: first[0].lower(), question)
    names = list(_NAME.finditer(question))
    subjects = [name for name in names if not _follows_preposition(question, name.start())]
    return subjects or names


def _follows_preposition(question: str, at: int) -> bool:
    # Only what stands just before it: a question may have thousands of names.
    return _AFTER_PREPOSITION.search(question, max(0, at - _BEFORE), at) is not None


def _whole(question: str, name: re.Match[str], answer: str) -> str:
    """Return a name with the small words that belong to it: the answer has "the library" too."""
    start, end = name.span()
    said = answer.lower()
    for _ in range(_MAX_WORDS):
        after = _WORD.match(question, end)
        if after is None or after[1] in STOP_WORDS:
            break
        if question[start : after.end()].lower() not in said and f"the {after[1]} " not in said:
            break
        end = after.end()
    return question[start:end]


def _repeated(question: str, answer: str) -> str:
    """Return the beginning of a Chinese question that its answer repeats: mostly the thing that it is about."""
    end = next((end for end in range(len(question), 1, -1) if question[:end] in answer), 0)
    subject = _RELATION.sub("", question[:end])
    return subject if len(subject) > 1 else ""


def named_in(question: str, answer: str) -> str:
    """Return the name that was asked for, where the answer gives one."""
    asks_which = _WHICH.search(question) is not None
    if not asks_which and _NAMING_KINDS.isdisjoint(answer_type(question).kinds):
        return ""
    first = _first_sentence(answer)
    names = [*_NAME.findall(first), *map("".join, _HAN_NAMES.findall(first))]
    subject = _ANSWER_SUBJECT.match(first)
    if asks_which and subject and not question.isascii():
        names.insert(0, subject[1])
    return next((name for name in names if name not in question and _is_long(name)), "")


def _is_long(name: str) -> bool:
    """Whether a name is more than an abbreviation or a single character."""
    least = 3 if name.isascii() else 2
    return len(name) >= least


def _first_sentence(answer: str) -> str:
    """Return the first sentence of an answer."""
    sentences = split_sentences(answer.lstrip("- "), _LONGEST_SENTENCE)
    return sentences[0] if sentences else ""


def nouns_meant(message: str) -> list[str]:
    """Return the nouns of "that company", 这个版本 and the like, which say no more than a pronoun."""
    return [match[match.lastindex or 0] for match in _THIS.finditer(message)]


def figure_meant(message: str, question: str, answer: str) -> str:
    """Return the figure that "this version" means: the one of the answer, where the question asked for a version."""
    if not any(noun in _FIGURES_OF and noun in question for noun in nouns_meant(message)):
        return ""
    first = _first_sentence(_MARKER.sub("", answer.lstrip("- ")))
    return next((figure for figure in FIGURE.findall(first) if figure not in question), "")
