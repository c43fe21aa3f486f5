"""What the documentation site does beyond MkDocs: the list of decisions, and docstrings without Sphinx roles."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_DECISIONS = "adr/README.md"
_ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):(?=<code>)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return the text of a page; the index of the decisions gets a list of them."""
    if page.file.src_uri != _DECISIONS:
        return markdown
    records = sorted(Path(page.file.abs_src_path).parent.glob("[0-9]*.md"))
    return "\n".join([markdown, "", *(f"- [{_title(record)}]({record.name})" for record in records)])


def on_page_content(html: str, **_: Any) -> str:
    """Return the page with ``:meth:`Client.search` `` shown as plain code."""
    return _ROLE.sub("", html)


def _title(record: Path) -> str:
    with record.open(encoding="utf-8") as lines:
        return next(lines).lstrip("# ").strip()
