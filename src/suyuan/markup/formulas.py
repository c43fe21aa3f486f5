"""Formulas in Markdown as MathML: ``$…$``, ``$$…$$``, ``\\(…\\)`` and ``\\[…\\]``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

import nh3

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

TAGS = {
    "math", "mrow", "mi", "mo", "mn", "ms", "mtext", "mspace", "msup", "msub", "msubsup", "mfrac", "msqrt", "mroot",
    "mover", "munder", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom", "mmultiscripts",
}  # fmt: skip
ATTRIBUTES = {
    "math": {"display", "class"},
    "mo": {"stretchy", "fence", "form", "lspace", "rspace"},
    "mi": {"mathvariant"},
    "mover": {"accent"},
    "mspace": {"width"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mtable": {"columnalign"},
    "mtd": {"columnalign"},
    "mfrac": {"linethickness"},
}

# Within a line; a formula never spans an empty line. Both patterns end at the next sign that is not escaped, so that
# all attempts together pass each character a few times.
_DOLLARS = re.compile(r"\$\$((?:[^$\\]|\\.)+)\$\$", re.S)
# Not the amounts of "$5 and $10".
_DOLLAR = re.compile(r"\$(?!\s)((?:[^$\\\n]|\\.)+)(?<!\s)\$(?![\d$])")
# Found by a search that ends at the longest formula: a pattern would look to the end of the text at every start.
_BRACKETS = {"\\[": ("\\]", True), "\\(": ("\\)", False)}
_PAIRS = {"$$": "$$", "\\[": "\\]"}
LONGEST = 4000
"""A longer formula is shown as it was written."""


def install(parser: MarkdownIt) -> None:
    """Teach ``parser`` formulas."""
    parser.inline.ruler.before("escape", "math", _inline_rule)
    parser.block.ruler.before("fence", "math_block", _block_rule, {"alt": ["paragraph", "blockquote", "list"]})
    parser.add_render_rule("math", lambda _, tokens, i, *rest: _html(tokens[i].content, bool(tokens[i].meta)))
    parser.add_render_rule("math_block", lambda _, tokens, i, *rest: _html(tokens[i].content, True) + "\n")


def unfinished_formula(text: str) -> int:
    """Where a formula on lines of its own begins that is not complete; -1 if there is none."""
    start = text.rfind("\n\n") + 2 if "\n\n" in text else 0
    for line in text[start:].split("\n"):
        if line.startswith(tuple(_PAIRS)):
            body = text[start + 2 :]
            return -1 if _PAIRS[line[:2]] in body or len(body) > LONGEST else start
        start += len(line) + 1
    return -1


def _inline_rule(state: StateInline, silent: bool) -> bool:
    # The text of a link is a title, in which brackets are escaped, and must not show another address than it leads to.
    if state.linkLevel:
        return False
    formula = _inline_formula(state.src, state.pos, state.posMax)
    if formula is None:
        return False
    if not silent:
        token = state.push("math", "", 0)
        token.content = formula.content
        token.meta = {"display": True} if formula.display else {}
    state.pos = formula.end
    return True


@dataclass(frozen=True, slots=True)
class _Formula:
    """A formula within a line, and where it ends."""

    content: str
    display: bool
    end: int


def _inline_formula(text: str, start: int, end: int) -> _Formula | None:
    if text[start] == "$":
        return _between_dollars(text, start, end)
    if brackets := _BRACKETS.get(text[start : start + 2]):
        return _between_brackets(text, start + 2, end, *brackets)
    return None


def _between_dollars(text: str, start: int, end: int) -> _Formula | None:
    for pattern, display in ((_DOLLARS, True), (_DOLLAR, False)):
        match = pattern.match(text, start, min(end, start + LONGEST + 4))
        if match and len(match[1]) <= LONGEST:
            return _Formula(match[1], display, match.end())
    return None


def _between_brackets(text: str, start: int, end: int, closing: str, display: bool) -> _Formula | None:
    # A formula has at least one character.
    at = text.find(closing, start + 1, min(end, start + LONGEST + len(closing)))
    content = text[start:at] if at >= 0 else ""
    # An escaped number in brackets is no formula.
    if not content or (display and content.isdigit()):
        return None
    return _Formula(content, display, at + len(closing))


def _block_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A formula that begins its line with ``$$`` or ``\\[`` and ends another with the partner."""
    first = _line(state, start)
    closing = _PAIRS.get(first[:2])
    if closing is None or state.is_code_block(start):
        return False
    last = _closing_line(state, start, end, closing)
    if last < 0:
        return False
    length = state.eMarks[last] - state.bMarks[start]
    if length > LONGEST:
        return False
    lines = [first[2:], *(_line(state, at) for at in range(start + 1, last + 1))]
    lines[-1] = lines[-1].rstrip().removesuffix(closing)
    content = "\n".join(lines).strip()
    # An escaped number in brackets is no formula.
    if not content or content.isdigit():
        return False
    if not silent:
        token = state.push("math_block", "", 0)
        token.content, token.map, token.block = content, [start, last + 1], True
        state.line = last + 1
    return True


def _closing_line(state: StateBlock, start: int, end: int, closing: str) -> int:
    """The line that ends a formula which begins at ``start``; -1 if there is none before an empty line.

    The answer is the same for all lines up to there, and is cached: otherwise each of many openings would look as far.
    """
    body = _line(state, start)[2:]
    if closing in body:
        return start if _only_ends_with(body, closing) else -1
    cache: dict[object, tuple[int, int, int]] = state.env.setdefault("formula_ends", {})
    key = (closing, end, state.level, state.blkIndent, state.parentType)
    first, stop, last = cache.get(key, (0, 0, -1))
    if not first <= start < stop:
        stop = _line_with(state, start + 1, end, closing)
        is_closed = stop < end and _only_ends_with(_line(state, stop), closing)
        last = stop if is_closed else -1
        cache[key] = start, stop, last
    return last


def _line_with(state: StateBlock, start: int, end: int, closing: str) -> int:
    """The first line from ``start`` on that is empty or contains ``closing``; ``end`` if there is none."""
    for line in range(start, end):
        if state.isEmpty(line) or closing in _line(state, line):
            return line
    return end


def _only_ends_with(line: str, closing: str) -> bool:
    """Whether ``closing`` stands at the end of the line, and nowhere else in it."""
    return line.find(closing) == len(line.rstrip()) - len(closing)


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


@lru_cache(512)
def _html(tex: str, display: bool) -> str:
    """A formula as MathML, or its source where it cannot be read."""
    from latex2mathml import exceptions
    from latex2mathml.converter import convert

    # The library has many errors of its own for broken TeX, without a common base, and raises others as well.
    errors: list[type[Exception]] = [ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError]
    errors.append(StopIteration)
    classes = [value for value in vars(exceptions).values() if isinstance(value, type)]
    errors += [value for value in classes if issubclass(value, Exception)]
    mode = "block" if display else "inline"
    try:
        mathml = convert(tex, display=mode)
    except tuple(errors):
        return f"<code>{escape(tex)}</code>"
    # Text inside a formula is copied by the library as it is.
    clean = _clean(mathml)
    # A long formula scrolls sideways, also by keyboard.
    return f'<span class="formula" tabindex="0">{clean}</span>' if display else clean


def _clean(mathml: str) -> str:
    attributes: Any = ATTRIBUTES
    return nh3.clean(mathml, tags=TAGS, attributes=attributes)
