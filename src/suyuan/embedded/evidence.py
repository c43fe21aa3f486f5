"""What the sources of a question say, and its sentences that may be quoted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from ..text.lexicon import simplified
from ..text.sentences import split_sentences
from ..text.words import stems

LONGEST = 480
"""The characters of the longest quote: a page's table or menu is one long "sentence"."""
_MIN_LENGTH = 6
_MIN_LETTERS = 0.6
"""The share of letters in what is no menu."""
_TABLE_LINE = re.compile(r"\|.+\|", re.S)
_CELL_END, _RULE = re.compile(r"(?<!\\)\|"), re.compile(r":?-+:?")
_SITE_NAME = re.compile(r"(?:\s[-–—·]\s|(?<!\s)\s*+[_|])[^-–—·_|]{1,24}$")
_CODE = re.compile(r"^(```|~~~).*?(?:^\1\s*$|\Z)", re.S | re.M)
_PARAGRAPH_END = re.compile(r"\n+|(?<=[。！？…])\s{2,}")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_CITATION_MARK = re.compile(r"[\[【［]\^?\d+(?:\s*[,，、\-–]\s*\d+)*[\]】］]")
_MARKUP = re.compile(r"<[a-zA-Z/][^<>]{0,200}>|^\s*(?:#{1,6}\s+|[-*+•]\s+|>\s*|\d+[.)]\s+)|\*\*|__")
# A span of code; the quotation marks of some texts are backticks too, but stand apart from what they quote.
_CODE_SPAN = re.compile(r"(`{1,4})(?!\s)([^`]++)(?<!\s)\1")
# The date that engines put before a snippet.
_SNIPPET_DATE = re.compile(r"^\s*(?:[A-Z][a-z]{2,8} \d{1,2}, \d{4}|\d{4}年\d{1,2}月\d{1,2}日)\s*(?:\.{3}|…|—|·|-)\s*")
# Notes in the margins of pages; phrases rather than words, since a page may be about JavaScript, cookies or copyright.
_MARGIN = re.compile(
    r"\bwe use (?:\w+ )?cookies|\b(?:uses?|accept|allow|manage|enable|disable|reject|our) (?:\w+ )?cookies\b"
    r".{0,200}\byour?\b"
    r"|cookie (?:policy|settings|preferences|notice|consent)"
    r"|subscribe (?:now|today|to (?:our|the|this|my))|\bour newsletter|^(?:please )?(?:sign|log) ?(?:in|up)\b"
    r"|please (?:sign|log) ?(?:in|up)|all rights reserved|(?:our|see the|read the) (?:privacy policy|terms of)"
    r"|privacy policy.{1,5}terms|terms of (?:use|service).{1,5}privacy|click here"
    r"|(?:enable|turn on|requires?|without) javascript|javascript (?:is |must be )?(?:disabled|enabled|required)"
    r"|(?:(?<!申)请先?|立即|点击|马上|免费)(?:登录|注册)|登录[后/ ]|注册[/ ]?登录|版权(?:所有|归|声明)|备案号|网安备"
    r"|ICP\s?[备证]|扫码|扫一扫|扫描二维码|点击(?:这里|此处|查看|进入|下载|[上下]方|右上|左上|关注|阅读|链接|图片|观看)"
    r"|关注(?:我们|公众号|微信)|微信搜索|责任编辑|责编|[请止勿绝迎]转载|转载[请自须需]|分享[到至]|[上下]一篇|相关阅读"
    r"|广告(?:合作|投放(?!的)|位|服务|热线|刊例)|举报(?:电话|邮箱|热线|投诉|反馈)|投诉举报|客户端下载",
    re.I,
)
_BETWEEN_PIECES = re.compile("(?<![A-Za-z0-9]) (?![A-Za-z0-9])")
_ORDER = re.compile(
    r"(?:ignore|disregard).{0,30}(?:instruction|prompt)|(?:your|reveal|print|repeat).{0,20}system prompt"
    r"|忽略.{0,10}(?:指令|提示)",
    re.I,
)

_REFERS_BACK = re.compile(
    r"(?:It|Its|They|Their|He|She|His|Her|This|These|That|Those|Such|The (?:former|latter)|However|But|And|Also|Then)\b"
    r"|[其该它他她牠此这那](?!他|它|外|次|时|后|前|种是)|本[书片剧站校作曲专](?!来|身|人)|两者|二者|同时|此外|另外|但|而且"
    r"|因此|所以|随后|之后|目前为止|在此|[由为对]此|相反|其次|[赛会事]后|[翌次同]年|指(?=[在由以用对从与将把某])|又称|[也亦]称"
)
_HEADING = re.compile(r"\s*#{1,6}\s")
_ANNOUNCES = re.compile(
    r".{0,40}?(?:有|分为|存在)(?:一?些|[多数几两三四五六不许以如][个种类点项大少多下]?)[^，,：:。]{0,6}"
    r"(?:原因|特[征点色]|分别|区别|差[异别]|种类|类型?|方[面法式]|部分|步骤|作用|用途|观点|说法|条件|因素|阶段|[好坏]处)[。.]$"
    r"|.{0,80}\b(?:several|two|three|four|five|many|some|the following) (?:\w+ )?(?:reasons|features|differences|types"
    r"|kinds|ways|parts|factors|steps|causes|theories|stages)\.$"
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A source under its number, with all of its text that is known."""

    number: int
    title: str
    text: str
    published: str = ""
    """The day on which it appeared, in ISO form."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table of a source."""

    table: int
    """Which table of the source, by the place of its first row."""
    header: tuple[str, ...]
    cells: tuple[str, ...]

    @property
    def text(self) -> str:
        """The row as words: each cell after the name of its column."""
        names = self.header or ("",) * len(self.cells)
        named = zip(names, self.cells, strict=False)
        return "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of a source that may be quoted."""

    text: str
    number: int
    title: str
    before: Candidate | None
    """The sentence before it, where it may be quoted too."""
    stems: Counter[str]
    nearby: frozenset[str]
    """The stems of the title, of the heading above it and of the sentence before."""
    source: frozenset[str]
    """The stems of the whole source."""
    paragraph: int
    position: int
    is_cut_off: bool
    """Whether the source breaks off in it, as snippets do."""
    row: TableRow | None = None
    """The row of a table that it stands for."""
    is_heading: bool = False
    """Whether it only tells what the sentences below it are about."""

    def has_nearby(self, stem: str) -> bool:
        """Whether a word is in it, or in what is above and before it."""
        return stem in self.stems or stem in self.nearby

    @property
    def around(self) -> str:
        """The title, the sentence before it, and itself."""
        return f"{self.title} {self.before.text if self.before else ''} {self.text}"


def refers_back(text: str) -> bool:
    """Whether a sentence begins with a word for something that was named before it."""
    return _REFERS_BACK.match(text) is not None


def announces(text: str) -> bool:
    """Whether a sentence only says that something follows: "There are two reasons." """
    return _ANNOUNCES.match(text) is not None


def find_candidates(evidence: Evidence) -> Iterator[Candidate]:
    """Yield the sentences of a source that may be quoted, in its order."""
    reader = _Reader(evidence)
    # A command or a listing is no sentence.
    text = _CODE.sub("\n", evidence.text)
    for place, paragraph in enumerate(_PARAGRAPH_END.split(text)):
        yield from reader.read(place, paragraph)


class _Reader:
    """Reads the sentences of a source, paragraph by paragraph."""

    def __init__(self, evidence: Evidence) -> None:
        self._number = evidence.number
        self._title = _SITE_NAME.sub("", evidence.title).strip()
        self._title_stems = frozenset(stems(simplified(self._title)))
        self._source = self._title_stems.union(stems(simplified(evidence.text)))
        self._ending = evidence.text.rstrip()
        self._heading = frozenset[str]()
        self._before: Candidate | None = None
        self._rows = _Rows()
        self._seen: set[str] = set()
        self._count = 0

    def read(self, place: int, paragraph: str) -> Iterator[Candidate]:
        """Yield the sentences of a paragraph, or the row of a table that it is."""
        is_heading = _HEADING.match(paragraph) is not None
        if is_heading:
            self._heading, self._before = frozenset(stems(simplified(paragraph))), None
        row = self._rows.read(paragraph, self._count)
        if row:
            texts: Iterable[str] = (row.text,)
        elif self._rows.is_open:
            return  # The head of a table.
        else:
            texts = _sentences(_plain(paragraph))
        for text in texts:
            has_length = _MIN_LENGTH <= len(text) <= LONGEST
            is_new = has_length and text not in self._seen
            if not is_new or _is_boilerplate(text):
                self._before = None
                continue
            candidate = self._candidate(text, place, row, is_heading=is_heading)
            self._seen.add(text)
            self._count += 1
            self._before = None if is_heading else candidate
            yield candidate

    def _candidate(self, text: str, place: int, row: TableRow | None, *, is_heading: bool) -> Candidate:
        """Return a sentence with what is known of the place where it stands."""
        before = self._before
        before_stems = before.stems if before else ()
        return Candidate(
            text,
            self._number,
            self._title,
            before,
            stems=Counter(stems(simplified(text))),
            nearby=self._title_stems.union(self._heading, before_stems),
            source=self._source,
            paragraph=place,
            position=self._count,
            is_cut_off=self._is_cut_off(text),
            row=row,
            is_heading=is_heading,
        )

    def _is_cut_off(self, text: str) -> bool:
        """Whether the source breaks off in a sentence."""
        if text.endswith(("…", "...")):
            return True
        return text[-1].isalnum() and self._ending.endswith(text)


class _Rows:
    """Reads the tables of a text line by line."""

    def __init__(self) -> None:
        self._header: tuple[str, ...] = ()
        self._table = 0
        self._has_rule = False
        self.is_open = False

    def read(self, line: str, position: int) -> TableRow | None:
        """Return the row that a line is; the line above the rule is the header."""
        bare = line.strip()
        if not _TABLE_LINE.fullmatch(bare):
            self.is_open = False
            return None
        inner = bare[1:-1]
        cells = tuple(map(_plain, _CELL_END.split(inner)))
        if not self.is_open:
            self._header, self._table, self._has_rule, self.is_open = cells, position, False, True
            return None
        if not self._has_rule and _is_rule(inner):
            self._has_rule = True
            return None
        return TableRow(self._table, self._header, cells)


def _is_rule(line: str) -> bool:
    """Whether a line is the one below the header of a table."""
    return all(_RULE.fullmatch(cell.strip()) for cell in line.split("|"))


def _plain(text: str) -> str:
    """Return the words of a line of Markdown; the citation marks of a page would be taken for ours."""
    text = _CODE_SPAN.sub(r"\2", _LINK.sub(r"\1", text))
    text = _MARKUP.sub("", _CITATION_MARK.sub("", text))
    return " ".join(_SNIPPET_DATE.sub("", text).split())


def _sentences(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph without the notes of margins that have got into them.

    In Chinese only pieces of a page stand between spaces; what is between two notes is kept as it is.
    """
    for sentence in split_sentences(paragraph, LONGEST):
        if not _is_note(sentence):
            yield sentence
        elif not sentence.isascii():
            for is_note, pieces in groupby(_BETWEEN_PIECES.split(sentence), _is_note):
                yield "" if is_note else " ".join(pieces)


def _is_note(text: str) -> bool:
    """Whether a text has a note of the margin in it."""
    return _MARGIN.search(text) is not None


def _is_boilerplate(text: str) -> bool:
    """Whether ``text`` is a menu, a question, the heading of a list, or an order to the reader."""
    if text.endswith(("?", "？", ":", "：")) or text.startswith("^") or _ORDER.search(text):
        return True
    letters = sum(map(str.isalnum, text))
    is_mostly_signs = letters < _MIN_LETTERS * len(text.replace(" ", ""))
    return is_mostly_signs or text.count("|") > 2
