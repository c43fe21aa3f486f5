"""What the documentation site does beyond MkDocs: docstrings are written for Sphinx too, so their roles are removed."""

from __future__ import annotations

import re
from typing import Any

_ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):(?=<code>)")


def on_page_content(html: str, **_: Any) -> str:
    """Return the page with ``:meth:`Client.search` `` shown as plain code."""
    return _ROLE.sub("", html)
