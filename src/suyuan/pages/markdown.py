"""Writes blocks as Markdown and collects their links."""

from __future__ import annotations

import re
from urllib.parse import urljoin

from ..text.shown_address import shown_address
from ..text.visible import visible_text
from .block import Block, ListItem, TextRun

MAX_LINKS = 200
MAX_URL = 2000

_SPACES = re.compile(r" *\n\s*| {2,}")
_TICKS = re.compile(r"`+")
_URL_ESCAPES = str.maketrans({"(": "%28", ")": "%29", " ": "%20", "<": "%3C", ">": "%3E", "\n": "", "\t": "", "\r": ""})


class MarkdownWriter:
    """Writes blocks as Markdown and collects their links."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._urls: dict[str, str] = {}
        self._links: dict[tuple[str, str], None] = {}

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """The links written so far, each once, as text and absolute URL."""
        return tuple(self._links)[:MAX_LINKS]

    def write(self, blocks: list[Block]) -> str:
        """Return the blocks as one Markdown text."""
        parts: list[str] = []
        before: Block | None = None
        for block in blocks:
            if text := self._block(block):
                if before is not None:
                    separator = "\n" if _is_same_list(before, block) else "\n\n"
                    parts.append(separator)
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
        text = self._inline(block.runs)
        if block.level:
            return f"{'#' * block.level} {text.replace(chr(10), ' ')}" if text else ""
        if block.element.tag == "dt":
            return f"**{text}**" if text else ""
        return f": {text}" if block.element.tag == "dd" and text else text

    def _table(self, block: Block) -> str:
        rows = [
            [self._inline(cell).replace("\n", " ").replace("|", "\\|") for cell in row] for row in block.rows if row
        ]
        return table_text(rows)

    def _inline(self, runs: list[TextRun]) -> str:
        """The runs as Markdown, with the line breaks of the page."""
        parts = []
        for text, href, code in _merge(runs):
            shown = visible_text(text)
            if code and shown.strip():
                shown = _with_spaces_of(shown, _code_span(shown.strip()))
            if href and shown.strip() and (url := self._absolute(href)):
                label = " ".join(shown.split())
                self._links[visible_text(text).strip(), url] = None
                shown = _with_spaces_of(
                    shown, f"[{label.replace('[', '(').replace(']', ')')}]({url.translate(_URL_ESCAPES)})"
                )
            parts.append(shown)
        whole = "".join(parts)
        if "\n" in whole or "  " in whole:
            whole = _SPACES.sub(lambda match: "\n" if "\n" in match[0] else " ", whole)
        return whole.strip()

    def _absolute(self, href: str) -> str:
        """The absolute address of a link; empty for fragments, scripts and data."""
        if href not in self._urls:
            self._urls[href] = _resolved(self._base, href)
        return self._urls[href]


def table_text(rows: list[list[str]]) -> str:
    """A table of Markdown; empty where no cell has a text."""
    rows = [row for row in rows if any(row)]
    if not rows:
        return ""
    width = max(map(len, rows))
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def _resolved(base: str, href: str) -> str:
    if href.startswith("#") or len(href) > MAX_URL:
        return ""
    if href.startswith(("http://", "https://")):
        return shown_address(href)
    try:
        url = urljoin(base, href)
    except ValueError:
        return ""
    return shown_address(url)


def _merge(runs: list[TextRun]) -> list[TextRun]:
    """The runs, with adjacent ones of the same link and kind merged."""
    merged: list[TextRun] = []
    for text, href, code in runs:
        if merged and merged[-1][1:] == (href, code):
            merged[-1] = (merged[-1][0] + text, href, code)
        else:
            merged.append((text, href, code))
    return merged


def _with_spaces_of(text: str, core: str) -> str:
    """``core`` with the white space around ``text``."""
    return (" " if text[:1].isspace() else "") + core + (" " if text[-1:].isspace() else "")


def _code_span(code: str) -> str:
    code = " ".join(code.split())
    fence = "`" * (1 + max(map(len, _TICKS.findall(code)), default=0))
    pad = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{fence}{pad}{code}{pad}{fence}"


def _prefixes(block: Block) -> tuple[str, str]:
    """The prefixes of the first line of a block and of the other lines: quotation marks and list indentation."""
    chain: list[ListItem] = []
    item = block.item
    while item is not None:
        chain.append(item)
        item = item.parent
    first = rest = "> " * min(block.quotes, 5)
    for item in reversed(chain[:8]):
        marker = f"{item.number}. " if item.number else "- "
        if item.written:
            first, rest = first + " " * len(marker), rest + " " * len(marker)
        elif item is chain[0]:
            item.written = True
            first, rest = first + marker, rest + " " * len(marker)
    return first, rest


def _is_same_list(before: Block, block: Block) -> bool:
    """Whether two blocks belong to one list or definition and need no blank line between them."""
    if before.kind != "p" or block.kind != "p":
        return False
    if block.element.tag == "dd":
        return before.element.tag in ("dt", "dd")
    if before.item is None or block.item is None:
        return False
    return before.item is not block.item and before.quotes == block.quotes
