"""``SearchQuery``: what is searched for, checked when it is made."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import Any, Self, TypedDict

from .causes import asked as causes
from .freshness import Freshness
from .page_reading import Depth

MAX_QUERY = 2000
MAX_RESULTS = 10
MAX_PAGE = 20
MAX_BUDGET_MS = 120_000

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_INVISIBLE = " \u200b\u200c\u200d\u200e\u200f\u2060\ufeff"
_LANG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z]{4})?(-[A-Za-z]{2}|-\d{3})?")
_COUNTRY = re.compile(r"[A-Za-z]{2}")
_AROUND = re.compile(r"^(?:https?://)?(?:\*?\.)?(?:www\.)?|\.?(?::\d+)?/?$")
_DOMAIN = re.compile(r"(?=.{1,253}$)([^\W_]([\w-]{0,61}[^\W_])?\.)+[^\W\d_][\w-]{0,61}[^\W_]")


class SearchParams(TypedDict, total=False):
    """The optional keywords of a search, typed once for every function that takes them."""

    count: int
    lang: str
    country: str
    freshness: Freshness | str | None
    allowed_domains: Iterable[str]
    blocked_domains: Iterable[str]
    need_summary: bool
    budget_ms: int | None
    trace_id: str
    page: int
    focus: str
    safe: int


class SearchOptions(SearchParams, total=False):
    """All keywords of a search by a client: those of its query, and how it is made; see ``AsyncClient.search``."""

    engines: str
    max_wait: float
    depth: Depth
    max_tokens: int | None


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A query. One that exists is valid: a bad field raises ``InvalidInput`` when it is made."""

    text: str
    count: int = MAX_RESULTS
    lang: str = ""
    country: str = ""
    freshness: Freshness | None = None
    allowed_domains: tuple[str, ...] = ()
    blocked_domains: tuple[str, ...] = ()
    need_summary: bool = False
    budget_ms: int | None = None
    trace_id: str = field(default_factory=lambda: os.urandom(8).hex())
    page: int = 1
    """Which page of the engines' results; only engines that have further pages are asked for them."""
    safe: int = 0
    """How much adult content is left out: 0 as the engine does by itself, 1 moderate, 2 strict."""
    focus: str = ""
    """What kind of source is wanted, such as ``news`` or ``academic``; empty for the plan of the search."""

    @classmethod
    def of(cls, query: SearchQuery | str, params: SearchParams) -> SearchQuery:
        """The query that a caller asks for; ``params`` change a query that is already made."""
        if isinstance(query, QueryText):
            query = query.query
        if isinstance(query, SearchQuery):
            return replace(query, **params) if params else query  # type: ignore[arg-type]
        return cls(query, **params)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "text", _clean_text(self.text))
        if not _is_whole_number(self.count, 1, MAX_RESULTS):
            raise causes.BAD_COUNT(value=self.count)
        if not _is_whole_number(self.page, 1, MAX_PAGE):
            raise causes.BAD_PAGE(value=self.page, limit=MAX_PAGE)
        if isinstance(self.safe, bool) or self.safe not in (0, 1, 2):
            raise causes.BAD_SAFE(value=self.safe)
        put(self, "lang", _clean_lang(self.lang))
        put(self, "country", _clean_country(self.country))
        put(self, "freshness", _parsed_freshness(self.freshness))
        put(self, "allowed_domains", _clean_domains(self.allowed_domains))
        put(self, "blocked_domains", _clean_domains(self.blocked_domains))
        if self.budget_ms is not None and not 1 <= self.budget_ms <= MAX_BUDGET_MS:
            raise causes.BAD_BUDGET(value=self.budget_ms)

    def __str__(self) -> str:
        return self.text

    def params(self) -> tuple[str, ...]:
        """Return the names of the optional parameters that this query uses."""
        names = ("lang", "country", "freshness", "allowed_domains", "blocked_domains", "need_summary", "safe")
        return tuple(name for name in names if getattr(self, name))

    def key(self) -> tuple[object, ...]:
        """Return what makes two queries the same search (not who asks, nor how long they would wait)."""
        return _KEY(self)


class QueryText(str):
    """The text of a query as an engine of another package gets it: a ``str`` that also has the query's other fields.

    ``count`` is the method of texts; how many results are wanted is the engine's second argument.
    """

    query: SearchQuery

    def __new__(cls, query: SearchQuery) -> Self:
        """Make the text of ``query``."""
        text = super().__new__(cls, query.text)
        text.query = query
        return text

    def __getattr__(self, name: str) -> Any:
        # Only what a text does not have itself.
        return getattr(self.query, name)

    def __reduce__(self) -> tuple[type[QueryText], tuple[SearchQuery]]:
        return QueryText, (self.query,)


_NOT_IN_KEY = ("trace_id", "budget_ms")
_KEY = attrgetter(*(field.name for field in fields(SearchQuery) if field.name not in _NOT_IN_KEY))


def _clean_text(text: str) -> str:
    # Control characters come with pasted text and mean nothing to an engine; lone surrogates cannot be encoded.
    text = _CONTROL.sub(" ", text).encode("utf-8", "ignore").decode("utf-8")
    text = " ".join(text.split())
    if not text.strip(_INVISIBLE):
        raise causes.EMPTY_QUERY()
    if len(text) > MAX_QUERY:
        raise causes.QUERY_TOO_LONG(length=len(text), limit=MAX_QUERY)
    return text


def _is_whole_number(value: object, low: int, high: int) -> bool:
    """Whether a value is an integer from ``low`` to ``high``; ``True`` is none."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _clean_country(country: str) -> str:
    if country and not _COUNTRY.fullmatch(country):
        raise causes.BAD_COUNTRY(value=country)
    return country.upper()


def _parsed_freshness(freshness: Freshness | str | None) -> Freshness | None:
    if isinstance(freshness, str):
        return Freshness.parse(freshness) if freshness else None
    return freshness


def _clean_lang(lang: str) -> str:
    lang = lang.strip().replace("_", "-")
    if lang.lower() in ("", "auto", "all"):
        return ""
    if not _LANG.fullmatch(lang):
        raise causes.BAD_LANG(value=lang)
    language, *subtags = lang.split("-")
    # The country has two letters or three digits, the script has four letters.
    spelled = [subtag.upper() if len(subtag) < 4 else subtag.title() for subtag in subtags]
    return "-".join([language.lower(), *spelled])


def _clean_domains(domains: Iterable[str]) -> tuple[str, ...]:
    if isinstance(domains, str):
        domains = domains.split(",")
    names: dict[str, None] = {}
    for domain in domains:
        # As people paste them: with scheme, port, dots and slashes around; a path would be a narrower filter.
        name = _AROUND.sub("", domain.strip().lower())
        if not _DOMAIN.fullmatch(name):
            raise causes.BAD_DOMAIN(value=domain)
        names[name] = None
    return tuple(names)
