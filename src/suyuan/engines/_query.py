"""Writing a query in the words that engines understand."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.query import SearchQuery
from ..text.language import script_language

# The country that a language's readers most often mean, where the query names none.
_HOME = {
    "zh": "CN", "en": "US", "ja": "JP", "ko": "KR", "de": "DE", "fr": "FR", "es": "ES", "it": "IT", "pt": "BR", "ru": "RU",
    "nl": "NL", "pl": "PL", "tr": "TR", "vi": "VN", "th": "TH", "id": "ID", "ar": "SA", "he": "IL", "uk": "UA", "cs": "CZ",
    "sv": "SE", "da": "DK", "fi": "FI", "el": "GR", "hu": "HU", "ro": "RO", "hi": "IN",
}  # fmt: skip


def operators(query: SearchQuery) -> str:
    """The domains of ``query`` as ``site:`` operators."""
    return _sites(query.allowed_domains, query.blocked_domains)


def _sites(allowed: Sequence[str], blocked: Sequence[str]) -> str:
    either = " OR ".join(f"site:{domain}" for domain in allowed)
    words = [f"({either})" if len(allowed) > 1 else either] if allowed else []
    return " ".join(words + [f"-site:{domain}" for domain in blocked])


def fitted(query: SearchQuery, limit: int) -> tuple[str, tuple[str, ...]]:
    """The text to search, with operators, cut at a word to ``limit`` characters, and notes on what was cut."""
    text, extra, left_out = query.text, operators(query), 0
    allowed, blocked = list(query.allowed_domains), list(query.blocked_domains)
    # Half of the room is for the words. Fewer allowed domains find less, but nothing wrong, so they go last.
    while extra and len(extra) + 1 + min(len(text), limit // 2) > limit:
        (blocked or allowed).pop()
        extra, left_out = _sites(allowed, blocked), left_out + 1
    notes: tuple[str, ...] = (f"query too long for {left_out} of its domains",) if left_out else ()
    room = limit - (len(extra) + 1 if extra else 0)
    if len(text) > room:
        cut = text[: room + 1]
        # Chinese has no blanks: cut at a word only where that does not lose most of the text.
        text = cut.rsplit(" ", 1)[0] if " " in cut[room // 2 :] else cut[:room]
        notes += (f"query cut to {len(text)} characters",)
    return (f"{text} {extra}" if extra else text), notes


def locale(query: SearchQuery) -> tuple[str, str]:
    """The language (``zh``) and country (``CN``) to ask for, by the query's own words where it names none; either may be empty."""
    lang, _, rest = (query.lang or script_language(query.text)).partition("-")
    script_free = rest.rpartition("-")[2]
    default_url = "TW" if query.lang == "zh-Hant" else _HOME.get(lang, "")
    country = query.country or (script_free if len(script_free) == 2 else "") or default_url
    return lang, country


def is_ordinary(query: SearchQuery) -> bool:
    """Whether any engine must have results for it: plain words, no operator, no quotes, nothing rare about it."""
    words = query.text.split()
    plain = not any(mark in query.text for mark in '":()|+*') and not any(word.startswith("-") for word in words)
    narrow = query.allowed_domains or query.blocked_domains or query.freshness
    several = 2 <= len(words) <= 8 or (len(words) == 1 and 2 <= len(query.text) <= 12 and not query.text.isascii())
    return plain and not narrow and several and max(map(len, words)) <= 20
