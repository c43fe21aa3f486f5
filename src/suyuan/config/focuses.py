"""The kinds of sources that the user names in ``config.json``, below ``tools.webSearch.focus``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..core.errors import InvalidInput
from ..core.freshness import Freshness
from ..core.query import SearchQuery
from ..core.setting import InvalidValue, Setting, ValueKind, declarations, names, setting, text
from ..messages.catalog import Text
from ..search.focus import Focus
from ..search.plan import names_in
from .engine_settings import unknown_engine
from .reader import SettingReader
from .settings import language_tag

PREFIX = "tools.webSearch.focus."


def _age() -> ValueKind:
    """A time range that a query accepts."""

    def check(value: Any) -> str:
        word = str(value).strip()
        try:
            Freshness.parse(word)
        except InvalidInput:
            raise InvalidValue("freshness") from None
        return word

    return ValueKind(check, {"type": "string"})


def _check_domain(domain: str) -> None:
    try:
        SearchQuery("x", allowed_domains=(domain,))
    except InvalidInput:
        raise ValueError(domain) from None


@dataclass(frozen=True, slots=True)
class FocusSettings:
    """One kind of source; the paths are relative to its name."""

    engines: str = setting("engines", "", text(), "The plan: one name, a,b (b when a fails) or a+b (merged).")
    domains: tuple[str, ...] = setting("domains", (), names(check_each=_check_domain), "Only results of these domains.")
    lang: str = setting("language", "", language_tag(), "The language of the results.")
    freshness: str = setting("freshness", "", _age(), "How old results may be: day, week, month, year.")


def focus_settings(reader: SettingReader) -> Iterator[Setting]:
    """The settings of every kind of source that the file names."""
    for name in reader.names_below(PREFIX):
        yield from (option.under(f"{PREFIX}{name}.", "") for option in declarations(FocusSettings))


def read_focuses(reader: SettingReader) -> dict[str, Focus]:
    """The kinds of sources that the file names; one with an unknown engine is reported and left out."""
    focuses = {}
    for name in reader.names_below(PREFIX):
        own = reader.read(FocusSettings, f"{PREFIX}{name}.")
        if unknown := unknown_engine(names_in(own.engines)):
            reader.report(str(reader.file), f"{PREFIX}{name}.engines", *unknown, Text("config.used.nothing"))
            continue
        freshness = Freshness.parse(own.freshness) if own.freshness else None
        focuses[name.lower()] = Focus(own.engines, own.domains, own.lang, freshness)
    return focuses
