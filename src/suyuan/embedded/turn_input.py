"""What the embedded model knows of a turn: the question, the sources so far, and what failed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..text.keywords import keywords
from ..text.language import script_language
from .evidence import Evidence
from .question_splitter import find_subject

_PRONOUN = re.compile(
    r"\b(?:it|its|they|their|he|she|his|her|that one)\b|它|[他她]们?|(?<!应)该|这个|那个|其中|那里", re.I
)


@dataclass(slots=True)
class FoundSource:
    """A numbered source of the turn."""

    number: int
    title: str
    url: str
    snippet: str
    page: str = ""
    """What was read of the page itself."""

    def evidence(self) -> Evidence:
        """Return all that is known of it, the snippet last: it is mostly a part of the page."""
        return Evidence(self.number, self.title, f"{self.page}\n{self.snippet}".strip())


@dataclass(slots=True)
class TurnInput:
    """One turn, as far as it has come."""

    question: str = ""
    previous_question: str = ""
    sources: dict[int, FoundSource] = field(default_factory=dict)
    queries: list[str] = field(default_factory=list)
    read_urls: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    """The messages of failed searches, as a person should see them."""
    unnumbered: list[str] = field(default_factory=list)
    """Texts of pages that are no numbered source."""

    @property
    def lang(self) -> str:
        """The language to answer in."""
        return "zh" if script_language(self.question) == "zh" else "en"

    @property
    def subject(self) -> str:
        """What a pronoun of the question stands for: the keywords of the previous one; empty where none is needed."""
        if not self.previous_question or find_subject(self.question) or not _PRONOUN.search(self.question):
            return ""
        return " ".join(keywords(self.previous_question)[:5])

    @property
    def full_question(self) -> str:
        """The question with its subject."""
        return f"{self.subject} {self.question}".strip()

    @property
    def evidence(self) -> list[Evidence]:
        """The sources by number."""
        return [self.sources[number].evidence() for number in sorted(self.sources)]
