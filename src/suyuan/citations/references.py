"""The list of sources at the end of an answer, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ..messages.catalog import Texts
from .linker import safe_url
from .registry import Round, Source

MAX_TITLE = 200
# Control and direction characters: a title must not turn the text around it.
_INVISIBLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]+"
)
# A title never stands at the start of a line, so signs that mean something only there are harmless.
_MARKUP = re.compile(r"[\\`*_{}\[\]#~$^]|:(?=//)|!(?=\[)")
_HTML = str.maketrans({sign: f"&#{ord(sign)};" for sign in "<>&\"'|"})


def references(
    sources: Mapping[int, Source],
    cited: Iterable[int],
    *,
    lang: str,
    rounds: Sequence[Round] | None = None,
    accessed: str = "",
) -> str:
    """Return the list for an answer; empty where there is nothing to list.

    Without ``rounds`` (Chat) it holds what is cited; with them (Agent) all that was found, by search, with what is cited marked.
    """
    t = Texts("references", lang)
    used = [number for number in dict.fromkeys(cited) if number in sources]
    when = f" ({t('accessed', when=escape(accessed))})" if accessed else ""
    if rounds is None:
        lines = [_line(sources[number], when) for number in sorted(used)]
        return f"## {t('title')}\n\n" + "\n".join(lines) + "\n" if lines else ""
    parts = [_round(found, sources, frozenset(used), t, when) for found in rounds]
    return f"## {t('title')}\n\n" + "\n".join(parts) if any(found.sources for found in rounds) else ""


def escape(text: str, limit: int = MAX_TITLE) -> str:
    """Return untrusted text as one line that is plain in Markdown and in HTML."""
    line = " ".join(_INVISIBLE.sub(" ", text).split())
    if len(line) > limit:
        line = line[:limit].rstrip() + "…"
    # Entities hold inside HTML and tables too, where a backslash does not escape.
    return _MARKUP.sub(r"\\\g<0>", line).translate(_HTML)


def _round(found: Round, sources: Mapping[int, Source], used: frozenset[int], t: Texts, when: str) -> str:
    head = "### " + t("round", n=found.number, query=escape(found.query))
    lines = [
        _line(sources[number], when, f" ✓ {t('cited')}" if number in used else "")
        for number in found.sources
        if number in sources
    ]
    return f"{head}\n\n" + ("\n".join(lines) or t("none")) + "\n"


def _line(source: Source, when: str, mark: str = "") -> str:
    """One source: number, title, link, domain. A list item of its own, since a numbered list would count by itself."""
    title = escape(source.title) or escape(source.domain) or escape(source.url)
    url = safe_url(source.url)
    linked = f"[{title}]({url})" if url else title
    domain = f" — {escape(source.domain)}" if source.domain else ""
    return f"- \\[{source.number}\\] {linked}{domain}{when}{mark}"
