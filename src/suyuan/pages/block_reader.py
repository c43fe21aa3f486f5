"""A page read as a flat list of blocks: what a person would call paragraphs, headings, list items, tables, code."""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from .block import Block, Box, Item, Piece
from .hidden import VisibilityChecker, visible_text

MAX_NODES = 150_000
MAX_BLOCKS = 12_000
MAX_PIECE = 200_000
LITTLE = 400

_UNSEEN = (
    "script style template head svg iframe object embed canvas video audio map area select input textarea datalist img picture "
    "source track frameset frame noframes applet progress meter param link meta base title rp rt -comment dialog"
)
_SKIP = frozenset(_UNSEEN.split())
_BLOCK_NAMES = (
    "address article aside blockquote body button center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 "
    "h5 h6 header hgroup hr legend li main menu nav ol p pre search section summary table tbody td tfoot th thead tr ul caption "
    "listing xmp plaintext"
)
_BLOCK = frozenset(_BLOCK_NAMES.split())
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_PRE = frozenset(("pre", "listing", "xmp", "plaintext"))
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_HOLDS = frozenset(("body", "main", "article"))
_SPACE = re.compile(r"\s+")
_TIDY = re.compile(r" *\n *| {2,}")
_GUTTER = re.compile(r"\b(?:gutter|linenos?|line-?numbers?(?:-rows)?|blob-num)\b", re.I)
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|brush:?|highlight)[-\s]\s*([\w+#.-]+)", re.I)
_NOT_A_LANGUAGE = frozenset(("none", "plaintext", "text", "default", "nohighlight", "plain"))
_PROSE = re.compile(r"(?:\b[A-Za-z]{3,}\b[ ,.]+){4}|[\u3040-\u9fff]{4}")
_LAYOUT = "table table, table form, table h1, table h2, table h3, table article, table section, table nav, table iframe, table object"


@dataclass(slots=True, eq=False)
class _List:
    ordered: bool
    count: int


def read_blocks(tree: LexborHTMLParser) -> list[Block]:
    """The blocks of the page in order, hidden ones left out."""
    seen = _walked(tree, VisibilityChecker(tree))
    if (prose := _prose(seen)) < LITTLE:
        # A page that shows next to nothing before its scripts have run keeps its text in <noscript> or under a hidden root.
        unveiled = _walked(tree, None)
        if _prose(unveiled) > 4 * prose + LITTLE:
            return unveiled
    return seen


def _walked(tree: LexborHTMLParser, sight: VisibilityChecker | None) -> list[Block]:
    root = tree.body or tree.root
    reader = _Reader(sight)
    if root is not None:
        reader.walk(root)
    return reader.blocks


def _prose(blocks: list[Block]) -> int:
    return sum(len(block.text) for block in blocks if len(block.text) > 60 and block.link_size < len(block.text) / 2)


class _Reader:
    """Walks the page once, without recursion (pages may be nested as deep as they like)."""

    def __init__(self, sight: VisibilityChecker | None) -> None:
        self.blocks: list[Block] = []
        self._sight = sight
        self._skip = _SKIP if sight is None else _SKIP | {"noscript"}
        self._box = Box(None, "html", "", 0)
        self._pieces: list[Piece] = []
        self._href = ""
        self._code = 0
        self._pre: Box | None = None
        self._language = ""
        self._table: Block | None = None
        self._lists: list[_List] = []
        self._item: Item | None = None
        self._quotes = 0

    def walk(self, root: LexborNode) -> None:
        """Visit ``root`` and everything below it."""
        stack: list[LexborNode | tuple[str, object]] = [root]
        budget = MAX_NODES
        while stack and budget and len(self.blocks) < MAX_BLOCKS:
            entry = stack.pop()
            if isinstance(entry, tuple):
                self._leave(*entry)
                continue
            budget -= 1
            if entry is not root and (following := entry.next) is not None:
                stack.append(following)
            tag = entry.tag or ""
            if tag == "-text":
                self._text(entry.text_content or "")
            elif (leaving := self._enter(entry, tag)) is not None:
                stack.append(leaving)
                if (child := entry.first_child) is not None:
                    stack.append(child)
        self._flush()

    def _text(self, text: str) -> None:
        text = text[:MAX_PIECE]
        if self._pre is None:
            text = _SPACE.sub(" ", text)
            if text == " " and not self._pieces:
                return
        self._pieces.append((text, self._href, self._code > 0))

    def _enter(self, node: LexborNode, tag: str) -> tuple[str, object] | None:
        """Take note of an element; return what to undo when it ends, or None where nothing below it counts."""
        if tag in self._skip:
            return None
        if tag == "br":
            self._break()
            return None
        attributes = node.attributes
        if attributes and self._hidden(node, tag, attributes):
            return None
        if tag in _BLOCK:
            return self._enter_block(node, tag, attributes)
        return self._enter_inline(node, tag, attributes)

    def _hidden(self, node: LexborNode, tag: str, attributes: dict[str, str | None]) -> bool:
        if self._sight is None:
            return False
        if self._sight.hides(tag, attributes):
            return True
        # Pages put aria-hidden on everything behind an open dialogue; what holds the article is shown all the same.
        if (
            attributes.get("aria-hidden") == "true"
            and tag not in _HOLDS
            and node.css_first("h1, main, article") is None
        ):
            return True
        return (self._pre is not None or tag in ("td", "pre")) and bool(_GUTTER.search(attributes.get("class") or ""))

    def _break(self) -> None:
        if self._pre is None and self._pieces and self._pieces[-1][0] == "\n" and self._table is None:
            self._flush()
        else:
            self._pieces.append(("\n", "", False))

    def _enter_inline(self, node: LexborNode, tag: str, attributes: dict[str, str | None]) -> tuple[str, object] | None:
        if tag == "a":
            before, self._href = self._href, (attributes.get("href") or "").strip() or self._href
            return "a", before
        if tag in ("code", "kbd", "samp", "tt"):
            self._code += 1
            if self._pre is not None and not self._language:
                self._language = _language(attributes)
            return "code", None
        if tag == "math":
            return self._formula(node, attributes)
        return "", None

    def _formula(self, node: LexborNode, attributes: dict[str, str | None]) -> tuple[str, object] | None:
        annotation = node.css_first("annotation")
        tex = (annotation.text() if annotation is not None else attributes.get("alttext") or "").strip()
        # The annotation is not shown, so it must look like a formula and not like words to a model.
        if not tex or len(tex) > 2000 or _PROSE.search(tex):
            return None if annotation is not None else ("", None)
        self._pieces.append((f" ${tex}$ ", "", False))
        return None

    def _enter_block(self, node: LexborNode, tag: str, attributes: dict[str, str | None]) -> tuple[str, object]:
        outer = (self._box, self._item, self._href)
        if self._table is not None:
            self._enter_cell(tag, attributes)
        elif self._pre is not None:
            self._line()
        else:
            self._flush()
        name = (
            f"{attributes.get('class') or ''} {attributes.get('id') or ''} {attributes.get('role') or ''}"
            if attributes
            else "  "
        )
        self._box = Box(self._box, tag, name[:300], self._box.depth + 1)
        if self._table is None:
            self._open(node, tag, attributes)
        return tag, outer

    def _open(self, node: LexborNode, tag: str, attributes: dict[str, str | None]) -> None:
        if tag in _LISTS:
            start = attributes.get("start") or ""
            self._lists.append(_List(tag == "ol", int(start) - 1 if start.isdecimal() and len(start) < 6 else 0))
        elif tag == "li":
            listing = self._lists[-1] if self._lists else _List(False, 0)
            listing.count += 1
            self._item = Item(listing.count if listing.ordered else 0, self._item)
        elif tag == "blockquote":
            self._quotes += 1
        elif tag in _PRE and self._pre is None:
            self._pre, self._language = self._box, _language(attributes)
        elif tag == "table" and self._pre is None and _is_data(node):
            self._table = Block("table", "", [], self._box, item=self._item, quotes=self._quotes)

    def _enter_cell(self, tag: str, attributes: dict[str, str | None]) -> None:
        assert self._table is not None
        if tag == "tr" or not self._table.rows:
            self._pieces = []
            self._table.rows.append([])
        if tag in ("td", "th"):
            self._pieces = []
            span = attributes.get("colspan") or ""
            self._table.rows[-1].append(self._pieces)
            self._table.rows[-1].extend(
                [] for _ in range(min(int(span), 20) - 1 if span.isdecimal() and len(span) < 5 else 0)
            )
        else:
            self._pieces.append((" ", "", False))

    def _leave(self, tag: str, before: object) -> None:
        if tag == "":
            return
        if tag == "a":
            self._href = str(before)
        elif tag == "code":
            self._code -= 1
        else:
            self._leave_block(tag, before)

    def _leave_block(self, tag: str, before: object) -> None:
        if self._table is not None:
            self._pieces.append((" ", "", False))
            if self._table.box is self._box:
                self._end_table()
        elif self._pre is not None:
            self._line()
            if self._pre is self._box:
                self._end_pre()
        else:
            self._flush()
        if self._table is None:
            if tag in _LISTS and self._lists:
                self._lists.pop()
            elif tag == "blockquote":
                self._quotes -= 1
        assert isinstance(before, tuple)
        self._box, self._item, self._href = before

    def _line(self) -> None:
        if self._pieces and not self._pieces[-1][0].endswith("\n"):
            self._pieces.append(("\n", "", False))

    def _end_pre(self) -> None:
        text = visible_text("".join(piece[0] for piece in self._pieces)).strip("\n").rstrip()
        pieces, self._pieces = self._pieces, []
        if text.strip():
            self._add(Block("pre", text, pieces, self._box, language=self._language))
        self._pre, self._language = None, ""

    def _end_table(self) -> None:
        table, self._table, self._pieces = self._table, None, []
        assert table is not None
        table.pieces = [piece for row in table.rows for cell in row for piece in (*cell, (" ", "", False))]
        table.text = _plain(table.pieces)
        if table.text:
            self._add(table)

    def _flush(self) -> None:
        """End the block that is being read."""
        pieces, self._pieces = self._pieces, []
        if not pieces:
            return
        text = _plain(pieces)
        if not text:
            return
        level = _HEADINGS.get(self._box.tag, 0)
        self._add(Block("h" if level else "p", text, pieces, self._box, level))

    def _add(self, block: Block) -> None:
        block.item, block.quotes = self._item, self._quotes
        seen = ""
        for text, href, _ in block.pieces:
            if href and text.strip():
                block.link_size += len(text)
                block.link_count += href != seen
                seen = href
        self.blocks.append(block)


def _plain(pieces: list[Piece]) -> str:
    text = "".join(piece[0] for piece in pieces)
    return visible_text(_TIDY.sub(_tidy, text)).strip()


def _tidy(match: re.Match[str]) -> str:
    return "\n" if "\n" in match[0] else " "


def _language(attributes: dict[str, str | None]) -> str:
    match = _LANGUAGE.search(attributes.get("class") or "")
    name = match[1] if match else attributes.get("data-lang") or attributes.get("data-language") or ""
    name = name.strip().lower()[:20]
    return "" if name in _NOT_A_LANGUAGE or not re.fullmatch(r"[\w+#.-]*", name) else name


def _is_data(table: LexborNode) -> bool:
    """Whether a table holds data and is not there for the layout."""
    if table.attributes.get("role") == "presentation" or table.css_first(_LAYOUT) is not None:
        return False
    rows = table.css("tr")
    cells = table.css("td, th")
    if len(rows) < 2 or len(cells) < len(rows) * 1.5 or len(cells) > 5000:
        return False
    if table.css_first("th, caption, thead") is not None:
        return True
    sizes = sorted(len(cell.text().strip()) for cell in cells)
    return sizes[-1] < 600 and sizes[len(sizes) // 2] < 100
