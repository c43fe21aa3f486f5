"""Markdown on a terminal: headings, lists, tables, code in colour, links and citations that can be clicked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.rule import Rule
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.table import Table

from ..markup.lexers import language_of
from ..text import markdown_links
from .flow import Flow
from .terminal import printable

_CITATION = re.compile(r"(\[\d{1,4}\])")
_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(["reference"])
markdown_links.install(_PARSER)
_CODE_STYLE = "cyan"
# A text with deeper emphasis is shown as it was written: its tree would take more frames than Python has.
_DEEPEST = 100
_STYLES = {"strong": "bold", "em": "italic", "s": "strike"}


def finished_length(text: str) -> int:
    """Return the length of the blocks at the start of ``text`` that more text cannot change."""
    lines = text[: text.rfind("\n") + 1].split("\n")
    starts = [token.map[0] for token in _PARSER.parse("\n".join(lines)) if token.level == 0 and token.map]
    # The last block may go on.
    return sum(len(line) + 1 for line in lines[: starts[-1]]) if len(starts) > 1 else 0


def _depth(tokens: Sequence[Token]) -> int:
    """How deep emphasis and links are nested."""
    return max((part.level for token in tokens for part in token.children or ()), default=0)


def can_link(console: Console) -> bool:
    """Whether the terminal knows hyperlinks; the old ones that do not have few colours."""
    return console.color_system in ("256", "truecolor")


class _Quote:
    """A block with a bar on its left."""

    def __init__(self, content: RenderableType) -> None:
        self._content = content

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in console.render_lines(self._content, options.update_width(options.max_width - 2), pad=False):
            yield Segment("│ ", Style(dim=True))
            yield from line
            yield Segment.line()


class MarkdownRenderer:
    """Turns Markdown into renderables; ``sources`` are the addresses of the citation numbers."""

    def __init__(self, sources: Mapping[int, str], *, links: bool) -> None:
        self._sources = sources
        self._links = links

    def render(self, text: str) -> RenderableType:
        """Return ``text`` as one renderable."""
        clean = "\n".join(printable(line) for line in text.split("\n"))
        tokens = _PARSER.parse(clean)
        if _depth(tokens) > _DEEPEST:
            return Flow(clean.rstrip("\n"))
        return self._blocks(SyntaxTreeNode(tokens).children)

    def link(self, text: str, url: str, style: str = "") -> Flow:
        """Return ``text`` linked to ``url``, where the terminal can."""
        parsed = Style.parse(style)
        return Flow(text, parsed + Style(link=printable(url)) if self._links and url else parsed)

    def _blocks(self, nodes: Iterable[SyntaxTreeNode], *, tight: bool = False) -> Group:
        parts: list[RenderableType] = []
        for node in nodes:
            if parts and not tight:
                parts.append("")
            parts.append(self._block(node))
        return Group(*parts)

    def _block(self, node: SyntaxTreeNode) -> RenderableType:
        draw: dict[str, Callable[[SyntaxTreeNode], RenderableType]] = {
            "heading": self._heading,
            "paragraph": lambda node: self._inline(node.children),
            "inline": lambda node: self._inline([node]),
            "bullet_list": self._list,
            "ordered_list": self._list,
            "blockquote": self._quote,
            "fence": self._code,
            "code_block": self._code,
            "table": self._table,
            "hr": lambda _: Rule(style="dim"),
        }
        method = draw.get(node.type)
        return method(node) if method else Flow(node.content.rstrip("\n"))

    def _heading(self, node: SyntaxTreeNode) -> Flow:
        text = self._inline(node.children)
        text.stylize("bold underline" if node.tag == "h1" else "bold")
        return text

    def _list(self, node: SyntaxTreeNode) -> Table:
        first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
        items = node.children
        # Markdown-it hides the paragraphs of a list without blank lines.
        tight = all(child.hidden for item in items for child in item.children if child.type == "paragraph")
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(justify="right", no_wrap=True)
        grid.add_column()
        for i, item in enumerate(items):
            if i and not tight:
                grid.add_row("", "")
            mark = "•" if first is None else f"{first + i}."
            grid.add_row(Flow(f" {mark}", style=_CODE_STYLE), self._blocks(item.children, tight=tight))
        return grid

    def _quote(self, node: SyntaxTreeNode) -> RenderableType:
        return _Quote(self._blocks(node.children))

    def _code(self, node: SyntaxTreeNode) -> RenderableType:
        content = node.content.rstrip("\n")
        language = language_of((node.info.split() or [""])[0], content) or "text"
        code = Syntax(content, language, theme="ansi_dark", background_color="default", word_wrap=True)
        return Padding(code, (0, 0, 0, 2))

    def _table(self, node: SyntaxTreeNode) -> Table:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, border_style="dim")
        rows = [row for part in node.children for row in part.children]
        for cell in rows[0].children:
            align = str(cell.attrs.get("style", "")).removeprefix("text-align:")
            justify = align if align in ("center", "right") else "left"
            table.add_column(self._inline(cell.children), justify=justify)  # type: ignore[arg-type]
        for row in rows[1:]:
            table.add_row(*(self._inline(cell.children) for cell in row.children))
        return table

    def _inline(self, nodes: Iterable[SyntaxTreeNode]) -> Flow:
        text = Flow()
        for node in nodes:
            self._append(text, node)
        return text

    def _append(self, text: Flow, node: SyntaxTreeNode) -> None:
        if node.type == "text":
            for part in _CITATION.split(node.content):
                if _CITATION.fullmatch(part):
                    text.append_text(self.link(part, self._sources.get(int(part[1:-1]), ""), _CODE_STYLE))
                else:
                    text.append(part)
        elif node.type == "softbreak":
            # Chinese lines are joined without a blank.
            text.append("" if cell_len(text.plain[-1:]) == 2 else " ")
        elif node.type == "hardbreak":
            text.append("\n")
        elif node.type == "code_inline":
            text.append(node.content, _CODE_STYLE)
        elif node.type in ("link", "image"):
            self._append_link(text, node)
        elif node.children:
            inner = self._inline(node.children)
            inner.stylize(_STYLES.get(node.type, ""))
            text.append_text(inner)
        else:
            text.append(node.content)

    def _append_link(self, text: Flow, node: SyntaxTreeNode) -> None:
        url = str(node.attrs.get("href") or node.attrs.get("src") or "")
        label = self._inline(node.children).plain or url
        text.append_text(self.link(label, url, "underline"))
        if not self._links and url not in ("", label):
            text.append(f" ({url})")
