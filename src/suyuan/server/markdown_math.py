"""Formulas in Markdown as MathML: ``$…$``, ``$$…$$``, ``\\(…\\)`` and ``\\[…\\]``."""

from __future__ import annotations

import re
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

# Within a line: not the amounts of "$5 and $10". A formula never spans an empty line.
_INLINE = (
    (re.compile(r"\$\$((?:[^$\\]|\\.)+?)\$\$", re.S), True),
    (re.compile(r"\\\[(?!\d+\\\])(.+?)\\\]", re.S), True),
    (re.compile(r"\\\((.+?)\\\)", re.S), False),
    (re.compile(r"\$(?!\s)((?:[^$\\\n]|\\.)+?)(?<!\s)\$(?![\d$])"), False),
)
_PAIRS = {"$$": "$$", "\\[": "\\]"}
_LONGEST = 4000


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
            return -1 if _PAIRS[line[:2]] in body or len(body) > _LONGEST else start
        start += len(line) + 1
    return -1


def _inline_rule(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    for pattern, display in _INLINE:
        found = pattern.match(state.src, state.pos, state.posMax)
        if found and len(found[1]) <= _LONGEST:
            if not silent:
                token = state.push("math", "", 0)
                token.content, token.meta = found[1], {"display": True} if display else {}
            state.pos = found.end()
            return True
    return False


def _block_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A formula that begins its line with ``$$`` or ``\\[`` and ends another with the partner."""
    first = _line(state, start)
    closing = _PAIRS.get(first[:2])
    if closing is None or state.is_code_block(start):
        return False
    lines = [first[2:]]
    at = start
    while not lines[-1].rstrip().endswith(closing):
        at += 1
        if at >= end or state.isEmpty(at):
            return False
        lines.append(_line(state, at))
    lines[-1] = lines[-1].rstrip().removesuffix(closing)
    content = "\n".join(lines).strip()
    # An escaped number in brackets is no formula.
    if not content or content.isdigit() or len(content) > _LONGEST or closing in content:
        return False
    if not silent:
        token = state.push("math_block", "", 0)
        token.content, token.map, token.block = content, [start, at + 1], True
        state.line = at + 1
    return True


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
    errors += (each for each in vars(exceptions).values() if isinstance(each, type) and issubclass(each, Exception))
    try:
        made = convert(tex, display="block" if display else "inline")
    except tuple(errors):
        return f"<code>{escape(tex)}</code>"
    # Text inside a formula is copied by the library as it is.
    clean = _clean(made)
    # A long formula scrolls sideways, also by keyboard.
    return f'<span class="formula" tabindex="0">{clean}</span>' if display else clean


def _clean(made: str) -> str:
    attributes: Any = ATTRIBUTES
    return nh3.clean(made, tags=TAGS, attributes=attributes)
