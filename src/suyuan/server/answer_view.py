"""``AnswerView``: an answer as the page shows it, built from events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..chat.events import Notice
from ..chat.verdicts import checks
from ..citations.markers import find_markers
from ..core.failure import Failure
from ..core.urls import is_page
from ..markup.blocks import LONGEST, Labels, Mark, plain_block
from ..store.conversation import Message
from ..text.numbers import figures
from ..text.shingles import is_reprint

Json = Mapping[str, Any]


@dataclass(slots=True)
class Step:
    """One search, or one page read."""

    tool: str
    detail: str
    engine: str = ""
    state: str = "running"
    took_ms: int = 0
    cached: bool = False
    repeated: bool = False
    receipt: Sequence[Json] = ()
    failure: Failure | None = None
    title: str = ""


@dataclass(slots=True)
class Listing:
    """The sources of an answer: those that it cites, the others, and the reprints of one of them by its number."""

    supports: Counter[int]
    """How many sentences each source supports."""
    used: list[Json] = field(default_factory=list)
    others: list[Json] = field(default_factory=list)
    reprints: dict[int, list[Json]] = field(default_factory=dict)

    def add(self, source: Json, *, cited: bool) -> None:
        """Add the next source; one that is not cited and whose text another has too stands below that one."""
        if cited:
            self.used.append(source)
            return
        text = source.get("snippet") or ""
        known = (each for each in (*self.used, *self.others) if _is_same_text(each.get("snippet") or "", text))
        if (origin := next(known, None)) is not None:
            self.reprints.setdefault(origin["number"], []).append(source)
        else:
            self.others.append(source)


def _is_same_text(one: str, other: str) -> bool:
    """Whether one of the texts is the other or a part of it; one that gives another figure is a text of its own."""
    if not is_reprint(one, other):
        return False
    ours, theirs = figures(one).implied, figures(other).implied
    return ours <= theirs or theirs <= ours


@dataclass(slots=True)
class AnswerView:
    """An answer so far."""

    run: str
    labels: Labels
    state: str = "running"
    mode: str = "chat"
    at: str = ""
    steps: dict[int, Step] = field(default_factory=dict)
    sources: dict[int, Json] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)
    thinking: str = ""
    blocks: list[str] = field(default_factory=list)
    """The text laid out, see ``Layout``."""
    whole: str | None = None
    """The text of an answer that is complete, or all that is stored of it."""
    withdrawn: int = 0
    """How many times the text began anew."""
    answer: Json | None = None
    question: str = ""
    """The id of the question."""
    versions: Sequence[str] = ()
    """The answers to the question, the oldest first, where there are several."""
    read: set[int] = field(default_factory=set)
    """The sources whose page was read."""
    _text_so_far: list[str] = field(default_factory=list)
    _checked: Sequence[Json] = ()

    def take(self, event: Json) -> str:
        """Apply ``event``, and return the part of the page that it changes."""
        handler = _HANDLERS.get(event["kind"])
        return handler(self, event) if handler else ""

    def as_written(self, why: str) -> list[str]:
        """The whole text, not laid out."""
        return [plain_block(self.whole or "", why)]

    def addresses(self) -> dict[int, str]:
        """The URLs of the sources by number."""
        return {number: source["url"] for number, source in self.sources.items() if is_page(source["url"])}

    @property
    def text_so_far(self) -> str:
        """What was written so far."""
        return "".join(self._text_so_far)

    @property
    def text_marks(self) -> list[Mark | None]:
        """The check of every citation in the part of the whole text that is laid out."""
        return self._marks((self.whole or "")[:LONGEST])

    def _marks(self, text: str) -> list[Mark | None]:
        """The check of the cited sentence for every citation of the text, in order."""
        known, found = self.addresses(), self.checks
        if not found:
            return []
        return [_mark_at(place, number, found) for place, number in _citations(text) if number in known]

    @property
    def checks(self) -> list[dict[str, Any]]:
        """The checks of the citations: of the answer, or of the text so far."""
        return checks(self.checked)

    @property
    def checked(self) -> Json:
        """What was checked: the answer, or the text so far."""
        return self.answer or {"claims": self._checked}

    @property
    def marks(self) -> list[tuple[int, str] | None]:
        """The check of every citation of the text so far, in order."""
        return [(mark.claim, mark.verdict) if mark else None for mark in self._marks(self.text_so_far[:LONGEST])]

    # --- evidence -----------------------------------------------------------------------------------------------------
    @property
    def cited(self) -> Sequence[int]:
        """The numbers of the sources that the finished answer cites."""
        cited: Sequence[int] = (self.answer or {}).get("cited", ())
        return cited

    def listing(self) -> Listing:
        """The sources as they are listed; this takes time, since each is compared with the others."""
        found = Listing(Counter(check["number"] for check in self.checks if check["verdict"] == "supported"))
        for source in sorted(self.sources.values(), key=lambda source: source["number"] not in self.cited):
            found.add(source, cited=source["number"] in self.cited)
        return found

    @property
    def confirmed(self) -> tuple[int, int, int] | None:
        """How many of the checked citations are confirmed, how many there are, and how many are contradicted."""
        found = Counter(check["verdict"] for check in self.checks)
        return (found["supported"], found.total(), found["contradicted"]) if found else None

    # --- events -------------------------------------------------------------------------------------------------------
    def _started(self, event: Json) -> str:
        self.mode = event["mode"]
        return "step"

    def _step(self, event: Json) -> str:
        """A search or a page: the fields of the event are those of its step."""
        tool, detail, state = _STEPS[event["kind"]]
        step = self.steps.setdefault(event["step"], Step(tool or event["tool"], event[detail] if detail else ""))
        step.state = state or ("ok" if event["ok"] else "failed")
        for name in ("engine", "took_ms", "cached", "repeated", "receipt", "title"):
            if name in event:
                setattr(step, name, event[name])
        if event.get("failure"):
            step.failure = Failure.from_dict(event["failure"])
        if event["kind"] == "page.read" and event.get("number"):
            self.read.add(event["number"])
        return "sources" if event["kind"] == "page.read" else "step"

    def _found(self, event: Json) -> str:
        self.sources.update((source["number"], source) for source in event["sources"])
        return "sources"

    def _noticed(self, event: Json) -> str:
        failure = Failure.from_dict(event.get("failure") or {})
        self.notices.append(Notice(event["level"], failure, event["guide"]))
        return "notice"

    def _thought(self, event: Json) -> str:
        self.thinking += event["text"]
        return "thinking"

    def _text(self, event: Json) -> str:
        self._text_so_far.append(event["text"])
        return "text"

    def _claims(self, event: Json) -> str:
        self._checked = event["claims"]
        return "claims"

    def _withdrawn(self, event: Json) -> str:
        self.withdrawn += 1
        self._checked = ()
        self._text_so_far.clear()
        self.blocks = []
        return "withdrawn"

    def _end(self, event: Json) -> str:
        self.answer = event
        self.mode = event["mode"]
        self.state = "stopped" if event["stopped"] else "failed" if event.get("failure") else "done"
        self.sources.update((source["number"], source) for source in event["sources"])
        self.read |= {source["number"] for source in event["sources"] if source.get("read_from")}
        self.whole = event["text"]
        return "answer"


# The tool of a step, the field that says what it is about, and its state; what is empty is in the event.
_STEPS = {
    "step.started": ("", "detail", "running"),
    "step.finished": ("", "", ""),
    "search.started": ("web_search", "query", "running"),
    "search.finished": ("web_search", "query", "ok"),
    "search.failed": ("web_search", "query", "failed"),
    "page.read": ("web_fetch", "url", "ok"),
    "page.failed": ("web_fetch", "url", "failed"),
}
_HANDLERS: dict[str, Callable[[AnswerView, Json], str]] = {
    **dict.fromkeys(_STEPS, AnswerView._step),
    "turn.started": AnswerView._started,
    "sources": AnswerView._found,
    "notice": AnswerView._noticed,
    "thinking": AnswerView._thought,
    "text": AnswerView._text,
    "claims": AnswerView._claims,
    "text.withdrawn": AnswerView._withdrawn,
    "answer": AnswerView._end,
}


# All who follow an answer ask for the same.
@lru_cache(32)
def _citations(text: str) -> tuple[tuple[int, int], ...]:
    """Where each number is cited."""
    return tuple((marker.start, number) for marker in find_markers(text) for number in marker.numbers)


def _mark_at(place: int, number: int, found: Sequence[Json]) -> Mark | None:
    """The check of the sentence around ``place`` with source ``number``; a marker may follow its sentence."""
    own = [
        (max(0, place - check["end"] + 1), at)
        for at, check in enumerate(found)
        if check["number"] == number and check["start"] <= place <= check["end"] + 2
    ]
    return Mark(min(own)[1], found[min(own)[1]]["verdict"]) if own else None


def kept_view(
    message: Message,
    events: Sequence[Json],
    labels: Labels,
    mode: str = "chat",
    question: str = "",
    versions: Sequence[str] = (),
) -> AnswerView:
    """The view of a stored answer; ``mode`` is that of its conversation, used until its first event is stored."""
    view = AnswerView(message.id, labels, message.state, mode, message.created_at, question=question, versions=versions)
    for event in events:
        if event["kind"] != "answer":
            view.take(event)
    if message.answer:
        view.take(message.answer)
    else:
        view.whole = message.text
    view.state = message.state
    return view
