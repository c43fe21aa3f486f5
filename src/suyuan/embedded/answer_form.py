"""The form in which a question wants its answer: one sentence, all of them, a list or a table."""

from __future__ import annotations

import re

from ..core.answer_length import AnswerLength

_ASKED_FOR: dict[AnswerLength, re.Pattern[str]] = {
    "table": re.compile(r"\b(?:as|in|into|make) an? table\b|\btabulate\b|表格|列表对比|列个表|做[个张]表", re.I),
    "short": re.compile(r"\bin (?:one|a single) sentence\b|\bbriefly\b|\bin short\b|一句话|简短|简要", re.I),
    "full": re.compile(r"\bin (?:full|detail)\b|\bdetailed\b|\beverything about\b|详细|详尽|全面介绍", re.I),
    "list": re.compile(
        r"\b(?:as|in|make) an? list\b|^\s*list\b|\bwhat are (?:all|some|the names)\b|\bwho are\b"
        r"|列出|列举|清单|哪些|哪几|有谁|主演|阵容|[三四八十]强",
        re.I,
    ),
}


def wanted_form(question: str, length: AnswerLength) -> AnswerLength:
    """Return the form that is set, or else the one that the words of the question ask for."""
    if length != "auto":
        return length
    return next((form for form, words in _ASKED_FOR.items() if words.search(question)), "auto")
