"""The text of a page in another form: as HTML, without marks, or the page as its server sent it."""

from __future__ import annotations

from typing import Literal

from ..core.wire import Response
from .decode import decode

TextForm = Literal["html", "plain", "source", "blocks"]
"""``blocks``: not a page but a job of ``markup.jobs``."""


def in_form(response: Response, form: TextForm) -> str:
    """The body in a form; of ``html`` and ``plain`` it is the Markdown of a page."""
    # Of the extra for servers, as are those who ask for it.
    from markdown_it import MarkdownIt

    if form == "blocks":
        from ..markup.jobs import done_here

        return done_here(response.body)
    if form == "source":
        return decode(response.body, response.headers.get("content-type", ""))
    markdown, text = MarkdownIt("commonmark").enable("table"), response.body.decode("utf-8", "replace")
    if form == "html":
        return str(markdown.render(text))
    lines = []
    for token in markdown.parse(text):
        if token.type == "inline":
            parts = (part.content if part.type != "softbreak" else "\n" for part in token.children or ())
            lines.append("".join(parts))
        elif token.type in ("fence", "code_block"):
            lines.append(token.content.rstrip("\n"))
    return "\n".join(lines)
