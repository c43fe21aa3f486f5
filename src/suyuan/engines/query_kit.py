"""The query as engines send it: its text with operators, its language and country; and one request for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import ClassVar

from ..core.engine import Engine, Exchange
from ..core.freshness import Freshness
from ..core.query import SearchQuery
from ..core.wire import Request
from ..text.language import script_language

# The country for a language where the query names none.
COUNTRIES = {
    "zh": "CN", "en": "US", "ja": "JP", "ko": "KR", "de": "DE", "fr": "FR", "es": "ES", "it": "IT", "pt": "BR",
    "ru": "RU", "nl": "NL", "pl": "PL", "tr": "TR", "vi": "VN", "th": "TH", "id": "ID", "ar": "SA", "he": "IL",
    "uk": "UA", "cs": "CZ", "sv": "SE", "da": "DK", "fi": "FI", "el": "GR", "hu": "HU", "ro": "RO", "hi": "IN",
}  # fmt: skip
# The region codes of DuckDuckGo that are not simply country-language.
_DDG_REGIONS = {
    ("zh", "TW"): "tw-tzh", ("zh", "HK"): "hk-tzh", ("en", "GB"): "uk-en", ("ja", "JP"): "jp-jp",
    ("ko", "KR"): "kr-kr", ("ar", "SA"): "xa-ar",
}  # fmt: skip
# Those for a country without a language.
_DDG_COUNTRIES = {
    "AR": "ar-es", "AT": "at-de", "AU": "au-en", "BE": "be-fr", "BG": "bg-bg", "BR": "br-pt", "CA": "ca-en",
    "CH": "ch-de", "CL": "cl-es", "CN": "cn-zh", "CO": "co-es", "CZ": "cz-cs", "DE": "de-de", "DK": "dk-da",
    "EE": "ee-et", "ES": "es-es", "FI": "fi-fi", "FR": "fr-fr", "GB": "uk-en", "GR": "gr-el", "HK": "hk-tzh",
    "HR": "hr-hr", "HU": "hu-hu", "ID": "id-en", "IE": "ie-en", "IL": "il-en", "IN": "in-en", "IS": "is-is",
    "IT": "it-it", "JP": "jp-jp", "KR": "kr-kr", "LT": "lt-lt", "LV": "lv-lv", "MX": "mx-es", "MY": "my-en",
    "NL": "nl-nl", "NO": "no-no", "NZ": "nz-en", "PE": "pe-es", "PH": "ph-en", "PK": "pk-en", "PL": "pl-pl",
    "PT": "pt-pt", "RO": "ro-ro", "RU": "ru-ru", "SA": "xa-ar", "SE": "se-sv", "SG": "sg-en", "SI": "sl-sl",
    "SK": "sk-sk", "TH": "th-en", "TR": "tr-tr", "TW": "tw-tzh", "UA": "ua-uk", "US": "us-en", "VN": "vn-en",
    "ZA": "za-en",
}  # fmt: skip
# The languages for which Google uses another code, and what the tags of traditional Chinese hold.
_GOOGLE_LANGUAGES = {"he": "iw", "nb": "no", "nn": "no"}
_TRADITIONAL = ("Hant", "TW", "HK", "MO")


def site_operators(allowed: Sequence[str], blocked: Sequence[str]) -> str:
    """The domains as ``site:`` operators."""
    either = " OR ".join(f"site:{domain}" for domain in allowed)
    words = [f"({either})" if len(allowed) > 1 else either] if allowed else []
    return " ".join(words + [f"-site:{domain}" for domain in blocked])


def query_text(query: SearchQuery, limit: int) -> tuple[str, tuple[str, ...]]:
    """The text to search, with operators, cut at a word to ``limit`` characters, and notes on what was cut."""
    text, dropped = query.text, 0
    allowed, blocked = list(query.allowed_domains), list(query.blocked_domains)
    operators = site_operators(allowed, blocked)
    # Half of the length is for the words. Without an allowed domain less is found, but nothing wrong, so they go last.
    length_of_words = min(len(text), limit // 2)
    max_operators = max(limit - length_of_words - 1, 0)
    while len(operators) > max_operators:
        (blocked or allowed).pop()
        operators, dropped = site_operators(allowed, blocked), dropped + 1
    notes: tuple[str, ...] = (f"query too long for {dropped} of its domains",) if dropped else ()
    length = limit - (len(operators) + 1 if operators else 0)
    if len(text) > length:
        cut = text[: length + 1]
        # Chinese has no blanks: cut at a word only if that does not lose most of the text.
        text = cut.rsplit(" ", 1)[0] if " " in cut[length // 2 :] else cut[:length]
        notes += (f"query cut to {len(text)} characters",)
    return (f"{text} {operators}" if operators else text), notes


def locale(query: SearchQuery) -> tuple[str, str]:
    """The language (``zh``) and country (``CN``) to ask for, by the query's script if it names none; may be empty."""
    lang, _, rest = (query.lang or script_language(query.text)).partition("-")
    region = rest.rpartition("-")[2]
    usual = "TW" if query.lang == "zh-Hant" else COUNTRIES.get(lang, "")
    return lang, query.country or (region if len(region) == 2 else "") or usual


def bing_market(query: SearchQuery) -> dict[str, str]:
    """Language and country as Bing names them."""
    lang, country = locale(query)
    if lang and country:
        return {"setmkt": f"{lang}-{country}"}
    return {"cc": country} if country else {}


def ddg_region(query: SearchQuery) -> str:
    """Language and country as DuckDuckGo names them (``kl``); empty for none."""
    if query.country and not query.lang:
        return _DDG_COUNTRIES.get(query.country, "")
    lang, country = locale(query)
    if not country:
        return ""
    # English alone implies no country.
    if query.lang == "en" and not query.country:
        return ""
    return _DDG_REGIONS.get((lang, country)) or f"{country.lower()}-{lang}"


def skipped(query: SearchQuery) -> int:
    """How many results come before the page that is asked for."""
    return query.count * (query.page - 1)


def google_locale(query: SearchQuery) -> dict[str, str]:
    """Language and country as Google and those who resell its results name them (``hl``, ``gl``)."""
    lang, country = locale(query)
    if lang == "zh":
        tag = query.lang if "-" in query.lang else country
        lang = "zh-TW" if "Hans" not in tag and any(part in tag for part in _TRADITIONAL) else "zh-CN"
    # A language alone implies no country.
    named = query.country or query.lang.endswith(f"-{country}")
    params = {"hl": _GOOGLE_LANGUAGES.get(lang, lang), "gl": country.lower() if named else ""}
    return {name: value for name, value in params.items() if value}


def google_period(fresh: Freshness) -> str:
    """A period or dates as Google names them (``tbs``)."""
    if fresh.period:
        return f"qdr:{fresh.period[0]}"
    since, until = (f"{day.month}/{day.day}/{day.year}" if day else "" for day in (fresh.since, fresh.until))
    return f"cdr:1,cd_min:{since},cd_max:{until}"


def brave_period(fresh: Freshness, today: date) -> str:
    """A period or dates as Brave names them."""
    return f"p{fresh.period[0]}" if fresh.period else "to".join(map(str, fresh.dates(today)))


def is_ordinary(query: SearchQuery) -> bool:
    """Whether any engine must have results for it: a few plain words, no operators, no quotes, no filters."""
    words = query.text.split()
    if query.allowed_domains or query.blocked_domains or query.freshness:
        return False
    has_operators = any(mark in query.text for mark in '":()|+*') or any(word.startswith("-") for word in words)
    if has_operators or not words or max(map(len, words)) > 20:
        return False
    if len(words) == 1:
        # Of a script without blanks.
        return not query.text.isascii() and 2 <= len(query.text) <= 12
    return len(words) <= 8


class OneRequestEngine(Engine):
    """An engine that needs one request for a search: a subclass says which, and how to read the answer."""

    longest_query: ClassVar[int] = 400
    """Most characters of a query; longer ones are cut at a word, which the receipt says."""
    operators: ClassVar[bool] = False
    """Whether domains are written into the query (``site:``)."""
    periods: ClassVar[tuple[str, ...]] = ()
    """The periods (``day``, ``week``, …) that the engine can filter by, if it cannot filter by any dates."""

    def request(self, query: SearchQuery, text: str) -> Request:
        """Return the request for ``query``; ``text`` is what to search for, short enough for this engine."""
        raise NotImplementedError

    def exchange(self, query: SearchQuery) -> Exchange:
        """Send the request and parse the answer."""
        text, notes = self.search_text(query)
        response = yield self.request(query, text)
        return self.parse(response, query).with_notes(*notes)

    def search_text(self, query: SearchQuery) -> tuple[str, tuple[str, ...]]:
        """The text to search for, and notes on what cannot be honoured; raises if a key is needed and missing."""
        if self.api_key_env:
            self.require_key()
        asked = query if self.operators else replace(query, allowed_domains=(), blocked_domains=())
        text, notes = query_text(asked, self.longest_query)
        if query.freshness and self.periods and not self.period(query):
            notes += (f"{self.title} filters by {', '.join(self.periods)} only: not filtered by date",)
        return text, notes

    def period(self, query: SearchQuery) -> str:
        """The period that results must be from, if the engine can filter by it."""
        period = query.freshness.period if query.freshness else None
        return period if period in self.periods else ""
