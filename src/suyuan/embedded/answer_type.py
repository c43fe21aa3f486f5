"""What a question asks for: its own words, and what kind of thing would answer it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ..text.keywords import telling
from ..text.words import words

_SINGLE = 0.5


@lru_cache(maxsize=20_000)
def _root(word: str) -> str:
    """A rough root for English, so that a question's "founded" finds a page's "founding"."""
    if len(word) < 5 or not word.isascii() or not word.isalpha():
        return word
    for ending in ("ing", "edly", "ed", "ly", "er", "or", "es", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def terms(text: str) -> list[str]:
    """The comparable words of ``text``."""
    return [_root(word) for word in words(text)]


@lru_cache(maxsize=256)
def _content(text: str) -> tuple[tuple[str, float], ...]:
    # Single characters of Chinese say little beside the pairs they stand in.
    return tuple(
        {_root(term): _SINGLE if not term.isascii() and len(term) == 1 else 1.0 for term in telling(text)}.items()
    )


def content(text: str) -> dict[str, float]:
    """The words of a question that its answer should contain, with their weights."""
    return dict(_content(text))


_MONTH = r"January|February|March|April|May|June|July|August|September|October|November|December"
_CN = "〇零一二两三四五六七八九十百千万亿几数半"
_TIME = re.compile(
    rf"\d{{1,4}}\s*[年月日号]|\b1\d{{3}}\b|\b20\d\d\b|\b(?:{_MONTH})\b|\d{{1,2}}[:：时点]|世纪|[〇零一二三四五六七八九十]+[年月日]|century"
)
_COUNT = re.compile(
    rf"\d|[{_CN}]+\s*[个人次名位种座家部年月日天元米里吨岁条张项届届所间层]|\b(?:two|three|four|five|six|seven|eight|nine|ten|dozen)\b",
    re.I,
)
_NAME = re.compile(
    r"\b[A-Z][a-zà-ž'’-]+(?:\s+(?:[A-Z]\.|[a-z]{2,3}|[A-Z][a-zà-ž'’-]+)){0,2}\s+[A-Z][a-zà-ž'’-]+"
    r"|[\u4e00-\u9fff·]{2,8}(?:先生|女士|教授|博士|出任|担任|当选|任命|执导|导演|主演|创立|创办|发明|获得|夺得|获|饰演|表示|说|击败|战胜)"
    r"|(?:由|导演|主席|总统|总理|作者|冠军|得主|队长|教练|创始人|CEO|是|为|:|：)[\u4e00-\u9fffA-Z·]{2,}"
)
_PLACE = re.compile(
    r"\b(?:in|at|near|from|on)\s+(?:the\s+)?[A-Z]\w+|[\u4e00-\u9fff]{1,8}[省市县区镇村州国岛湾路街洲]|位于|坐落|在[\u4e00-\u9fff]{2,}|中国|美国|日本|北京|上海"
)
_REASON = re.compile(
    r"because|due to|caused|in order to|so that|result|reason|since|因为|由于|因此|因[\u4e00-\u9fff]|为了|原因|导致|使得|所以|以便",
    re.I,
)
_IS = re.compile(r"\b(?:is|are|was|were|refers to|means)\b|是|指|即|又称|简称|全称|属于", re.I)

_ASKS = {
    "time": r"\bwhen\b|what (?:year|date|day|time|month)|which year|什么时候|何时|哪一?[年天月日]|几[月号日点]|时间|日期|年份",
    "count": r"\bhow (?:long|many|much|tall|high|old|far|big|fast|large|deep|heavy|often)\b|what (?:percentage|number|price)|population"
    r"|多[少长高大久远重快深宽]|几[个人次名位种座家部岁米年天]|人数|数量|总数|人口|票房|面积|高度|长度|价格|比例|吞吐量|产量|金额|比分|第几|得分|[总产]值",
    "name": r"\bwho(?:se|m)?\b|谁|哪一?[位名]|什么人|名字|叫什么|冠军|得主|导演|作者|主席|总统|总理|教练|主演|获奖者|创始人|CEO",
    "place": r"\bwhere\b|which (?:city|country|state|place)|哪里|哪儿|哪[个座]?(?:城市|国家|省|地区|地方)|在哪|何处|地点|位于|什么地方",
    "reason": r"\bwhy\b|为什么|为何|原因",
    "what": r"\bwhat (?:is|are|was|were|does)\b|是什么|什么是|指什么|定义|meaning",
}
_HOLDS = {"time": _TIME, "count": _COUNT, "name": _NAME, "place": _PLACE, "reason": _REASON, "what": _IS}
_KINDS = tuple((name, re.compile(asks, re.I), _HOLDS[name]) for name, asks in _ASKS.items())


@dataclass(frozen=True, slots=True)
class AnswerType:
    """The kinds of thing that would answer a question; often none is known."""

    kinds: tuple[str, ...]

    @property
    def sure(self) -> bool:
        """Whether such a thing is recognised without fail: figures and dates are, names and reasons are not."""
        return bool(self.kinds) and set(self.kinds) <= {"time", "count"}

    def answered(self, text: str, question: str) -> bool:
        """Whether ``text`` holds such a thing that the question itself does not hold."""
        if not self.kinds:
            return True
        left = text
        for known in re.findall(r"\d+(?:\.\d+)?\s*[年月日届]?|[A-Z]\w+", question):
            left = left.replace(known, " ")
        return any(held.search(left) for name, _, held in _KINDS if name in self.kinds)

    def factor(self, answers: bool) -> float:
        """What a line's score is worth."""
        return 1.0 if answers or not self.kinds else 0.5


def wanted(question: str) -> AnswerType:
    """What ``question`` asks for."""
    kinds = tuple(name for name, asks, _ in _KINDS if asks.search(question))
    # "What is the name of the director" asks for a name; "is" alone says little beside another kind.
    return AnswerType(tuple(kind for kind in kinds if kind != "what") or kinds)
