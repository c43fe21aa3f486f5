"""Blocks to Markdown, with the links they hold."""

from __future__ import annotations

import re
from urllib.parse import urljoin

from .block import Block, Item, Piece
from .hidden import visible_text

MAX_LINKS = 200
MAX_URL = 2000

_SPACES = re.compile(r" *\n\s*| {2,}")
_TICKS = re.compile(r"`+")
_BREAKS = str.maketrans({"(": "%28", ")": "%29", " ": "%20", "<": "%3C", ">": "%3E", "\n": "", "\t": "", "\r": ""})


class Markdown:
    """Writes blocks one after another; collects the links on the way."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._known: dict[str, str] = {}
        self._links: dict[tuple[str, str], None] = {}

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """The links written so far, as (text, absolute URL), each once."""
        return tuple(self._links)[:MAX_LINKS]

    def write(self, blocks: list[Block]) -> str:
        """The blocks as one Markdown text."""
        parts: list[str] = []
        before: Block | None = None
        for block in blocks:
            if text := self._block(block):
                if before is not None:
                    parts.append("\n" if _close(before, block) else "\n\n")
                parts.append(text)
                before = block
        return "".join(parts)

    def _block(self, block: Block) -> str:
        body = self._body(block)
        if not body:
            return ""
        first, rest = _prefixes(block)
        head, *tail = body.split("\n")
        return "\n".join([first + head, *((rest + line).rstrip() for line in tail)])

    def _body(self, block: Block) -> str:
        if block.kind == "pre":
            fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(block.text)), default=0))
            return f"{fence}{block.language}\n{block.text}\n{fence}"
        if block.kind == "table":
            return self._table(block)
        text = self._inline(block.pieces)
        if block.level:
            return f"{'#' * block.level} {text.replace(chr(10), ' ')}" if text else ""
        if block.box.tag == "dt":
            return f"**{text}**" if text else ""
        return f": {text}" if block.box.tag == "dd" and text else text

    def _table(self, block: Block) -> str:
        rows = [
            [self._inline(cell).replace("\n", " ").replace("|", "\\|") for cell in row] for row in block.rows if row
        ]
        rows = [row for row in rows if any(row)]
        if not rows:
            return ""
        width = max(map(len, rows))
        lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in rows]
        return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])

    def _inline(self, pieces: list[Piece]) -> str:
        """The pieces as one line of Markdown (with line breaks where the page has them)."""
        parts = []
        for text, href, code in _joined(pieces):
            shown = visible_text(text)
            if code and shown.strip():
                shown = _around(shown, _ticked(shown.strip()))
            if href and shown.strip() and (url := self._absolute(href)):
                label = " ".join(shown.split())
                self._links[visible_text(text).strip(), url] = None
                shown = _around(shown, f"[{label.replace('[', '(').replace(']', ')')}]({url.translate(_BREAKS)})")
            parts.append(shown)
        return _SPACES.sub(lambda match: "\n" if "\n" in match[0] else " ", "".join(parts)).strip()

    def _absolute(self, href: str) -> str:
        """The address a link leads to, empty where it leads nowhere else (fragments, scripts, data)."""
        if href not in self._known:
            self._known[href] = _resolved(self._base, href)
        return self._known[href]


def _resolved(base: str, href: str) -> str:
    if href.startswith("#") or len(href) > MAX_URL:
        return ""
    if href.startswith(("http://", "https://")):
        return href
    try:
        url = urljoin(base, href)
    except ValueError:
        return ""
    return url if url.startswith(("http://", "https://")) else ""


def _joined(pieces: list[Piece]) -> list[Piece]:
    """The pieces with neighbours of the same link and kind made one."""
    joined: list[Piece] = []
    for text, href, code in pieces:
        if joined and joined[-1][1:] == (href, code):
            joined[-1] = (joined[-1][0] + text, href, code)
        else:
            joined.append((text, href, code))
    return joined


def _around(text: str, core: str) -> str:
    """``core`` with the white space that ``text`` begins and ends with."""
    return (" " if text[:1].isspace() else "") + core + (" " if text[-1:].isspace() else "")


def _ticked(code: str) -> str:
    code = " ".join(code.split())
    fence = "`" * (1 + max(map(len, _TICKS.findall(code)), default=0))
    pad = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{fence}{pad}{code}{pad}{fence}"


def _prefixes(block: Block) -> tuple[str, str]:
    """What stands before the first line of a block and before the others."""
    chain: list[Item] = []
    item = block.item
    while item is not None:
        chain.append(item)
        item = item.parent
    first = rest = "> " * min(block.quotes, 5)
    for item in reversed(chain[:8]):
        marker = f"{item.number}. " if item.number else "- "
        if item.shown:
            first, rest = first + " " * len(marker), rest + " " * len(marker)
        elif item is chain[0]:
            item.shown = True
            first, rest = first + marker, rest + " " * len(marker)
    return first, rest


def _close(before: Block, block: Block) -> bool:
    """Whether two blocks stand in one list or definition and need no empty line between."""
    if before.kind != "p" or block.kind != "p":
        return False
    if block.box.tag == "dd":
        return before.box.tag in ("dt", "dd")
    return (
        before.item is not None
        and block.item is not None
        and before.item is not block.item
        and before.quotes == block.quotes
    )
