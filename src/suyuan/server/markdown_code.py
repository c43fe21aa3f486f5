"""Code blocks in Markdown: the language, a button that copies, and colours by Pygments classes."""

from __future__ import annotations

from functools import lru_cache
from html import escape

# Longer code is shown without colours.
_LONGEST = 60_000
_DIAGRAMS = ("mermaid", "plantuml", "dot")


def code_block(content: str, language: str, copy: str, as_text: str, *, complete: bool) -> str:
    """A code block; it is coloured when it is complete, since that takes time."""
    coloured = _coloured(content, language.lower()) if complete and language and len(content) <= _LONGEST else None
    kind = f' class="language-{escape(language)}"' if language else ""
    # A diagram would need a program that draws it in the browser.
    note = f' · <span class="meta">{escape(as_text)}</span>' if as_text and language.lower() in _DIAGRAMS else ""
    button = f'<button data-action="copy-code">{escape(copy)}</button>' if copy else ""
    head = f"<span>{escape(language)}{note}</span>{button}"
    # Long lines scroll sideways, also by keyboard.
    body = (
        f'<pre tabindex="0"><code{kind}>{escape(content, quote=False) if coloured is None else coloured}</code></pre>'
    )
    return f'<div class="code"><div class="code-head">{head}</div>{body}</div>\n'


@lru_cache(256)
def _coloured(content: str, language: str) -> str | None:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
    made: str = highlight(content, lexer, HtmlFormatter(nowrap=True))
    return made
