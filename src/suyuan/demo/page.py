"""The pages of the demo web, read from ``pages/*.md``: a head of ``key: value`` lines, then Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import urlsplit

Kind = Literal["article", "release", "docs", "table", "listing", "forum", "reprint", "pdf", "gone"]

_FOLDER = Path(__file__).parent / "pages"
_LINE = "---\n"
_MARKS = {"en": " (demo)", "zh": "（演示）"}


@dataclass(frozen=True, slots=True)
class DemoPage:
    """One page of the demo web."""

    url: str
    title: str
    site: str
    author: str
    date: str
    """ISO 8601."""
    lang: str
    kind: Kind
    """``gone``: the search engine still lists it, but it is no longer there."""
    topic: str
    ask: str
    """A query that must find the page."""
    text: str
    hidden: str = ""
    """Text that people do not see: instructions for language models, as hostile pages have them."""
    reprint_of: str = ""

    @property
    def host(self) -> str:
        """The host name, which ends in ``.example`` and so belongs to nobody."""
        return urlsplit(self.url).netloc

    @property
    def path(self) -> str:
        """The path on the host."""
        return urlsplit(self.url).path

    @property
    def marked_title(self) -> str:
        """The title with the site and the word "demo", as results and lists of references show it."""
        return f"{self.title} – {self.site}{_MARKS[self.lang]}"


@cache
def demo_pages() -> tuple[DemoPage, ...]:
    """All pages, by name of file."""
    return tuple(_read(file) for file in sorted(_FOLDER.glob("*.md")))


def _read(file: Path) -> DemoPage:
    _, head, text = file.read_text(encoding="utf-8").split(_LINE, 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    if fields["kind"] not in get_args(Kind):
        raise ValueError(f"{file.name}: unknown kind {fields['kind']}")
    return DemoPage(lang=file.name[:2], text=text.strip(), **fields)  # type: ignore[arg-type]
