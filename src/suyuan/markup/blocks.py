"""Markdown as sanitized blocks of HTML, also while it is still being written.

A closed block does not change when more text follows, so only the text from the last open block on is parsed again.
Every block is complete and balanced; the page only has to insert it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

import nh3
from markdown_it import MarkdownIt

from ..text import markdown_links
from ..text.visible import shown_piece
from . import formulas
from .code_block import code_block
from .formulas import unfinished_formula

if TYPE_CHECKING:
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from markdown_it.utils import OptionsDict

_TAGS = {
    "p", "br", "hr", "a", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "sup", "div", "span", "button",
} | formulas.TAGS  # fmt: skip
_ATTRIBUTES = {
    **formulas.ATTRIBUTES,
    "span": {"class", "tabindex"},
    "button": {"class", "data-action"},
    "a": {"href", "class", "data-cite", "data-claim", "data-verdict", "aria-label"},
    "code": {"class"},
    "ol": {"start"},
    "th": {"class"},
    "td": {"class"},
    "div": {"class", "tabindex"},
    "pre": {"tabindex"},
}
_WEB = re.compile(r"https?://[^\s/]", re.I)
_MARKER = re.compile(r"\[(\d{1,4})\]")
# What can be unfinished at the end: a marker or link, emphasis, code, a URL in angle brackets, an escape, an entity.
_OPEN_LINK = re.compile(r"!?\[(?!\d{1,4}\]$)[^\[\]\n]{0,200}(?:\](?:\([^()\n]{0,2000})?)?$")
_OPEN_SIGN = re.compile(r"(?:[*_~]{1,3}|(?<!\$)\$|`{1,2}|!|\\|&#?\w{0,8}|<[^<>\s]{0,200})$")
_CODE_SIGNS = re.compile(r"`+")
_EMPHASIS_SIGNS = (
    re.compile(r"\*\*|__|~~"),
    re.compile(r"(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])"),
    # A formula; an amount such as $5 is none.
    re.compile(r"(?<![\w$\\])\$(?=[^\s\d$])|(?<=[^\s$\\])\$(?![\w$])"),
)
# A line of signs only may become a rule, the underline of a heading, a list or the head of a table: wait for its end.
_ONLY_SIGNS = re.compile(r"[-=:|*+>#~`_.)\d \t]*$")
_MAX_UNFINISHED = 160
LONGEST = 200_000
"""So many characters are laid out; what is behind them is shown as plain text."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The check of a cited sentence: its position in the list of claims, and the verdict."""

    claim: int
    verdict: str


@dataclass(frozen=True, slots=True)
class Labels:
    """The words beside a text, in the language of the user; a button without one is left out."""

    source: str = ""
    copy: str = ""
    csv: str = ""
    as_text: str = ""
    too_long: str = ""
    """Above the end of a very long text."""
    too_slow: str = ""
    """Above a text that could not be laid out."""


_NO_LABELS = Labels()


@dataclass(frozen=True, slots=True)
class Update:
    """The change of the page: the blocks to set, and the number of all blocks."""

    set: list[tuple[int, str]]
    total: int


@dataclass(frozen=True, slots=True)
class Laid:
    """The blocks of a text, and how many of them, with how many lines, more text would not change."""

    blocks: list[str]
    final: int = 0
    lines: int = 0
    failed: bool = False
    """Whether it is the text as it was written, since it could not be laid out."""


@dataclass(slots=True)
class _Context:
    """What the render rules need to know of the text."""

    sources: Mapping[int, str]
    labels: Labels
    marks: Sequence[Mark | None] = ()
    page: bool = False
    cited: int = 0


def render(
    text: str,
    sources: Mapping[int, str],
    labels: Labels = _NO_LABELS,
    marks: Sequence[Mark | None] = (),
    *,
    page: bool = False,
) -> list[str]:
    """The blocks of a finished text; ``marks`` belong to its citations, in order.

    The headings of an answer are below those of the page; a text that is a whole ``page`` keeps its own.
    """
    shown, rest = split(text)
    return [*lay_out(shown, sources, labels, marks, page=page).blocks, *rest_blocks(rest, labels)]


def split(text: str) -> tuple[str, str]:
    """What is laid out of a text, and the rest."""
    clean = _plain(text)
    return clean[:LONGEST], clean[LONGEST:]


def rest_blocks(rest: str, labels: Labels) -> list[str]:
    """The end of a very long text, as it was written."""
    return [plain_block(rest, labels.too_long)] if rest else []


def plain_block(text: str, why: str) -> str:
    """A text as it was written, below a word that says why."""
    return f'<p class="meta">{escape(why)}</p><pre class="plain" tabindex="0">{escape(text, quote=False)}</pre>\n'


def lay_out(
    text: str,
    sources: Mapping[int, str],
    labels: Labels = _NO_LABELS,
    marks: Sequence[Mark | None] = (),
    *,
    page: bool = False,
    growing: bool = False,
) -> Laid:
    """The blocks of ``text``; of a ``growing`` one without the end that more text would change."""
    view = _finished_part(text) if growing else text
    context = _Context(sources, labels, marks, page)
    blocks = _blocks(view, context)
    if marks and context.cited != len(marks):
        # The marks are for other citations; none are better than wrong ones.
        blocks = _blocks(view, _Context(sources, labels, (), page))
    final = _closed_count(blocks, view) if growing else len(blocks)
    lines = blocks[final][0] if 0 < final < len(blocks) else 0
    return Laid([html for _, html in blocks], final, lines)


def changes(before: Sequence[str], after: Sequence[str]) -> Update:
    """What is different between the blocks that are shown and those that there are now."""
    changed = [(i, html) for i, html in enumerate(after) if i >= len(before) or before[i] != html]
    return Update(changed, len(after))


class GrowingText:
    """A text that grows, as blocks of HTML: what must be laid out again, and what that changes."""

    def __init__(self) -> None:
        self._closed: list[str] = []
        self._open: list[str] = []
        self._carriage = ""
        self._room = LONGEST
        self.tail = ""
        """What is laid out again when more follows: the last blocks."""
        self.rest = ""
        """What is behind the part that is laid out."""

    @property
    def blocks(self) -> list[str]:
        """All blocks so far."""
        return self._closed + self._open

    def add(self, text: str) -> None:
        """Take more of the text."""
        text = self._carriage + text
        # The second half of the line end may follow.
        self._carriage = "\r" if text.endswith("\r") else ""
        self._append(text.removesuffix("\r"))

    def finish(self) -> None:
        """The text is complete."""
        self._append(self._carriage)
        self._carriage = ""

    def _append(self, text: str) -> None:
        clean = _plain(text)
        self.tail += clean[: self._room]
        self.rest += clean[self._room :]
        self._room -= min(len(clean), self._room)

    def take(self, laid: Laid, rest: Sequence[str] = ()) -> Update:
        """Take what came of laying out the tail, to which more may have been added since; return what changes."""
        blocks = [*laid.blocks, *rest]
        base = len(self._closed)
        changed = [(base + i, html) for i, html in changes(self._open, blocks).set]
        if laid.lines:
            self._closed += blocks[: laid.final]
            self.tail = "\n".join(self.tail.split("\n")[laid.lines :])
            blocks = blocks[laid.final :]
        self._open = blocks
        return Update(changed, len(self._closed) + len(self._open))


class MarkdownStream:
    """A text that grows, laid out here."""

    def __init__(self, sources: Callable[[], Mapping[int, str]], labels: Labels = _NO_LABELS) -> None:
        self._sources = sources
        self._labels = labels
        self._text = GrowingText()

    @property
    def blocks(self) -> list[str]:
        """All blocks so far."""
        return self._text.blocks

    def feed(self, text: str) -> Update:
        """Add ``text``, and return what changes; an unfinished end is held back."""
        self._text.add(text)
        return self._text.take(lay_out(self._text.tail, self._sources(), self._labels, growing=True))

    def close(self) -> Update:
        """Return the last change, when the text is complete."""
        self._text.finish()
        laid = lay_out(self._text.tail, self._sources(), self._labels)
        return self._text.take(laid, rest_blocks(self._text.rest, self._labels))


def _closed_count(blocks: Sequence[tuple[int, str]], view: str) -> int:
    """How many blocks are final: those before a block with two complete lines (the second one shows a table)."""
    complete = view.count("\n")
    return max((i for i in range(1, len(blocks)) if blocks[i][0] + 1 < complete), default=0)


def _finished_part(text: str) -> str:
    """``text`` without the end that more text would change."""
    start, line = _last_line(text)
    if _in_fence(text):
        # An incomplete closing fence must not be shown as code.
        return text[:start] if line.strip() and not line.strip().strip("`~") else text
    if (formula := unfinished_formula(text)) >= 0:
        return text[:formula]
    length = 0 if _ONLY_SIGNS.match(line) else _finished_length(line)
    return _without_table_head(text[: start + length])


def _finished_length(line: str) -> int:
    """Where the unfinished end of ``line`` begins; its length if there is none."""
    end = len(line)
    for pattern in (_OPEN_LINK, _OPEN_SIGN):
        if match := pattern.search(line, 0, end):
            end = match.start()
    has_code = _CODE_SIGNS.search(line, 0, end) is not None
    # Signs in code are not emphasis; a line with code is only checked for code.
    patterns = (_CODE_SIGNS,) if has_code else _EMPHASIS_SIGNS
    for pattern in patterns:
        starts = [match.start() for match in pattern.finditer(line, 0, end)]
        is_open = len(starts) % 2 == 1
        if is_open and len(line) - starts[-1] <= _MAX_UNFINISHED:
            end = starts[-1]
    return end


def _without_table_head(text: str) -> str:
    """A row with bars may be the head of a table: wait for the line of dashes below it."""
    start, line = _last_line(text.removesuffix("\n"))
    before = text[: max(0, start - 1)]
    if line.lstrip().startswith("|") and not _last_line(before)[1].lstrip().startswith("|"):
        return text[:start]
    return text


def _last_line(text: str) -> tuple[int, str]:
    start = text.rfind("\n") + 1
    return start, text[start:]


def _in_fence(text: str) -> bool:
    fence = ""
    for line in text.split("\n"):
        bare = line.strip()
        if fence:
            if bare.startswith(fence) and not bare.strip(fence[0]):
                fence = ""
        elif found := re.match(r"`{3,}|~{3,}", bare):
            fence = found[0]
    return bool(fence)


def _plain(text: str) -> str:
    return shown_piece(text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd"))


# --- from text to blocks ----------------------------------------------------------------------------------------------
def _blocks(text: str, context: _Context) -> list[tuple[int, str]]:
    """The top-level blocks: first line and HTML of each."""
    parser = _parser()
    env: dict[str, Any] = {"context": context, "lines": text.split("\n")}
    tokens = parser.parse(text, env)
    blocks: list[tuple[int, str]] = []
    start = 0
    for i, token in enumerate(tokens):
        if token.level == 0 and token.nesting >= 0:
            start = i
        if token.level == 0 and token.nesting <= 0:
            lines = tokens[start].map or [0, 0]
            html = parser.renderer.render(tokens[start : i + 1], parser.options, env)
            blocks.append((lines[0], _clean(html)))
    return blocks


def _clean(html: str) -> str:
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable(["reference"])
    parser.validateLink = lambda url: bool(_WEB.match(url))  # type: ignore[method-assign]
    markdown_links.install(parser)
    parser.inline.ruler.before("link", "cite", _cite_rule)
    parser.core.ruler.push("page", _page_rule)
    for name, rule in (("cite", _cite), ("image", _image), ("fence", _fence), ("code_block", _fence)):
        parser.add_render_rule(name, rule)
    parser.add_render_rule("table_open", _table)
    parser.add_render_rule("table_close", lambda *_: "</table></div></div>\n")
    formulas.install(parser)
    return markdown_links.compiled(parser)


def _cite_rule(state: StateInline, silent: bool) -> bool:
    """``[n]`` of a known source is a citation, also where it could begin a link."""
    if state.src[state.pos] != "[":
        return False
    marker = _MARKER.match(state.src, state.pos, state.posMax)
    context: _Context = state.env["context"]
    if not marker or not _WEB.match(context.sources.get(int(marker[1]), "")):
        return False
    if state.src.startswith("(", marker.end()):
        # A link that the model has written itself.
        return False
    if not silent:
        # The number stands at the word, whether or not the model wrote a space.
        state.pending = state.pending.rstrip(" ")
        state.push("cite", "", 0).content = str(int(marker[1]))
    state.pos = marker.end()
    return True


def _page_rule(state: StateCore) -> None:
    """Lower the headings below those of the page, and align columns by class, since inline styles are not allowed."""
    context: _Context = state.env["context"]
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close") and not context.page:
            # Most models begin with the second level; it and the first become the third.
            token.tag = f"h{max(3, min(6, int(token.tag[1]) + 1))}"
        elif token.type in ("th_open", "td_open") and (style := token.attrs.pop("style", "")):
            token.attrs["class"] = str(style).removeprefix("text-align:")


def _cite(self: RendererHTML, tokens: Sequence[Token], i: int, options: OptionsDict, env: dict[str, Any]) -> str:
    context: _Context = env["context"]
    number = tokens[i].content
    mark = context.marks[context.cited] if context.cited < len(context.marks) else None
    context.cited += 1
    verdict = f' data-claim="{mark.claim}" data-verdict="{escape(mark.verdict)}"' if mark else ""
    href, label = escape(context.sources[int(number)]), escape(f"{context.labels.source} {number}")
    return f'<sup><a class="cite" data-cite="{number}"{verdict} href="{href}" aria-label="{label}">{number}</a></sup>'


def _image(self: RendererHTML, tokens: Sequence[Token], i: int, options: OptionsDict, env: dict[str, Any]) -> str:
    """The description of a picture; loading it would be a request to another server."""
    return escape(self.renderInlineAsText(tokens[i].children or [], options, env))


def _fence(self: RendererHTML, tokens: Sequence[Token], i: int, options: OptionsDict, env: dict[str, Any]) -> str:
    token, labels = tokens[i], env["context"].labels
    language = (token.info.split() or [""])[0]
    first_line, end_line = token.map or (0, 0)
    last_line = env["lines"][end_line - 1].strip()
    has_closing_line = end_line - first_line > 1 and last_line.startswith(token.markup)
    complete = bool(token.markup) and has_closing_line
    return code_block(token.content, language, labels.copy, labels.as_text, complete=complete)


def _table(self: RendererHTML, tokens: Sequence[Token], i: int, options: OptionsDict, env: dict[str, Any]) -> str:
    """The start of a table, which scrolls by itself and can be copied."""
    label = env["context"].labels.csv
    button = f'<button data-action="copy-table">{escape(label)}</button>' if label else ""
    return f'<div class="table-box">{button}<div class="table" tabindex="0"><table>\n'
