"""``CitationProcessor``: numbers, links and the list of references, for those who write a chat of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..core.result import SearchPage, SearchResult
from .linker import LinkedAnswer, Linker
from .references import references
from .registry import CitationRegistry, Source


class CitationProcessor:
    """Resolves the markers ``[n]`` of an answer by the sources that it was given.

    The sources are numbered from 1 in their order; a page that comes again keeps its number.
    """

    def __init__(self, *found: SearchPage | Iterable[SearchResult | Mapping[str, Any]]) -> None:
        self._registry = CitationRegistry()
        for each in found:
            self.add(each)

    def add(self, found: SearchPage | Iterable[SearchResult | Mapping[str, Any]]) -> tuple[Source, ...]:
        """Number what one search found: a ``SearchPage``, results, or mappings with ``title``, ``url``, ``snippet``."""
        if isinstance(found, SearchPage):
            return self._registry.add(found)
        return self._registry.add_results([_result(one) for one in found])

    @property
    def sources(self) -> dict[int, Source]:
        """The sources by their numbers, each with ``title``, ``url`` and ``domain``."""
        return self._registry.by_number()

    def process(self, text: str) -> LinkedAnswer:
        """Resolve the markers of a whole text: ``markdown`` has each known ``[n]`` as ``[[n]](url)``.

        Numbers of no source stay as they are; they are in ``unknown``, and logged.
        """
        linker = self.stream()
        linker.feed(text)
        linker.close()
        return linker.answer

    def stream(self) -> Linker:
        """Resolve the markers of a text that comes in pieces: ``feed`` each, then ``close``, then read ``answer``.

        What ``feed`` returns can be shown at once: a marker is in it whole or not at all.
        """
        return Linker(self._registry.by_number)

    def references(self, answer: LinkedAnswer, *, lang: str = "zh") -> str:
        """The list of the cited sources as Markdown, with number, title, link and domain; empty where none is cited."""
        return references(self._registry.by_number(), answer.cited, lang=lang)

    def with_references(self, text: str, *, lang: str = "zh") -> str:
        """A whole text with its links, followed by the list of references where a source is cited."""
        answer = self.process(text)
        listed = self.references(answer, lang=lang)
        return f"{answer.markdown}\n\n{listed}" if listed else answer.markdown


def _result(found: SearchResult | Mapping[str, Any]) -> SearchResult:
    if isinstance(found, SearchResult):
        return found
    return SearchResult(str(found.get("title") or ""), str(found["url"]), str(found.get("snippet") or ""))
