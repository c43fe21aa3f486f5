"""Reads a page as a flat list of blocks: paragraphs, headings, list items, tables and code."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..text.scripts import CJK
from ..text.visible import visible_text
from .block import BLOCK_NAMES, Block, Element, ListItem, TextRun
from .panels import Panels, is_control
from .visibility import Sight, VisibilityChecker

_LITTLE_TEXT = 400

_SKIP_NAMES = (
    "script style template head svg iframe object embed canvas video audio map area select input textarea datalist "
    "img picture source track frameset frame noframes noembed applet progress meter param link meta base title rp rt "
    "-comment dialog mphantom annotation annotation-xml"
)
_SKIP = frozenset(_SKIP_NAMES.split())
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_PRE = frozenset(("pre", "listing", "xmp", "plaintext"))
_LISTS = frozenset(("ul", "ol", "menu", "dir"))
_CONTENT = frozenset(("body", "main", "article"))
_REGIONS = frozenset(("article", "aside", "blockquote", "footer", "li", "main", "section", "td"))
_SPACES = re.compile(r" *\n *| {2,}")
_GUTTER = re.compile(r"\b(?:gutter|linenos?|line-?numbers?(?:-rows)?|blob-num)\b", re.I)
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|brush:?|highlight)[-\s]\s*([\w+#.-]+)", re.I)
_NOT_A_LANGUAGE = frozenset(("none", "plaintext", "text", "default", "nohighlight", "plain"))
_TEX_NAME = re.compile(r"\\(?:begin|end)\s*\{[^{}]*\}|\\[A-Za-z]+")
_TEX_WORD = re.compile(rf"[A-Za-z]{{4,}}|[{CJK}]+")
_SLOT = re.compile(r"<slot(?![^<>]*\bname=)", re.I)
_LAYOUT = (
    "table table, table form, table h1, table h2, table h3, table article, table section, table nav, table iframe, "
    "table object, table input:not([type=checkbox], [type=hidden])"
)


_Leaving = tuple[str, object, Sight, LexborNode | None, int]
"""The tag of an element, what to restore at its end, itself if it is a control, and how many letters came before it."""


@dataclass(slots=True, eq=False)
class _OpenList:
    ordered: bool
    count: int


def read_blocks(tree: LexborHTMLParser) -> list[Block]:
    """Return the visible blocks of the page in order."""
    visibility, around = VisibilityChecker(tree), _around_content(tree)
    visible = _BlockReader(tree, visibility, around, lambda node: False).read()
    prose = _prose_length(visible)
    if prose >= _LITTLE_TEXT or not tree.css_first("script"):
        return visible
    # Scripts are still to show the main part of such a page, or all of it; its text may also be in <noscript>.
    for is_shown_later in (lambda node: node.mem_id in around, None):
        everything = _BlockReader(tree, visibility, around, is_shown_later).read()
        if _prose_length(everything) > 4 * prose + _LITTLE_TEXT:
            return everything
    return visible


def _prose_length(blocks: list[Block]) -> int:
    return sum(len(block.text) for block in blocks if _is_prose(block))


def _is_prose(block: Block) -> bool:
    half = len(block.text) / 2
    return half > 30 and block.link_size < half


class _BlockReader:
    """Walks the page once, without recursion, since pages can be nested very deeply."""

    def __init__(
        self,
        tree: LexborHTMLParser,
        visibility: VisibilityChecker,
        around_content: frozenset[int],
        is_shown_later: Callable[[LexborNode], bool] | None,
    ) -> None:
        self.blocks: list[Block] = []
        self._root = tree.body or tree.root
        self._visibility = visibility
        self._around_content = around_content
        self._is_shown_later = is_shown_later or (lambda node: True)
        self._replaced = _replaced(tree)
        self._skip = _SKIP | {"noscript"} if is_shown_later is not None else _SKIP
        self._panels = Panels()
        self._letters = 0
        """How many letters were read."""
        self._element = Element(None, "html", "", 0)
        self._runs: list[TextRun] = []
        self._href = ""
        self._code = 0
        self._pre: Element | None = None
        self._language = ""
        self._table: Block | None = None
        self._lists: list[_OpenList] = []
        self._item: ListItem | None = None
        self._quotes = 0
        self._sight = Sight()

    def read(self) -> list[Block]:
        """The blocks of the page."""
        if (root := self._root) is None:
            return []
        stack: list[LexborNode | _Leaving] = [root]
        while stack:
            entry = stack.pop()
            if isinstance(entry, tuple):
                self._leave(*entry)
                continue
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
        return self.blocks

    def _text(self, text: str) -> None:
        if not self._sight.is_readable:
            return
        if self._pre is None:
            text = _single_spaced(text)
            if text == " " and not self._runs:
                return
        self._letters += len(text.strip())
        self._runs.append((text, self._href, self._code > 0))

    def _enter(self, node: LexborNode, tag: str) -> _Leaving | None:
        """Enter an element; return its tag and the state to restore at its end, or None to skip its content."""
        if tag in self._skip:
            return None
        if tag == "br":
            self._break()
            return None
        attributes = node.attributes
        around = self._sight
        if self._is_hidden(node, tag, attributes):
            return None
        enter = self._enter_block if tag in BLOCK_NAMES else self._enter_inline
        leaving = enter(node, tag, attributes)
        if leaving is None:
            self._sight = around
            return None
        return (*leaving, around, node if is_control(attributes) else None, self._letters)

    def _is_hidden(self, node: LexborNode, tag: str, attributes: dict[str, str | None]) -> bool:
        visibility = self._visibility
        if self._replaced and node.mem_id in self._replaced:
            return True
        if attributes or not self._sight.is_readable or visibility.has_rules_for(tag):
            sight = self._find_sight(node, tag, attributes)
            if sight is None:
                return True
            self._sight = sight
        if tag == "details" and not self._can_be_opened(node):
            return True
        if not attributes:
            return False
        return self._is_aside(node, tag, attributes) or self._is_gutter(tag, attributes)

    def _is_gutter(self, tag: str, attributes: dict[str, str | None]) -> bool:
        """Whether an element has the numbers of lines of code."""
        if self._pre is None and tag not in ("td", "pre"):
            return False
        return _GUTTER.search(attributes.get("class") or "") is not None

    def _find_sight(self, node: LexborNode, tag: str, attributes: dict[str, str | None]) -> Sight | None:
        """How the text of an element is seen, once a reader has opened what can be opened; None if it is not."""
        sight = self._visibility.sight(node, tag, attributes, self._sight)
        is_readable = sight is not None and sight.is_readable
        if is_readable or not self._opens(node, tag, attributes):
            return sight
        return self._visibility.sight(node, tag, attributes, self._sight, is_open=True)

    def _is_aside(self, node: LexborNode, tag: str, attributes: dict[str, str | None]) -> bool:
        """Whether an element that is hidden from screen readers is no part of what a reader comes for."""
        if attributes.get("aria-hidden") != "true":
            return False
        # Pages set aria-hidden on everything behind an open dialog, but the article is displayed anyway.
        if tag in _CONTENT or node.mem_id in self._around_content:
            return False
        return not self._opens(node, tag, attributes)

    def _opens(self, node: LexborNode, tag: str, attributes: dict[str, str | None]) -> bool:
        """Whether a reader gets to see an element that is closed."""
        return self._is_shown_later(node) or self._panels.has(node, tag, attributes)

    def _can_be_opened(self, details: LexborNode) -> bool:
        """Whether it is open, or a reader sees its summary; browsers write one where there is none."""
        if "open" in details.attributes:
            return True
        summary = next((child for child in details.iter() if child.tag == "summary"), None)
        if summary is None:
            return True
        seen = self._visibility.sight(summary, "summary", summary.attributes, self._sight)
        return seen is not None and seen.is_readable

    def _break(self) -> None:
        is_text = self._pre is None and self._table is None
        if is_text and self._runs and self._runs[-1][0] == "\n":
            self._flush()
        else:
            self._runs.append(("\n", "", False))

    def _enter_inline(self, node: LexborNode, tag: str, attributes: dict[str, str | None]) -> tuple[str, object] | None:
        if tag == "a":
            before, self._href = self._href, (attributes.get("href") or "").strip() or self._href
            return "a", before
        if tag in ("code", "kbd", "samp", "tt"):
            self._code += 1
            if self._pre is not None and not self._language:
                self._language = _code_language(attributes)
            return "code", None
        if tag == "math":
            return self._formula(node, attributes)
        return "", None

    def _formula(self, node: LexborNode, attributes: dict[str, str | None]) -> tuple[str, object] | None:
        annotation = node.css_first("annotation")
        annotated = annotation.text() if annotation is not None else ""
        tex = annotated if annotation is not None else attributes.get("alttext") or ""
        tex = tex.strip()
        if not tex or len(tex) > 2000:
            return "", None
        # The annotation is invisible, so it is used only if the formula shows its words.
        shown = node.text().replace(annotated, "")
        if any(word not in shown for word in _TEX_WORD.findall(_TEX_NAME.sub(" ", tex))):
            return "", None
        self._runs.append((f" ${tex}$ ", "", False))
        return None

    def _enter_block(self, node: LexborNode, tag: str, attributes: dict[str, str | None]) -> tuple[str, object]:
        outer = (self._element, self._item, self._href)
        if self._table is not None:
            self._enter_cell(tag, attributes)
        elif self._pre is not None:
            self._end_code_line()
        else:
            self._flush()
        get = attributes.get
        names = f"{get('class') or ''} {get('id') or ''} {get('role') or ''}"
        region = self._element.region or (tag if tag in _REGIONS else "")
        self._element = Element(self._element, tag, names[:300], self._element.depth + 1, region)
        if self._table is None:
            self._open_block(node, tag, attributes)
        return tag, outer

    def _open_block(self, node: LexborNode, tag: str, attributes: dict[str, str | None]) -> None:
        if tag in _LISTS:
            self._lists.append(_OpenList(tag == "ol", _whole_number(attributes.get("start")) - 1))
        elif tag == "li":
            listing = self._lists[-1] if self._lists else _OpenList(False, 0)
            listing.count += 1
            number = listing.count if listing.ordered else 0
            self._item = ListItem(number, self._item)
        elif tag == "blockquote":
            self._quotes += 1
        elif tag in _PRE and self._pre is None:
            self._pre, self._language = self._element, _code_language(attributes)
        elif tag == "table" and self._pre is None and _is_data_table(node):
            self._table = Block("table", "", [], self._element, item=self._item, quotes=self._quotes)

    def _enter_cell(self, tag: str, attributes: dict[str, str | None]) -> None:
        assert self._table is not None
        if tag == "tr" or not self._table.rows:
            self._runs = []
            self._table.rows.append([])
        if tag in ("td", "th"):
            self._runs = []
            span = min(_whole_number(attributes.get("colspan")), 20)
            self._table.rows[-1] += [self._runs, *([] for _ in range(span - 1))]
        else:
            self._runs.append((" ", "", False))

    def _leave(self, tag: str, before: object, around: Sight, control: LexborNode | None, letters: int) -> None:
        self._sight = around
        # Nobody can use a control that shows nothing.
        if control is not None and self._letters > letters:
            self._panels.add(control)
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
            self._runs.append((" ", "", False))
            if self._table.element is self._element:
                self._end_table()
        elif self._pre is not None:
            self._end_code_line()
            if self._pre is self._element:
                self._end_pre()
        else:
            self._flush()
        if self._table is None:
            if tag in _LISTS and self._lists:
                self._lists.pop()
            elif tag == "blockquote":
                self._quotes -= 1
        assert isinstance(before, tuple)
        self._element, self._item, self._href = before

    def _end_code_line(self) -> None:
        if self._runs and not self._runs[-1][0].endswith("\n"):
            self._runs.append(("\n", "", False))

    def _end_pre(self) -> None:
        text = visible_text("".join(run[0] for run in self._runs)).strip("\n").rstrip()
        runs, self._runs = self._runs, []
        if text.strip():
            self._add(Block("pre", text, runs, self._element, language=self._language))
        self._pre, self._language = None, ""

    def _end_table(self) -> None:
        table, self._table, self._runs = self._table, None, []
        assert table is not None
        table.runs = []
        for cell in chain.from_iterable(table.rows):
            table.runs += [*cell, (" ", "", False)]
        table.text = _plain(table.runs)
        if table.text:
            self._add(table)

    def _flush(self) -> None:
        """Finish the current block."""
        runs, self._runs = self._runs, []
        if runs and (text := _plain(runs)):
            levels = (_HEADINGS.get(element.tag, 0) for element in self._element.lineage(3))
            level = next(filter(None, levels), 0)
            kind = "h" if level else "p"
            self._add(Block(kind, text, runs, self._element, level))

    def _add(self, block: Block) -> None:
        block.item, block.quotes = self._item, self._quotes
        seen = ""
        for text, href, _ in block.runs:
            if href and text.strip():
                block.link_size += len(text)
                block.link_count += href != seen
                seen = href
        self.blocks.append(block)


def _replaced(tree: LexborHTMLParser) -> frozenset[int]:
    """The elements whose content is not displayed because a shadow tree without a place for it stands for it."""
    templates = tree.css("template[shadowrootmode]")
    return frozenset(
        parent.mem_id
        for template in templates
        if (parent := template.parent) is not None and not _SLOT.search(template.html or "")
    )


def _around_content(tree: LexborHTMLParser) -> frozenset[int]:
    """The elements that contain a main heading, main part or article, and these parts themselves."""
    found: set[int] = set()
    for node in tree.css("h1, main, article"):
        above = node.parent if node.tag == "h1" else node
        while above is not None and above.mem_id not in found:
            found.add(above.mem_id)
            above = above.parent
    return frozenset(found)


def _single_spaced(text: str) -> str:
    """``text`` with one space for each white space; splitting is several times as fast as a pattern."""
    if not (parts := text.split()):
        return " " if text else ""
    return f"{' ' if text[0].isspace() else ''}{' '.join(parts)}{' ' if text[-1].isspace() else ''}"


def _plain(runs: list[TextRun]) -> str:
    text = "".join(run[0] for run in runs)
    if "\n" not in text and "  " not in text:
        return visible_text(text).strip()
    return visible_text(_SPACES.sub(lambda match: "\n" if "\n" in match[0] else " ", text)).strip()


def _whole_number(text: str | None) -> int:
    """The value of a numeric attribute; 1 if it is missing or not a number of ordinary size."""
    return int(text) if text and text.isdecimal() and len(text) < 6 else 1


def _code_language(attributes: dict[str, str | None]) -> str:
    match = _LANGUAGE.search(attributes.get("class") or "")
    name = match[1] if match else attributes.get("data-lang") or attributes.get("data-language") or ""
    name = name.strip().lower()[:20]
    return "" if name in _NOT_A_LANGUAGE or not re.fullmatch(r"[\w+#.-]*", name) else name


def _is_data_table(table: LexborNode) -> bool:
    """Whether a table contains data and is not used for the layout."""
    if table.attributes.get("role") == "presentation" or table.css_first(_LAYOUT) is not None:
        return False
    rows = table.css("tr")
    cells = table.css("td, th")
    least_cells = len(rows) * 1.5
    if len(rows) < 2 or not least_cells <= len(cells) <= 5000:
        return False
    if table.css_first("th, caption, thead") is not None:
        return True
    sizes = sorted(len(cell.text().strip()) for cell in cells)
    return sizes[-1] < 600 and sizes[len(sizes) // 2] < 100
