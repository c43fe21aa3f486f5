"""What kind of answer a question expects: a time, a number, a name, a place, a reason or a definition."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ..text.dates import MONTH_NAMES
from ..text.scripts import HAN

_ASKED_BY = {
    "time": r"\bwhen\b|what (?:year|date|day|time|month)|which year"
    r"|什么时候|何时|哪一?[年天月日]|几[月号日点]|时间|日期|年份",
    "count": r"\bhow (?:long|many|much|tall|high|old|far|big|fast|large|deep|heavy|often)\b"
    r"|what (?:percentage|number|price)|population|\bwhat (?:do|does|did|will) .{1,200} cost\b"
    r"|\bwhat is the (?:price|cost)\b|多[少长高大久远重快深宽]|几[个人次名位种座家部岁米年天]"
    r"|人数|数量|总数|人口|票房|面积|高度|长度|价格|比例|吞吐量|产量|金额|比分|第几|得分|[总产]值",
    "name": r"\bwho(?:se|m)?\b"
    r"|谁|哪一?[位名]|什么人|名字|叫什么|冠军|得主|导演|作者|主席|总统|总理|教练|主演|获奖者|创始人|CEO",
    "place": r"\bwhere\b|which (?:city|country|state|place)"
    r"|哪里|哪儿|哪[个座]?(?:城市|国家|省|地区|地方)|在哪(?!一?[年天月日届场次部本])|何处|地点|位于|什么地方",
    "reason": r"\bwhy\b|为什么|为何|原因",
    "definition": r"\bwhat (?:is|are|was|were|does)\b|是什么|什么是|指什么|定义|meaning",
}
_GIVEN_BY = {
    "time": re.compile(
        rf"\d{{1,4}}\s*[年月日号]|\b1\d{{3}}\b|\b20\d\d\b|\b(?:{'|'.join(MONTH_NAMES)})\b|\d{{1,2}}[:：时点]"
        r"|世纪|[〇零一二三四五六七八九十][年月日]|century"
        r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|(?:星期|周)[一二三四五六日天]"
    ),
    "count": re.compile(
        r"\d|[〇零一二两三四五六七八九十百千万亿几数半]\s{0,8}[个人次名位种座家部年月日天元米里吨岁条张项届所间层]"
        r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|dozen)\b",
        re.I,
    ),
    "name": re.compile(
        r"\b[A-Z][a-zà-ž'’-]+(?:\s+(?:[A-Z]\.|[a-z]{2,3}|[A-Z][a-zà-ž'’-]+)){0,2}\s+[A-Z][a-zà-ž'’-]+"
        rf"|[{HAN}·]{{2,8}}(?:先生|女士|教授|博士|出任|担任|当选|任命|执导|导演|主演|创立|创办|发明|获得|夺得|获|饰演|表示|说"
        r"|击败|战胜)"
        rf"|(?:由|导演|主席|总统|总理|作者|冠军|得主|队长|教练|创始人|CEO|是|为|:|：)[{HAN}A-Z·]{{2,}}"
    ),
    "place": re.compile(
        rf"\b(?:in|at|near|from|on)\s+(?:the\s+)?[A-Z]\w+|[{HAN}]{{1,8}}[省市县区镇村州国岛湾路街洲]|位于|坐落"
        rf"|在[{HAN}]{{2,}}|中国|美国|日本|北京|上海"
    ),
    "reason": re.compile(
        r"because|due to|caused|in order to|so that|result|reason|since"
        rf"|因为|由于|因此|因[{HAN}]|为了|原因|导致|使得|所以|以便",
        re.I,
    ),
    "definition": re.compile(r"\b(?:is|are|was|were|refers to|means)\b|是|指|即|又称|简称|全称|属于", re.I),
}
# The unit of a figure, by what is asked.
_UNITS = {
    r"多长|长度|[全总]长|多少(?:公里|千米|米)|\bhow long\b|\blength\b|\bhow many (?:kilomet|met(?:re|er)s|miles)":
        r"米|公里|千米|km\b|metre|meter|mile|f(?:ee|oo)t|minutes|hours|days|years|分钟|小时|[年天]",
    r"多高|高度|海拔|\bhow (?:tall|high)\b|\bheight\b": r"米|公尺|metre|meter|f(?:ee|oo)t|m\b",
    r"\bhow far\b": r"km\b|kilomet|metre|meter|mile|light",
    r"面积|多少(?:平方|公顷|亩)|\barea\b|\bhow many (?:square|acres|hectares)\b": r"平方|公顷|亩|square|acre|hectare",
    r"多少人|人数|人口|\bpopulation\b|\bhow many people\b": r"人|people|inhabitants|residents|million",
    r"多重|重量|多少(?:吨|公斤|千?克)|\bhow heavy\b|\bweighs?\b":
        r"吨|公斤|斤|千?克|k?g\b|kilo|grams?\b|ounces?\b|tons?\b|tonne|pounds",
    r"多少(?:钱|[亿万]?[美欧]?元)|价格|票房|收入|营收|产值|金额|\bhow much\b|\bprice\b|\bcosts?\b|\brevenue\b":
        r"美?元|[亿万](?![人次辆吨])|dollar|euro|pound|crown|kron[ae]|yen\b|yuan|rupee|franc|peso|cent|billion|million",
    r"比例|增长|率|百分之[几多]|\bpercent|\brate\b": r"[%％‰]|percent",
    r"多大|(?:几|多少)岁|年龄|\bhow old\b|\bage\b": r"周?岁|years? old|aged",
    r"产量|吞吐量|交付": r"吨|辆|人次|[亿万]",
}  # fmt: skip
_UNITS_GIVEN = [
    (
        re.compile(asked, re.I),
        re.compile(rf"(?:[\d〇一二两三四五六七八九十百千万亿]|\d [mb]illion)\s*(?:{unit})|[$£€]\s?\d|百分之", re.I),
    )
    for asked, unit in _UNITS.items()
]
_KINDS = {kind: re.compile(asked_by, re.I) for kind, asked_by in _ASKED_BY.items()}
_KNOWN = re.compile(r"\d+(?:\.\d+)?\s*[年月日届]?|[A-Z]\w+")


@dataclass(frozen=True, slots=True)
class AnswerType:
    """The kinds of answer that a question expects; any will do, and none means that its words do not tell."""

    kinds: tuple[str, ...]
    known: tuple[str, ...] = ()
    """The figures and names of the question, which cannot be its answer."""
    unit: re.Pattern[str] | None = None
    """A figure with a unit in which the answer may be given, where the question shows that."""

    @property
    def is_exact(self) -> bool:
        """Whether such an answer is recognised without fail: figures and dates are, names and reasons are not."""
        return bool(self.kinds) and set(self.kinds) <= {"time", "count"}

    @property
    def is_fact(self) -> bool:
        """Whether one sentence can be the whole answer: a time, a figure, a name or a place is asked for."""
        return bool(self.kinds) and set(self.kinds) <= {"time", "count", "name", "place"}

    def is_given_by(self, sentence: str) -> bool:
        """Whether ``sentence`` holds such an answer."""
        for known in self.known:
            sentence = sentence.replace(known, " ")
        return not self.kinds or any(_GIVEN_BY[kind].search(sentence) for kind in self.kinds)

    def is_left_out(self, sentence: str, before: str) -> bool:
        """Whether the time, the figure or the reason that is asked for stands in the sentence before."""
        named = self.is_exact or self.kinds == ("reason",)
        return named and not self.is_given_by(sentence) and self.is_given_by(before)

    def unit_fit(self, sentence: str) -> float:
        """Return 1 where ``sentence`` has a figure in a unit that is asked for, -1 where it has none, else 0."""
        if self.unit is None:
            return 0.0
        return 1.0 if self.unit.search(sentence) else -1.0


@lru_cache(maxsize=256)
def answer_type(question: str) -> AnswerType:
    """Return the type of answer that ``question`` expects."""
    kinds = tuple(kind for kind, asked_by in _KINDS.items() if asked_by.search(question))
    # "What is the name of the director" asks for a name: "is" alone says little beside another kind.
    specific = tuple(kind for kind in kinds if kind != "definition")
    unit = next((given for asked, given in _UNITS_GIVEN if asked.search(question)), None)
    return AnswerType(specific or kinds, tuple(_KNOWN.findall(question)), unit)
