"""The features of a block: the numbers by which main content is distinguished from the rest of a page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from math import log1p
from string import ascii_uppercase, digits

from ..text.dates import MONTH_NAMES
from ..text.words import count_cjk
from .block import Block, Element

_FAR = 9.0

# Kinds of hints in an element's class, id and role; a feature is the distance of the nearest ancestor with the hint.
_HINT_PATTERNS = (
    r"nav|menu|foot|header|masthead|breadcrumb|crumb|toolbar|top-?bar|logo|search|skip|banner",
    r"side|aside|rail|widget|complementary|right|column",
    r"relat|recommend|more|also|trend|popular|promo|teaser|latest|sponsor|outbrain|taboola|carousel|slider|next|prev|"
    r"hot|rank|card|similar|upsell",
    r"\bads?\b|\bad[-_]|advert|cookie|consent|gdpr|popup|modal|overlay|newsletter|subscri|sign-?up|login|dialog",
    r"comment|respond|reply|replies|discuss|disqus|review|feedback",
    r"share|social|\btags?\b|byline|meta|author|date|time|copyright|info|source|editor|print|caption|credit|categor",
    r"article|content|entry|post|story|text|\bbody|prose|markdown|blog|正文",
    r"main|detail|descri|document|wiki|primary|center",
    r"message|thread|topic|answer|question|faq|accordion|tab",
    r"product|summary|spec|feature|overview|price|cart|item|list|grid|result",
    r"title|headline|heading|subtitle",
)
# For names and texts in lower case: a pattern that ignores case takes several times as long.
_HINTS = tuple(map(re.compile, _HINT_PATTERNS))
# Most names are no hint at all.
_ANY_HINT = re.compile("|".join(_HINT_PATTERNS))
_TAGS = [
    "nav",
    "footer",
    "header",
    "aside",
    "form",
    "main",
    "article",
    "figure",
    "section",
    "ul",
    "table",
    "details",
    "blockquote",
    "p",
]
_TAG_INDEX = {tag: len(_HINTS) + number for number, tag in enumerate(_TAGS)}
_NO_HINTS = (_FAR,) * (len(_HINTS) + len(_TAGS))

_SENTENCE_END = re.compile(r"[.!?。！？…:：\"”’」』)）]\s*$")
# One set of characters at the beginning is searched for several times as fast as alternatives.
_PUNCTUATION = re.compile(r"[,，、;；.。!！?？](?:(?<=[，。、；！？])|(?=\s|$|[^\x00-\x7f]))")
_ASCII_PUNCTUATION = re.compile(r"[,;.!?](?!\S)")
"""The same in ASCII, in half the time."""
_ASCII_BOILERPLATE = re.compile(
    r"copyright|all rights|cookie|privacy|subscribe|sign (?:in|up)|log ?in|newsletter|share (?:this|on)|follow us|"
    r"read more|see also|related|advertis|click here|terms of|add to cart"
)
_BOILERPLATE = re.compile(
    rf"{_ASCII_BOILERPLATE.pattern}|©|"
    r"版权|责任编辑|编辑[:：]|上一篇|下一篇|相关|登录|登陆|注册|评论|分享|转载|声明|来源[:：]|热点|推荐|更多|点击|"
    r"关注|返回|打印|收藏|字号|免责|客服|广告|微博|稿件|延伸閱讀|相關|更多|編輯|轉寄|列印|發表|留言|回應"
)
_DATE = re.compile(
    r"\b(?:19|20)\d\d[-/.年]\s?\d{1,2}|\b\d{1,2}[:：]\d\d\b|"
    rf"\b(?:{'|'.join(name[:3].lower() for name in MONTH_NAMES)})[a-z]*\.? \d"
)
_SIDE_SECTION = re.compile(
    r"comment|respon|repl(?:y|ies)|review|about the author|more (?:from|in|on|stories)|you (?:may|might)|latest|"
    r"popular|trending|tags|categor|recommend|contact|get in touch|"
    r"how about|similar|complete the|shop the|bought|customers also|recently viewed|(?:goes|pairs) well|inspiration|"
    r"最新|热门|排行|留言|猜你|精彩|热评|网友|導讀|熱門|新聞"
)
_Kinds = dict[tuple[Element | None, str, str], list[Element]]
"""The elements of one parent that have the same tag and names."""
_NO_BLOCKS = (-1.0,) * 6
_NO_ANCESTORS = (-1.0,) * 20
_ONE_CAPITAL_AND_DIGIT = bytes.maketrans((ascii_uppercase + digits).encode(), b"A" * 26 + b"0" * 10)
_KINDS = {"p": 0, "h": 1, "pre": 2, "table": 3}


def features(blocks: list[Block], title: str, description: str = "") -> Iterator[list[float]]:
    """One row of numbers per block; the trees refer to features by their position in the row."""
    stats = [_BlockStats(block) for block in blocks]
    elements = _measure_elements(blocks, stats)
    page = _page_features(blocks, stats)
    title_block = _find_title(blocks, title)
    total = max(1.0, sum(stat.size for stat in stats))
    title_element = blocks[title_block].element if title_block >= 0 else None
    of_elements = _element_features(elements, total, _best_element(blocks), title_element)
    shares: dict[str, float] = defaultdict(float)
    for stat in stats:
        shares[stat.signature] += stat.size
    repeats = Counter(block.text for block in blocks)
    # Two numbers of each block, and of three before the first and after the last.
    briefs = [*_NO_BLOCKS, *chain.from_iterable(stat.brief for stat in stats), *_NO_BLOCKS]
    before = 0.0
    section = [-1.0, -1.0, -1.0, -1.0]
    for i, (block, stat) in enumerate(zip(blocks, stats, strict=True)):
        section = _heading_features(block, stat) if block.kind == "h" else _next_in_section(section)
        row = stat.features(block, title)
        row += of_elements[block.element]
        row += (
            float(i - title_block) if title_block >= 0 else -999.0,
            i / len(blocks),
            before / total,
            shares[stat.signature] / total,
            float(repeats[block.text]),
            _description_overlap(block.text, description),
        )
        row += section
        row += _repetition_features(block.element)
        first = 2 * i
        row += briefs[first : first + 6]
        row += briefs[first + 8 : first + 14]
        row += page
        yield row
        before += stat.size


def _find_title(blocks: list[Block], title: str) -> int:
    """The index of the block with the title, -1 if there is none; a heading is preferred to a breadcrumb."""
    if len(title) < 4:
        return -1
    found = -1
    for i, block in enumerate(blocks):
        if _has_title(block, title):
            if block.level in (1, 2):
                return i
            found = i if found < 0 else found
    return found


def _has_title(block: Block, title: str) -> bool:
    """Whether a block is the title, or is a heading that is a part of it or has it."""
    text = block.text
    if len(text) <= 3:
        return False
    if text == title:
        return True
    least_length = len(title) / 3
    if not block.level or len(text) <= least_length:
        return False
    return text in title or title in text


def _description_overlap(text: str, description: str) -> float:
    """Whether the block and the page's description begin with text of each other: 0, 1 or 2."""
    if len(text) < 30 or len(description) < 30:
        return 0.0
    return float(text[:30] in description) + float(description[:30] in text)


def _heading_features(heading: Block, stat: _BlockStats) -> list[float]:
    """The heading of the current section: distance, level, link share, and whether it introduces side content."""
    text = heading.text[:60].lower()
    side = _BOILERPLATE.search(text) or _SIDE_SECTION.search(text)
    return [0.0, float(heading.level), stat.link_share, float(side is not None)]


def _next_in_section(section: list[float]) -> list[float]:
    """The same section, seen from the next block."""
    distance, *rest = section
    return [distance + 1, *rest] if distance >= 0 else section


def _repetition_features(element: Element) -> list[float]:
    """How many siblings are similar to the element and to its nearest ancestors, as cards and comments are."""
    row = [each.alike for each in element.lineage(4)]
    return row + [0.0] * (4 - len(row))


class _BlockStats:
    """The measures of a block that are used more than once."""

    __slots__ = ("brief", "cjk", "link_share", "punctuation", "signature", "size")

    def __init__(self, block: Block) -> None:
        text = block.text
        self.cjk = count_cjk(text[:2000])
        # A Chinese character carries about as much information as two and a half letters.
        self.size = len(text) + 1.5 * self.cjk
        self.link_share = min(1.0, block.link_size / len(text))
        head = text[:5000]
        self.punctuation = len((_ASCII_PUNCTUATION if head.isascii() else _PUNCTUATION).findall(head))
        self.brief = (log1p(self.size) * (1 - self.link_share), self.link_share)
        element = block.element
        parent = element.parent or element
        self.signature = f"{element.tag}/{parent.tag}.{parent.names}"

    def features(self, block: Block, title: str) -> list[float]:
        """The features of the block itself."""
        text = block.text
        head = text[:400]
        low = head.lower() if len(text) < 400 else ""
        letters = max(1, len(head))
        upper, digits = _upper_and_digits(head)
        return [
            float(_KINDS[block.kind]),
            float(block.level),
            log1p(self.size),
            self.link_share,
            float(block.link_count),
            float(self.punctuation),
            self.punctuation / (self.size + 10) * 100,
            float(bool(_SENTENCE_END.search(text[-8:]))),
            float(len((_ASCII_BOILERPLATE if low.isascii() else _BOILERPLATE).findall(low))),
            float(bool(digits and _DATE.search(low))) if len(text) < 200 else 0.0,
            upper / letters,
            digits / letters,
            float(block.item is not None),
            float(block.quotes),
            float(text.count("\n")),
            self.cjk / letters,
            _shares_text(text, title),
            float(text.startswith(("|", "·", "»", ">", "-", "•", "©"))),
        ]


def _shares_text(text: str, title: str) -> float:
    """1 where a text is a part of the title or has it, 0 elsewhere."""
    if not title or len(text) <= 3:
        return 0.0
    return float(text in title or title in text)


def _upper_and_digits(text: str) -> tuple[int, int]:
    """How many capital letters and how many digits."""
    if text.isascii():
        # Several times as fast.
        letters = text.encode().translate(_ONE_CAPITAL_AND_DIGIT)
        return letters.count(b"A"), letters.count(b"0")
    return sum(map(str.isupper, text)), sum(map(str.isdigit, text))


def _measure_elements(blocks: list[Block], stats: list[_BlockStats]) -> dict[Element, None]:
    """Compute sums, scores and hints of all elements, and how many are alike; return them, parents first."""
    elements: dict[Element, None] = {}
    kinds: _Kinds = {}
    for block, stat in zip(blocks, stats, strict=True):
        element = block.element
        _collect_ancestors(element, elements, kinds)
        element.size += stat.size
        element.links += stat.size * stat.link_share
        element.blocks += 1
        element.punctuation += stat.punctuation
        element.paragraphs += stat.size > 80 and stat.link_share < 0.4
        if stat.size > 25 and block.kind != "h":
            # As in Readability, a paragraph adds to the score of its parent, and half to that of its grandparent.
            worth = 1 + stat.punctuation + min(stat.size / 100, 3)
            value = worth * (1 - stat.link_share)
            for outer, share in zip(element.lineage(3), (0.3, 1.0, 0.5), strict=False):
                outer.score += value * share
    # Children come after their parents, so in reverse order every sum is complete when it is added to the parent.
    for element in reversed(elements):
        if (parent := element.parent) is not None:
            parent.size += element.size
            parent.links += element.links
            parent.blocks += element.blocks
            parent.punctuation += element.punctuation
            parent.paragraphs += element.paragraphs
    for alike in kinds.values():
        for element in alike:
            element.alike = float(len(alike))
    return elements


def _collect_ancestors(element: Element, elements: dict[Element, None], kinds: _Kinds) -> None:
    """Add ``element`` and its ancestors to ``elements``, the outermost first."""
    new = []
    walker: Element | None = element
    while walker is not None and walker not in elements:
        new.append(walker)
        walker = walker.parent
    for found in reversed(new):
        elements[found] = None
        alike = kinds.setdefault((found.parent, found.tag, found.names), [])
        found.hints = alike[0].hints if alike else _hints(found)
        alike.append(found)


@lru_cache(maxsize=16_384)
def _hint_numbers(names: str) -> tuple[int, ...]:
    """The hints in the first of the names, each of which is looked at by itself."""
    found = [name for name in names.lower().split()[:12] if _ANY_HINT.search(name)]
    return tuple(number for number, pattern in enumerate(_HINTS) if any(map(pattern.search, found))) if found else ()


@lru_cache(maxsize=4096)
def _one_step_down(hints: tuple[float, ...]) -> tuple[float, ...]:
    """The hints of what is above an element, seen from the element."""
    return tuple(step + 1.0 if step < _FAR else _FAR for step in hints)


def _hints(element: Element) -> tuple[float, ...]:
    hints_above = element.parent.hints if element.parent is not None else _NO_HINTS
    nearest = list(_one_step_down(hints_above))
    for number in _hint_numbers(element.names):
        nearest[number] = 0.0
    if element.tag in _TAG_INDEX:
        nearest[_TAG_INDEX[element.tag]] = 0.0
    return tuple(nearest)


def _element_features(
    elements: Iterable[Element], total: float, best: Element | None, title: Element | None
) -> dict[Element, tuple[float, ...]]:
    """What the rows of the blocks of an element have in common: hints, ancestors, scores, and where it stands."""
    ancestors: dict[Element | None, tuple[float, ...]] = {None: _NO_ANCESTORS}
    to_best, to_title = _distances(elements, best), _distances(elements, title)
    found: dict[Element, tuple[float, ...]] = {}
    for element in elements:
        outer = element.parent
        # How much text, links, blocks and punctuation the element and its nearest ancestors contain.
        ancestors[element] = (
            element.size / total,
            element.links / (element.size + 1),
            float(element.blocks),
            element.punctuation / (element.blocks + 1),
            *ancestors[outer][:16],
        )
        found[element] = (
            *element.hints,
            *ancestors[element],
            float(element.depth),
            *to_best[element],
            element.score,
            outer.score if outer is not None else 0.0,
            float(outer.paragraphs) if outer is not None else 0.0,
            *to_title[element],
        )
    return found


def _best_element(blocks: list[Block]) -> Element | None:
    """The element with the best score, reduced by its share of links."""
    lineages = (block.element.lineage(3) for block in blocks)
    candidates = dict.fromkeys(chain.from_iterable(lineages))
    return max(candidates, key=_reduced_score, default=None)


def _reduced_score(element: Element) -> float:
    link_share = element.links / (element.size + 1)
    return element.score * (1 - link_share)


def _distances(elements: Iterable[Element], other: Element | None) -> dict[Element, tuple[float, float]]:
    """The steps from each element up to the nearest common ancestor, and from there to the other element."""
    if other is None:
        return dict.fromkeys(elements, (-1.0, -1.0))
    steps: dict[Element, int] = {}
    while other is not None:
        steps[other] = len(steps)
        other = other.parent
    found: dict[Element, tuple[float, float]] = {}
    for element in elements:
        if element in steps or element.parent is None:
            found[element] = (0.0, float(steps.get(element, 99)))
        else:
            down, up = found[element.parent]
            found[element] = (down + 1.0, up)
    return found


def _page_features(blocks: list[Block], stats: list[_BlockStats]) -> list[float]:
    """The features of the whole page, which tell what kind of page it is."""
    total = sum(stat.size for stat in stats) + 1
    linked = sum(stat.size * stat.link_share for stat in stats)
    long = [stat.size for stat in stats if stat.size > 80 and stat.link_share < 0.4]
    return [
        log1p(total),
        linked / total,
        float(len(blocks)),
        sum(long) / total,
        float(len(long)),
        max(long, default=0.0) / total,
        sum(stat.size for block, stat in zip(blocks, stats, strict=True) if block.element.tag == "p") / total,
        sum(stat.size for block, stat in zip(blocks, stats, strict=True) if block.item is not None) / total,
        sum(stat.cjk for stat in stats) / total,
    ]
