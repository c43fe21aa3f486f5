"""Texts and links in Markdown that pretend nothing: the address that is opened is the one that is shown.

Both are looked at when character references are resolved: ``&#x202e;`` is the character that it stands for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .shown_address import other_host, shown_address
from .visible import shown_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token


# Without a scheme, that of the page is taken; what such an address leads to is never what a text can know.
_WEB = re.compile(r"https?:|[/\\]{2}", re.I)


def install(parser: MarkdownIt) -> None:
    """Let ``parser`` link real addresses only, and name the host after a text that reads like another one."""
    usual, is_valid = parser.normalizeLink, parser.validateLink

    def normalized(url: str) -> str:
        if not _WEB.match(url):
            return usual(url)
        real = shown_address(url)
        return usual(real) if real else ""

    parser.normalizeLink = normalized  # type: ignore[method-assign]
    # Otherwise an address in angle brackets would be shown with the letters of its host's own script.
    parser.normalizeLinkText = normalized  # type: ignore[method-assign,assignment]
    parser.validateLink = lambda url: bool(url) and is_valid(url)  # type: ignore[method-assign]
    parser.core.ruler.push("visible", _show_visible_text)
    parser.core.ruler.push("other_hosts", _name_other_hosts)


def _show_visible_text(state: StateCore) -> None:
    left = list(state.tokens)
    while left:
        token = left.pop()
        token.content = shown_text(token.content)
        left += token.children or ()


def _name_other_hosts(state: StateCore) -> None:
    for token in state.tokens:
        if token.children and any(child.type == "link_open" for child in token.children):
            token.children = _named(token.children)


def _named(children: list[Token]) -> list[Token]:
    """The tokens of a line, with the host after each link whose text reads like the address of another."""
    found: list[Token] = []
    opened: Token | None = None
    label = ""
    for child in children:
        found.append(child)
        if child.type == "link_open":
            opened, label = child, ""
        elif child.type == "link_close" and opened is not None:
            host = other_host(label, str(opened.attrs.get("href", "")))
            if host:
                found.append(_text(child, f" ({host})"))
            opened = None
        else:
            label += child.content
    return found


def _text(like: Token, content: str) -> Token:
    return type(like)("text", "", 0, content=content, level=like.level)


def compiled(parser: MarkdownIt) -> MarkdownIt:
    """The parser with its lists of rules made: threads that use it first at the same time would see them half made."""
    for ruler in (parser.core.ruler, parser.block.ruler, parser.inline.ruler, parser.inline.ruler2):
        ruler.getRules("")
    return parser
