"""What a block looks like from outside: the numbers by which the main content is told from the rest."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import lru_cache
from math import log1p

from .block import Block, Box

_FAR = 9

# One bit per kind of hint in an element's class, id, role or tag; the features say how near the nearest such ancestor is.
_HINTS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"nav|menu|foot|header|masthead|breadcrumb|crumb|toolbar|top-?bar|logo|search|skip|banner",
        r"side|aside|rail|widget|complementary|right|column",
        r"relat|recommend|more|also|trend|popular|promo|teaser|latest|sponsor|outbrain|taboola|carousel|slider|next|prev|hot|rank|card|similar|upsell",
        r"\bads?\b|\bad[-_]|advert|cookie|consent|gdpr|popup|modal|overlay|newsletter|subscri|sign-?up|login|dialog",
        r"comment|respond|reply|replies|discuss|disqus|review|feedback",
        r"share|social|\btags?\b|byline|meta|author|date|time|copyright|info|source|editor|print|caption|credit|categor",
        r"article|content|entry|post|story|text|\bbody|prose|markdown|blog|正文",
        r"main|detail|descri|document|wiki|primary|center",
        r"message|thread|topic|answer|question|faq|accordion|tab",
        r"product|summary|spec|feature|overview|price|cart|item|list|grid|result",
        r"title|headline|heading|subtitle",
    )
)
_TAGS = (
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
)
_TAG_INDEX = {tag: len(_HINTS) + number for number, tag in enumerate(_TAGS)}
_NOWHERE = (_FAR,) * (len(_HINTS) + len(_TAGS))

_END = re.compile(r"[.!?。！？…:：\"”’」』)）]\s*$")
_MARKS = re.compile(r"[,，、;；.。!！?？](?=\s|$|[^\x00-\x7f])|[，。、；！？]")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NOISE = re.compile(
    r"copyright|©|all rights|cookie|privacy|subscribe|sign (?:in|up)|log ?in|newsletter|share (?:this|on)|follow us|read more|see also|"
    r"related|"
    r"advertis|click here|terms of|add to cart|©|"
    r"版权|责任编辑|编辑[:：]|上一篇|下一篇|相关|登录|登陆|注册|评论|分享|转载|声明|来源[:：]|热点|推荐|更多|点击|"
    r"关注|返回|打印|收藏|字号|免责|客服|广告|微博|稿件|延伸閱讀|相關|更多|編輯|轉寄|列印|發表|留言|回應",
    re.I,
)
_DATE = re.compile(
    r"\b(?:19|20)\d\d[-/.年]\s?\d{1,2}|\b\d{1,2}[:：]\d\d\b|"
    r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d",
    re.I,
)
_BESIDE = re.compile(
    r"comment|respon|repl(?:y|ies)|review|about the author|more (?:from|in|on|stories)|you (?:may|might)|latest|popular|trending|tags|"
    r"categor|recommend|contact|get in touch|最新|热门|排行|留言|猜你|精彩|热评|网友|導讀|熱門|新聞",
    re.I,
)
_NO_SECTION = (-1, None, None)
_KINDS = {"p": 0, "h": 1, "pre": 2, "table": 3}


def features(blocks: list[Block], title: str, description: str = "") -> list[list[float]]:
    """One row of numbers per block."""
    facts = [_Facts(block) for block in blocks]
    twins = _measure(blocks, facts)
    page = _page(blocks, facts)
    best = _upward(_best(blocks))
    anchor = _anchor(blocks, title)
    named = _upward(blocks[anchor].box if anchor >= 0 else None)
    total = max(1.0, sum(fact.size for fact in facts))
    shares: dict[str, float] = defaultdict(float)
    for fact in facts:
        shares[fact.signature] += fact.size
    repeats = Counter(block.text for block in blocks)
    rows = []
    before = 0.0
    section: tuple[int, Block | None, _Facts | None] = _NO_SECTION
    for i, (block, fact) in enumerate(zip(blocks, facts, strict=True)):
        if block.kind == "h":
            section = (i, block, fact)
        row = fact.own(block, title)
        row += block.box.hints
        row += _around(block, total)
        row += _placed(block, best)
        row += _meeting(block.box, named) if named else (-1.0, -1.0)
        row += (
            float(i - anchor) if anchor >= 0 else -999.0,
            i / len(blocks),
            before / total,
            shares[fact.signature] / total,
        )
        row += (float(repeats[block.text]), _described(block.text, description))
        row += _section(i, section)
        row += _repeated(block.box, twins)
        for step in (-3, -2, -1, 1, 2, 3):
            row += facts[i + step].brief if 0 <= i + step < len(facts) else (-1.0, -1.0)
        row += page
        rows.append(row)
        before += fact.size
    return rows


def _anchor(blocks: list[Block], title: str) -> int:
    """The block that shows the title, -1 where none does; a heading rather than a crumb."""
    if len(title) < 4:
        return -1
    found = -1
    for i, block in enumerate(blocks):
        text = block.text
        if len(text) > 3 and (
            text == title or (block.level and len(text) > len(title) / 3 and (text in title or title in text))
        ):
            if block.level in (1, 2):
                return i
            found = i if found < 0 else found
    return found


def _described(text: str, description: str) -> float:
    """Whether the block begins as the page's description does, or the description quotes it."""
    if len(text) < 30 or len(description) < 30:
        return 0.0
    return float(text[:30] in description) + float(description[:30] in text)


def _section(i: int, section: tuple[int, Block | None, _Facts | None]) -> list[float]:
    """What the heading above says: how far it is, its level, whether it is a link, and whether it names something beside the point."""
    at, heading, fact = section
    if heading is None or fact is None:
        return [-1.0, -1.0, -1.0, -1.0]
    words = heading.text[:60]
    beside = _NOISE.search(words) or _BESIDE.search(words)
    return [float(i - at), float(heading.level), fact.link_share, float(beside is not None)]


def _repeated(box: Box, twins: Counter[tuple[Box | None, str, str]]) -> list[float]:
    """How many siblings are made alike, for the box and the three around it: cards, comments and teasers come in rows."""
    row = []
    walker: Box | None = box
    for _ in range(4):
        row.append(float(twins[walker.parent, walker.tag, walker.name]) if walker is not None else 0.0)
        walker = walker.parent if walker is not None else None
    return row


class _Facts:
    """What is asked of a block more than once."""

    __slots__ = ("brief", "cjk", "link_share", "marks", "signature", "size")

    def __init__(self, block: Block) -> None:
        text = block.text
        self.cjk = 0 if text.isascii() else len(_CJK.findall(text[:2000]))
        # A Chinese character says about as much as two and a half letters.
        self.size = len(text) + 1.5 * self.cjk
        self.link_share = min(1.0, block.link_size / len(text))
        self.marks = len(_MARKS.findall(text[:5000]))
        self.brief = (log1p(self.size) * (1 - self.link_share), self.link_share)
        box = block.box
        parent = box.parent or box
        self.signature = f"{box.tag}/{parent.tag}.{parent.name}"

    def own(self, block: Block, title: str) -> list[float]:
        """The numbers of the block by itself."""
        text = block.text
        head = text[:400]
        letters = max(1, len(head))
        return [
            float(_KINDS[block.kind]),
            float(block.level),
            log1p(self.size),
            self.link_share,
            float(block.link_count),
            float(self.marks),
            self.marks / (self.size + 10) * 100,
            float(bool(_END.search(text[-8:]))),
            float(len(_NOISE.findall(head))) if len(text) < 400 else 0.0,
            float(bool(_DATE.search(head))) if len(text) < 200 else 0.0,
            sum(map(str.isupper, head)) / letters,
            sum(map(str.isdigit, head)) / letters,
            float(block.item is not None),
            float(block.quotes),
            float(text.count("\n")),
            self.cjk / letters,
            float(len(text) > 3 and (text in title or title in text)) if title else 0.0,
            float(text.startswith(("|", "·", "»", ">", "-", "•", "©"))),
        ]


def _measure(blocks: list[Block], facts: list[_Facts]) -> Counter[tuple[Box | None, str, str]]:
    """Add each block's text up into the boxes around it, give every box its hints, and count boxes that are alike."""
    boxes: dict[Box, None] = {}
    for block, fact in zip(blocks, facts, strict=True):
        box = block.box
        _enlist(box, boxes)
        box.size += fact.size
        box.links += fact.size * fact.link_share
        box.blocks += 1
        box.marks += fact.marks
        box.paragraphs += fact.size > 80 and fact.link_share < 0.4
        if fact.size > 25 and block.kind != "h":
            _credit(box, (1 + fact.marks + min(fact.size / 100, 3)) * (1 - fact.link_share))
    # Boxes stand behind those around them, so going backwards every sum is complete when it is handed on.
    for box in reversed(boxes):
        if (outer := box.parent) is not None:
            outer.size += box.size
            outer.links += box.links
            outer.blocks += box.blocks
            outer.marks += box.marks
            outer.paragraphs += box.paragraphs
    return Counter((box.parent, box.tag, box.name) for box in boxes)


def _enlist(box: Box, boxes: dict[Box, None]) -> None:
    """Enter ``box`` and those around it, the outermost first."""
    fresh = []
    walker: Box | None = box
    while walker is not None and walker not in boxes:
        fresh.append(walker)
        walker = walker.parent
    for found in reversed(fresh):
        boxes[found] = None
        found.hints = _hints(found)


def _credit(box: Box, value: float) -> None:
    """As Readability does: a paragraph speaks for its parent, half for the one above."""
    outer: Box | None = box
    for share in (0.3, 1.0, 0.5):
        if outer is None:
            return
        outer.score += value * share
        outer = outer.parent


@lru_cache(maxsize=16_384)
def _named(token: str) -> tuple[int, ...]:
    return tuple(number for number, pattern in enumerate(_HINTS) if pattern.search(token))


def _hints(box: Box) -> tuple[int, ...]:
    above = box.parent.hints if box.parent is not None else _NOWHERE
    nearest = [step + 1 if step < _FAR else _FAR for step in above]
    for token in box.name.split()[:12]:
        for number in _named(token):
            nearest[number] = 0
    if box.tag in _TAG_INDEX:
        nearest[_TAG_INDEX[box.tag]] = 0
    return tuple(nearest)


def _around(block: Block, total: float) -> list[float]:
    """How much text, how many links and how many blocks the boxes around hold."""
    row: list[float] = []
    box: Box | None = block.box
    for _ in range(5):
        if box is None:
            row += (-1.0, -1.0, -1.0, -1.0)
            continue
        row += (box.size / total, box.links / (box.size + 1), float(box.blocks), box.marks / (box.blocks + 1))
        box = box.parent
    row.append(float(block.box.depth))
    return row


def _best(blocks: list[Block]) -> Box | None:
    """The box with the best score."""
    top: Box | None = None
    for block in blocks:
        box: Box | None = block.box
        for _ in range(3):
            if box is not None:
                if top is None or box.score * (1 - box.links / (box.size + 1)) > top.score * (
                    1 - top.links / (top.size + 1)
                ):
                    top = box
                box = box.parent
    return top


def _upward(top: Box | None) -> dict[Box, int]:
    """The box and those around it, with the steps from it."""
    steps: dict[Box, int] = {}
    while top is not None:
        steps[top] = len(steps)
        top = top.parent
    return steps


def _meeting(box: Box, steps: dict[Box, int]) -> tuple[float, float]:
    """How far a box is from another: steps up from it to where they meet, and from the other one."""
    down = 0
    while box not in steps and box.parent is not None:
        box, down = box.parent, down + 1
    return float(down), float(steps.get(box, 99))


def _placed(block: Block, best: dict[Box, int]) -> list[float]:
    """How far the block is from the best box, and the scores around."""
    down, up = _meeting(block.box, best)
    outer = block.box.parent
    return [
        down,
        up,
        block.box.score,
        outer.score if outer is not None else 0.0,
        float(outer.paragraphs) if outer is not None else 0.0,
    ]


def _page(blocks: list[Block], facts: list[_Facts]) -> list[float]:
    """What kind of page it is."""
    total = sum(fact.size for fact in facts) + 1
    linked = sum(fact.size * fact.link_share for fact in facts)
    long = [fact.size for fact in facts if fact.size > 80 and fact.link_share < 0.4]
    return [
        log1p(total),
        linked / total,
        float(len(blocks)),
        sum(long) / total,
        float(len(long)),
        max(long, default=0.0) / total,
        sum(fact.size for block, fact in zip(blocks, facts, strict=True) if block.box.tag == "p") / total,
        sum(fact.size for block, fact in zip(blocks, facts, strict=True) if block.item is not None) / total,
        sum(fact.cjk for fact in facts) / total,
    ]
