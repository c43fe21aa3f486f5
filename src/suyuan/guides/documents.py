"""Where the guides stand, and how they become documents that can be searched and cited."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..core.document import Document

NAMES = ("searxng", "models", "troubleshooting")
# The list of all failures has the words of every question in it: as a search result it would only be in the way.
SEARCHED = ("searxng", "models")
LANGUAGES = ("zh", "en")
_FOLDER = Path(__file__).parent


def guide(name: str, lang: str) -> str:
    """The Markdown of a guide; raises ``KeyError`` where there is none of that name."""
    if name not in NAMES:
        raise KeyError(name)
    known = lang if lang in LANGUAGES else "en"
    return (_FOLDER / f"{name}.{known}.md").read_text(encoding="utf-8")


def address(server_url: str, name: str, lang: str) -> str:
    """Where the page shows a guide."""
    return f"{server_url}/guide/{name}?lang={lang}"


def documents(server_url: str, at: str) -> Iterator[Document]:
    """The guides that answer questions, as documents read at the moment ``at``."""
    for name in SEARCHED:
        for lang in LANGUAGES:
            head, _, text = guide(name, lang).partition("\n")
            url, title = address(server_url, name, lang), head.lstrip("# ").strip()
            tag = "zh-CN" if lang == "zh" else "en"
            yield Document(url, url, title, text.strip(), "text/markdown", at, site_name="Suyuan", language=tag)
