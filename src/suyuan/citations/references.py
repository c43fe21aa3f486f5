"""The list of sources at the end of an answer, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set

from ..messages.catalog import Texts
from ..text.visible import shown_line
from .linker import safe_url
from .registry import Round, Source

MAX_TITLE = 200
# A title is never at the start of a line, so characters with a meaning only there are harmless.
_MARKUP = re.compile(r"[\\`*_{}\[\]#~$^]|:(?=//)|!(?=\[)")
_HTML = str.maketrans({sign: f"&#{ord(sign)};" for sign in "<>&\"'|"})


def references(
    sources: Mapping[int, Source], cited: Iterable[int], *, lang: str, rounds: Sequence[Round] | None = None
) -> str:
    """Return the list for an answer; empty if there is nothing to list.

    Without ``rounds`` (Chat) it contains the cited sources; with them (Agent) all sources of each search, with a mark
    at those that are cited.
    """
    t = Texts("references", lang)
    used = {number for number in cited if number in sources}
    if rounds is None:
        lines = [_line(sources[number]) for number in sorted(used)]
        return f"## {t('title')}\n\n" + "\n".join(lines) + "\n" if lines else ""
    parts = [_round(found, sources, used, t) for found in rounds]
    return f"## {t('title')}\n\n" + "\n".join(parts) if any(found.sources for found in rounds) else ""


def escape(text: str, limit: int = MAX_TITLE) -> str:
    """Return untrusted text as one line without any markup for Markdown or HTML."""
    line = shown_line(text)
    if len(line) > limit:
        line = line[:limit].rstrip() + "…"
    # Entities also work in HTML and in tables, where a backslash does not escape.
    return _MARKUP.sub(r"\\\g<0>", line).translate(_HTML)


def _round(found: Round, sources: Mapping[int, Source], used: Set[int], t: Texts) -> str:
    head = "### " + t("round", n=found.number, query=escape(found.query))
    marks = dict.fromkeys(used, f" ✓ {t('cited')}")
    lines = [_line(sources[number], marks.get(number, "")) for number in found.sources if number in sources]
    return f"{head}\n\n" + ("\n".join(lines) or t("none")) + "\n"


def _line(source: Source, mark: str = "") -> str:
    """One source with number, title, link and domain; a numbered list would replace the numbers by its own."""
    title = escape(source.title) or escape(source.domain) or escape(source.url)
    url = safe_url(source.url)
    linked = f"[{title}]({url})" if url else title
    domain = f" — {escape(source.domain)}" if source.domain else ""
    return f"- \\[{source.number}\\] {linked}{domain}{mark}"
