"""Questions to ask next, made from the sources of an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..citations.registry import Source
from ..messages.catalog import text
from ..text.words import words

# The name of the site after the title.
_SITE = re.compile(r"\s*[-_|–—·»]+\s*[^-_|–—·»]{1,30}$")
_MOST = 3
_LONGEST = 60


def suggestions(question: str, sources: Sequence[Source], cited: Sequence[int], lang: str) -> tuple[str, ...]:
    """Up to three questions about other topics of the sources, uncited sources first."""
    asked = set(words(question))
    found: list[str] = []
    seen: list[set[str]] = []
    for source in sorted(sources, key=lambda each: (each.number in cited, each.number)):
        title = _short(source.title)
        told = set(words(title))
        news = told - asked
        if (
            len(news) < 2
            or len(title) > _LONGEST
            or any(len(told & other) * 2 > min(len(told), len(other)) for other in seen)
        ):
            continue
        seen.append(told)
        found.append(title if title.endswith(("?", "？")) else text(lang, "chat.suggestion", title=title))
    return tuple(found[:_MOST])


def _short(title: str) -> str:
    title = " ".join(title.split())
    short = _SITE.sub("", title)
    return short if len(short) >= 8 else title
