"""The events of a turn. The terminal, the page, the API and the store all read these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal

from ..citations.claims import Basis, Disagreement, Verdict
from ..citations.registry import Source
from ..core.failure import Failure
from ..store.conversation import Mode
from .functions import FunctionCall

Level = Literal["info", "warning", "error"]
Tool = Literal["web_search", "web_fetch"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened in a turn."""

    kind: ClassVar[str] = ""

    def as_dict(self) -> dict[str, Any]:
        """The event as JSON: its kind and its fields."""
        data = {"kind": self.kind, **asdict(self)}
        failure = getattr(self, "failure", None)
        return {**data, "failure": failure.as_dict()} if failure else data


@dataclass(frozen=True, slots=True)
class RemoteEvent:
    """An event of an answer that another worker is writing, as its JSON."""

    data: dict[str, Any]

    @property
    def kind(self) -> str:
        """The kind of event."""
        return str(self.data["kind"])

    def as_dict(self) -> dict[str, Any]:
        """The event as JSON."""
        return self.data


@dataclass(frozen=True, slots=True)
class TurnStarted(Event):
    """A turn has started."""

    kind: ClassVar[str] = "turn.started"
    run: str
    mode: Mode
    search: bool
    model: str
    engine: str


@dataclass(frozen=True, slots=True)
class StepStarted(Event):
    """The model chose a tool (Agent mode); ``detail`` is the query or the address."""

    kind: ClassVar[str] = "step.started"
    step: int
    tool: Tool
    detail: str


@dataclass(frozen=True, slots=True)
class StepFinished(Event):
    """A step has ended, successfully or not."""

    kind: ClassVar[str] = "step.finished"
    step: int
    tool: Tool
    ok: bool
    took_ms: int = 0


@dataclass(frozen=True, slots=True)
class SearchStarted(Event):
    """A search has started."""

    kind: ClassVar[str] = "search.started"
    step: int
    query: str
    engine: str


@dataclass(frozen=True, slots=True)
class SearchFinished(Event):
    """A search has ended, perhaps without results; ``receipt`` says what each engine did."""

    kind: ClassVar[str] = "search.finished"
    step: int
    query: str
    engine: str
    count: int
    took_ms: int
    cached: bool
    repeated: bool
    """Whether this conversation had searched the same before: then no request was made."""
    receipt: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class SearchFailed(Event):
    """No engine could answer."""

    kind: ClassVar[str] = "search.failed"
    step: int
    query: str
    failure: Failure
    took_ms: int
    receipt: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class PageRead(Event):
    """A page was read for the model."""

    kind: ClassVar[str] = "page.read"
    step: int
    url: str
    title: str
    number: int | None
    """Its number as a source, where it has one."""
    tokens: int
    took_ms: int


@dataclass(frozen=True, slots=True)
class PageFailed(Event):
    """A page could not be read."""

    kind: ClassVar[str] = "page.failed"
    step: int
    url: str
    failure: Failure
    took_ms: int


@dataclass(frozen=True, slots=True)
class SourcesFound(Event):
    """Sources that may be cited from now on, with their numbers; ``round`` is the search they came from."""

    kind: ClassVar[str] = "sources"
    round: int
    query: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Thinking(Event):
    """Reasoning, or text before a tool call. It is not part of the answer."""

    kind: ClassVar[str] = "thinking"
    text: str


@dataclass(frozen=True, slots=True)
class TextDelta(Event):
    """More of the answer. Citation markers come whole and as ``[n]``."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True, slots=True)
class TextWithdrawn(Event):
    """The text so far was written before a tool call: it is not part of the answer."""

    kind: ClassVar[str] = "text.withdrawn"


@dataclass(frozen=True, slots=True)
class Notice(Event):
    """A problem that the user should know about, with its hint."""

    kind: ClassVar[str] = "notice"
    level: Level
    failure: Failure
    guide: str = ""
    """The name of the guide on this topic (``searxng``, ``models``), or nothing."""


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """One cited sentence of the answer, compared with one of the sources that it cites."""

    start: int
    """The position of the sentence in :attr:`Answer.text`, in characters."""
    end: int
    number: int
    verdict: Verdict
    basis: Basis = ""
    """What was compared: the page, the snippet of the search, or nothing."""
    quote: str = ""
    """The sentence of the source that fits best."""
    link: str = ""
    """The source's address with a text fragment that leads to the quote."""
    claimed: str = ""
    """Where the source contradicts the sentence: the words of the sentence,"""
    says: str = ""
    """and what the source says instead."""


@dataclass(frozen=True, slots=True)
class ClaimsChecked(Event):
    """The citations of the text so far, compared with what was read so far; the answer has the final ones."""

    kind: ClassVar[str] = "claims"
    claims: tuple[ClaimCheck, ...]


@dataclass(frozen=True, slots=True)
class Citation:
    """A source that the answer cites, and how its sentences compare with what the source says."""

    number: int
    url: str
    title: str
    verdict: Verdict | None = None
    """The weakest verdict of the sentences that cite it; None where nothing could be compared."""
    quote: str = ""
    link: str = ""
    """The address with a text fragment that leads to the quote."""
    basis: Basis = ""
    says: str = ""
    """What the source says instead, where it contradicts."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a turn used."""

    searches: int = 0
    fetches: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Answer(Event):
    """The end of a turn. Whatever happened, there is exactly one, and it is the last event."""

    kind: ClassVar[str] = "answer"
    text: str
    """The whole text with ``[n]`` markers."""
    markdown: str
    """The same with ``[[n]](url)`` links and the list of references at its end."""
    mode: Mode
    model: str
    lang: str
    sources: tuple[Source, ...] = ()
    rounds: tuple[tuple[int, str, tuple[int, ...]], ...] = ()
    """The searches: number, query, sources."""
    cited: tuple[int, ...] = ()
    unknown: tuple[int, ...] = ()
    """Numbers in the text that belong to no source."""
    claims: tuple[ClaimCheck, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    """Where a source supports what the text says and another says otherwise."""
    unverified: bool = False
    """Whether a search was wanted and failed: every view must show that the text is not verified."""
    stopped: bool = False
    failure: Failure | None = None
    """Why there is no (complete) answer."""
    took_ms: int = 0
    usage: Usage = field(default_factory=Usage)
    suggestions: tuple[str, ...] = ()
    """Questions that the sources would answer too."""
    receipts: tuple[Mapping[str, Any], ...] = ()
    """What each search did: query, and a row for every engine that was asked."""
    private: bool = False
    """Whether it may repeat own documents of the user: they were read for it, or for an answer before it."""
    unsaved: bool = False
    """Whether the store could not take the answer yet: it is kept, and tried again until it can."""
    calls: tuple[FunctionCall, ...] = ()
    """The functions of the caller that are to be called before there is an answer."""

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The sources that the text cites."""
        return tuple(self._citation(source) for source in self.sources if source.number in self.cited)

    def _citation(self, source: Source) -> Citation:
        claims = [claim for claim in self.claims if claim.number == source.number]
        weakest = max(claims, key=lambda claim: _WEAKNESS.index(claim.verdict), default=None)
        told = (weakest.verdict, weakest.quote, weakest.link, weakest.basis, weakest.says) if weakest else ()
        return Citation(source.number, source.url, source.title, *told)


_WEAKNESS: tuple[Verdict, ...] = ("supported", "weak", "unread", "not_found", "contradicted")
