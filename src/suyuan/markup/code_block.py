"""Code blocks in Markdown: the language, a button that copies, and colours by Pygments classes."""

from __future__ import annotations

from functools import lru_cache
from html import escape

from .lexers import language_of, lexer

_DIAGRAMS = ("mermaid", "plantuml", "dot")


def code_block(content: str, language: str, copy: str, as_text: str, *, complete: bool) -> str:
    """A code block; it is coloured when it is complete, since that takes time."""
    known = language_of(language, content) if complete else ""
    coloured = _coloured(content, known) if known else escape(content, quote=False)
    kind = f' class="language-{escape(language)}"' if language else ""
    # A diagram would need a program that draws it in the browser.
    note = f' · <span class="meta">{escape(as_text)}</span>' if as_text and language.lower() in _DIAGRAMS else ""
    button = f'<button data-action="copy-code">{escape(copy)}</button>' if copy else ""
    head = f"<span>{escape(language)}{note}</span>{button}"
    # Long lines scroll sideways, also by keyboard.
    body = f'<pre tabindex="0"><code{kind}>{coloured}</code></pre>'
    return f'<div class="code"><div class="code-head">{head}</div>{body}</div>\n'


@lru_cache(256)
def _coloured(content: str, language: str) -> str:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter

    made: str = highlight(content, lexer(language), HtmlFormatter(nowrap=True))
    return made
