"""Writing a query in the words that engines understand."""

from __future__ import annotations

from ..contract.types import SearchQuery

# The country that a language's readers most often mean, where the query names none.
_HOME = {
    "zh": "CN", "en": "US", "ja": "JP", "ko": "KR", "de": "DE", "fr": "FR", "es": "ES", "it": "IT", "pt": "BR", "ru": "RU",
    "nl": "NL", "pl": "PL", "tr": "TR", "vi": "VN", "th": "TH", "id": "ID", "ar": "SA", "he": "IL", "uk": "UA", "cs": "CZ",
    "sv": "SE", "da": "DK", "fi": "FI", "el": "GR", "hu": "HU", "ro": "RO", "hi": "IN",
}  # fmt: skip


def operators(query: SearchQuery) -> str:
    """The domains of ``query`` as ``site:`` operators."""
    allowed = [f"site:{domain}" for domain in query.allowed_domains]
    words = [" OR ".join(allowed)] if len(allowed) == 1 else [f"({' OR '.join(allowed)})"] if allowed else []
    return " ".join(words + [f"-site:{domain}" for domain in query.blocked_domains])


def fitted(query: SearchQuery, limit: int) -> tuple[str, tuple[str, ...]]:
    """The text to search, with operators, cut at a word to ``limit`` characters, and a note where it was cut."""
    extra = operators(query)
    room = limit - (len(extra) + 1 if extra else 0)
    text = query.text
    notes: tuple[str, ...] = ()
    if len(text) > room:
        cut = text[:room]
        # Chinese has no blanks: cut at a word only where that does not lose most of the text.
        text = cut.rsplit(" ", 1)[0] if " " in cut[room // 2 :] else cut
        notes = (f"query cut to {len(text)} characters",)
    return (f"{text} {extra}" if extra else text), notes


def locale(query: SearchQuery) -> tuple[str, str]:
    """The language (``zh``) and country (``CN``) to ask for; either is empty where nothing says it."""
    lang, _, rest = query.lang.partition("-")
    script_free = rest.rpartition("-")[2]
    country = query.country or (script_free if len(script_free) == 2 else "") or _HOME.get(lang, "")
    return lang, country


def is_ordinary(query: SearchQuery) -> bool:
    """Whether any engine must have results for it: plain words, no operator, no quotes, nothing rare about it."""
    words = query.text.split()
    plain = not any(mark in query.text for mark in '":()|+*') and not any(word.startswith("-") for word in words)
    narrow = query.allowed_domains or query.blocked_domains or query.freshness
    several = 2 <= len(words) <= 8 or (len(words) == 1 and 2 <= len(query.text) <= 12 and not query.text.isascii())
    return plain and not narrow and several and max(map(len, words)) <= 20
