"""Whether a question or a query wants what is there now, so that results that were kept are of no use to it."""

from __future__ import annotations

import re

_AGAIN = re.compile(
    r"\b(?:search|look|check|try|find|ask|query)(?: \w{1,12}){0,3} (?:again|once more|anew)\b"
    r"|\b(?:re-?search|re-?check|refresh|redo)\b|\b(?:a )?(?:new|fresh|another) search\b"
    r"|(?:再|重新|重)(?:次)?(?:查|搜|检索|找|试|看)|刷新|(?:查|搜|找)(?:[一]?下)?(?:新的|最新)",
    re.I,
)
_NEWS = re.compile(
    r"\b(?:latest|newest|news|breaking|today|tonight|right now|just now|this (?:morning|hour|week)|live score)\b"
    r"|最新|新闻|今天|今日|今晚|刚刚|实时|此刻|本周|头条",
    re.I,
)


def asked_anew(text: str) -> bool:
    """Whether ``text`` asks to search again, or for news."""
    return bool(_AGAIN.search(text) or _NEWS.search(text))
