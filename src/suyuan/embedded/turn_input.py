"""What the embedded model knows of a turn: the question, what was said before, the sources so far, and what failed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..citations.registry import Source
from ..core.answer_length import AnswerLength
from ..text.language import script_language
from .evidence import Evidence
from .follow_up import Resolved, Said, resolve

_MAX_QUESTION, _MAX_ANSWER, _MAX_EXCHANGES = 1000, 4000, 8
"""So much of a conversation is looked at: what is asked stands at the beginning or at the end of a message."""
_SPACES = re.compile(r"\s++")


@dataclass(slots=True)
class FoundSource:
    """A numbered source of the turn."""

    number: int
    title: str
    url: str
    snippet: str
    page: str = ""
    """What was read of the page itself."""
    published: str = ""
    """The day on which it appeared, in ISO form."""

    def evidence(self) -> Evidence:
        """Return all that is known of it, the snippet last: it is mostly a part of the page."""
        return Evidence(self.number, self.title, f"{self.page}\n{self.snippet}".strip(), self.published)


@dataclass(slots=True)
class TurnInput:
    """One turn, as far as it has come."""

    question: str = ""
    history: tuple[Said, ...] = ()
    """The earlier questions and answers, the oldest first."""
    length: AnswerLength = "auto"
    sources: dict[int, FoundSource] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)
    read_urls: list[str] = field(default_factory=list)
    failed: bool = False
    """Whether a search failed."""

    def __post_init__(self) -> None:
        self.question = _shortened(self.question, _MAX_QUESTION)
        self.history = tuple(
            Said(_shortened(said.question, _MAX_QUESTION), _shortened(said.answer, _MAX_ANSWER))
            for said in self.history[-_MAX_EXCHANGES:]
        )

    def add_search(self, query: str, sources: Iterable[Source]) -> None:
        """Take the results of a search; a page that was found again may show another part of its text."""
        self.queries.append(query)
        for found in sources:
            known = self._known(found)
            if found.snippet not in known.snippet:
                known.snippet = f"{known.snippet}\n{found.snippet}".strip()

    def add_page(self, source: Source, text: str) -> None:
        """Take what was read of a page."""
        self.read_urls.append(source.url)
        known = self._known(source)
        known.page = f"{known.page}\n{text}".strip()

    def _known(self, source: Source) -> FoundSource:
        """Return the source of the turn that has a number."""
        known = self.sources.setdefault(source.number, FoundSource(source.number, source.title, source.url, ""))
        known.published = known.published or (source.published_at or "")[:10]
        return known

    @property
    def lang(self) -> str:
        """The language to answer in."""
        return "zh" if script_language(self.question) == "zh" else "en"

    @property
    def resolved(self) -> Resolved:
        """The question with what it leaves out because it was said before.

        Where it only may leave out something, a source must speak of both, if there are any.
        """
        resolved = resolve(self.question, self.history)
        if resolved.certain or not self.sources or any(resolved.fits(source.text) for source in self.evidence):
            return resolved
        return Resolved(self.question)

    @property
    def full_question(self) -> str:
        """The question with its subject, as one text."""
        resolved = self.resolved
        return f"{resolved.about} {resolved.question}".strip()

    @property
    def evidence(self) -> list[Evidence]:
        """The sources with all that is known of them, in the order of their numbers."""
        return [self.sources[number].evidence() for number in sorted(self.sources)]


def _shortened(text: str, longest: int) -> str:
    """Return the beginning and the end of ``text``, without runs of white space."""
    text = _SPACES.sub(lambda run: "\n" if "\n" in run[0] else " ", text)
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n{text[-half:]}"
