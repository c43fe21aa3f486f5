"""The text of a page: rendered on a terminal, as it is in a pipe."""

from __future__ import annotations

from .terminal import Terminal


def show_page(out: Terminal, title: str, about: str, text: str) -> None:
    """Write the title of a page, a line about it, and its Markdown."""
    out.line(out.paint(title, "bold") if out.interactive else f"# {title}")
    out.line(out.paint(about, "dim"))
    out.line()
    show_markdown(out, text)


def show_markdown(out: Terminal, text: str) -> None:
    """Write Markdown."""
    if not out.interactive:
        for line in text.splitlines():
            out.line(line)
        return
    # Imported here because that takes time.
    from .markdown import MarkdownRenderer, can_link

    console = out.console()
    console.print(MarkdownRenderer({}, links=can_link(console)).render(text))
