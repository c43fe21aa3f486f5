"""An answer as the page shows it: its state, built from events, and its HTML in the language of the user."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader
from jinja2.environment import TemplateModule

from ..chat.verdicts import checks, counts, sides, verdict_text
from ..citations.markers import find_markers
from ..core.failure import Failure
from ..core.urls import domain_of, is_page
from ..llm.settings import EMBEDDED
from ..store.conversation import Message
from ..text.shingles import is_reprint
from .markdown_stream import Labels, Mark, MarkdownStream, Update, render
from .texts import PageTexts
from .tiles import tile_colour, tile_letter

Json = Mapping[str, Any]
Titles = Callable[[str], str]

_STEP = re.compile(r"\s+(?=[1-9]\. )")


@dataclass(slots=True)
class Step:
    """One search, or one page read."""

    number: int
    tool: str
    detail: str
    engine: str = ""
    state: str = "running"
    took_ms: int = 0
    count: int = 0
    cached: bool = False
    repeated: bool = False
    receipt: Sequence[Json] = ()
    failure: Failure | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class NoticeView:
    """A notice of an answer."""

    level: str
    failure: Failure
    guide: str


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
    notices: list[NoticeView] = field(default_factory=list)
    thinking: str = ""
    blocks: list[str] = field(default_factory=list)
    answer: Json | None = None
    question: str = ""
    """The id of the question."""
    versions: Sequence[str] = ()
    """The answers to the question, the oldest first, where there are several."""
    read: set[int] = field(default_factory=set)
    """The sources whose page was read."""
    _stream: MarkdownStream | None = None
    _waiting: list[str] = field(default_factory=list)
    _text_so_far: list[str] = field(default_factory=list)
    _checked: Sequence[Json] = ()

    def take(self, event: Json) -> str:
        """Apply ``event``, and return the part of the page that it changes."""
        handler = _HANDLERS.get(event["kind"])
        return handler(self, event) if handler else ""

    def flush(self) -> Update | None:
        """Render the text that was added since the last call."""
        if not self._waiting:
            return None
        text = "".join(self._waiting)
        self._waiting.clear()
        if self._stream is None:
            self._stream = MarkdownStream(self.addresses, self.labels)
        update = self._stream.feed(text)
        self.blocks = self._stream.blocks
        return update

    def addresses(self) -> dict[int, str]:
        """The URLs of the sources by number."""
        return {number: source["url"] for number, source in self.sources.items() if is_page(source["url"])}

    def show(self, text: str) -> None:
        """Show ``text`` as the whole answer."""
        self._waiting.clear()
        self.blocks = render(text, self.addresses(), self.labels, self._marks(text))

    def _marks(self, text: str) -> list[Mark | None]:
        """The check of the cited sentence for every citation of the text, in order."""
        known, found = self.addresses(), self.checks
        places = [
            (marker.start, number) for marker in find_markers(text) for number in marker.numbers if number in known
        ]
        return [_mark_at(place, number, found) for place, number in places] if found else []

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
        return [(mark.claim, mark.verdict) if mark else None for mark in self._marks("".join(self._text_so_far))]

    # --- evidence -----------------------------------------------------------------------------------------------------
    @property
    def cited(self) -> Sequence[int]:
        """The numbers of the sources that the finished answer cites."""
        cited: Sequence[int] = (self.answer or {}).get("cited", ())
        return cited

    @property
    def used(self) -> list[Json]:
        """The sources that the answer cites, without reprints of another."""
        return [source for source in self.listed if source["number"] in self.cited]

    @property
    def others(self) -> list[Json]:
        """The sources that the answer does not cite."""
        return [source for source in self.listed if source["number"] not in self.cited]

    @property
    def listed(self) -> list[Json]:
        """The sources without reprints, those that are cited first."""
        folded = {each["number"] for some in self.reprints.values() for each in some}
        own = [source for number, source in self.sources.items() if number not in folded]
        return sorted(own, key=lambda source: source["number"] not in self.cited)

    @property
    def reprints(self) -> dict[int, list[Json]]:
        """The sources whose text another one has too, by the number of the one that is cited or found first."""
        found: dict[int, list[Json]] = {}
        origins: list[Json] = []
        for source in sorted(self.sources.values(), key=lambda source: source["number"] not in self.cited):
            text = source.get("snippet") or ""
            origin = next((each for each in origins if is_reprint(each.get("snippet") or "", text)), None)
            if origin is None:
                origins.append(source)
            else:
                found.setdefault(origin["number"], []).append(source)
        return found

    @property
    def supports(self) -> Counter[int]:
        """How many sentences each source supports."""
        return Counter(check["number"] for check in self.checks if check["verdict"] == "supported")

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
        self.steps[event["step"]] = Step(event["step"], event["tool"], event["detail"])
        return "step"

    def _step_over(self, event: Json) -> str:
        step = self.steps[event["step"]]
        step.state, step.took_ms = "ok" if event["ok"] else "failed", event["took_ms"]
        return "step"

    def _searching(self, event: Json) -> str:
        self._known(event, "web_search", event["query"]).engine = event["engine"]
        return "step"

    def _searched(self, event: Json) -> str:
        step = self._known(event, "web_search", event["query"])
        step.engine, step.count, step.state, step.took_ms = event["engine"], event["count"], "ok", event["took_ms"]
        step.cached, step.repeated, step.receipt = event["cached"], event["repeated"], event["receipt"]
        return "step"

    def _search_failed(self, event: Json) -> str:
        step = self._known(event, "web_search", event["query"])
        step.state, step.took_ms, step.receipt = "failed", event["took_ms"], event["receipt"]
        step.failure = Failure.from_dict(event.get("failure") or {})
        return "step"

    def _read(self, event: Json) -> str:
        step = self._known(event, "web_fetch", event["url"])
        step.title, step.state, step.took_ms = event["title"], "ok", event["took_ms"]
        if event.get("number"):
            self.read.add(event["number"])
        return "read"

    def _read_failed(self, event: Json) -> str:
        step = self._known(event, "web_fetch", event["url"])
        step.state, step.took_ms = "failed", event["took_ms"]
        step.failure = Failure.from_dict(event.get("failure") or {})
        return "step"

    def _known(self, event: Json, tool: str, detail: str) -> Step:
        return self.steps.setdefault(event["step"], Step(event["step"], tool, detail))

    def _found(self, event: Json) -> str:
        self.sources.update((source["number"], source) for source in event["sources"])
        return "sources"

    def _noticed(self, event: Json) -> str:
        failure = Failure.from_dict(event.get("failure") or {})
        self.notices.append(NoticeView(event["level"], failure, event["guide"]))
        return "notice"

    def _thought(self, event: Json) -> str:
        self.thinking += event["text"]
        return "thinking"

    def _text(self, event: Json) -> str:
        self._waiting.append(event["text"])
        self._text_so_far.append(event["text"])
        return "text"

    def _claims(self, event: Json) -> str:
        self._checked = event["claims"]
        return "claims"

    def _withdrawn(self, event: Json) -> str:
        self._stream, self._checked = None, ()
        self._text_so_far.clear()
        self._waiting.clear()
        self.blocks = []
        return "withdrawn"

    def _end(self, event: Json) -> str:
        self.answer = event
        self.mode = event["mode"]
        self.state = "stopped" if event["stopped"] else "failed" if event.get("failure") else "done"
        self.sources.update((source["number"], source) for source in event["sources"])
        self.read |= {source["number"] for source in event["sources"] if source.get("read_from")}
        self.show(event["text"])
        return "answer"


_HANDLERS: dict[str, Callable[[AnswerView, Json], str]] = {
    "turn.started": AnswerView._started,
    "step.started": AnswerView._step,
    "step.finished": AnswerView._step_over,
    "search.started": AnswerView._searching,
    "search.finished": AnswerView._searched,
    "search.failed": AnswerView._search_failed,
    "page.read": AnswerView._read,
    "page.failed": AnswerView._read_failed,
    "sources": AnswerView._found,
    "notice": AnswerView._noticed,
    "thinking": AnswerView._thought,
    "text": AnswerView._text,
    "claims": AnswerView._claims,
    "text.withdrawn": AnswerView._withdrawn,
    "answer": AnswerView._end,
}


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
        view.show(message.text)
    view.state = message.state
    return view


class Fragments:
    """The parts of an answer as HTML, in one language."""

    def __init__(self, lang: str, titles: Titles, *, prints: bool = False) -> None:
        self.texts = PageTexts(lang)
        self.prints = prints
        """Whether the server can make a PDF."""
        self._titles = titles
        self._parts = _parts(lang)

    @property
    def labels(self) -> Labels:
        """The words beside the text of an answer."""
        t = self.texts
        return Labels(t("source.title"), t("code.copy"), t("code.csv"), t("code.as_text"))

    def whole(self, view: AnswerView) -> str:
        """The whole answer."""
        return self._call("whole", view)

    def status(self, view: AnswerView) -> str:
        """One line about what is being done, or what was done."""
        return _status(view, self)

    def steps(self, view: AnswerView) -> str:
        """The steps."""
        return self._call("steps", view)

    def aside(self, view: AnswerView) -> str:
        """The whole column of sources beside the answer."""
        return self._call("aside", view)

    def evidence(self, view: AnswerView) -> dict[str, str]:
        """The sources: the tiles of the status line, the column beside the answer, how many citations are confirmed."""
        return {
            "tiles": str(self._parts.tiles(view)).strip(),  # type: ignore[attr-defined]
            "evidence": self._call("evidence", view),
            "confirmed": str(self._parts.confirmed(view)).strip(),  # type: ignore[attr-defined]
        }

    def notices(self, view: AnswerView) -> str:
        """The notices."""
        return self._call("notices", view)

    def foot(self, view: AnswerView) -> str:
        """The part below the text of a finished answer."""
        return self._call("foot", view)

    def claims(self, view: AnswerView) -> str:
        """The results of the claim check, for the cards."""
        return self._call("claims", view)

    def receipt(self, step: Step) -> str:
        """The receipt of a search on one line: ``SearXNG not reachable → DuckDuckGo, 5 results, 0.8 s``."""
        parts = [self._attempt(attempt) for attempt in step.receipt if attempt["outcome"] != "cancelled"]
        return " → ".join(parts)

    def when(self, stamp: str) -> str:
        """A time, short."""
        try:
            return datetime.fromisoformat(stamp).astimezone().strftime("%Y-%m-%d %H:%M")
        except ValueError:
            return stamp[:16]

    def model(self, name: str) -> str:
        """The name of a model for users."""
        return self.texts("model.embedded") if name == EMBEDDED else name

    def engine(self, name: str) -> str:
        """The title of an engine or a plan."""
        if name in ("", "auto"):
            return self.texts("engine.auto")
        return "+".join(self._titles(part) for part in name.split("+"))

    def _attempt(self, attempt: Json) -> str:
        engine = self.engine(attempt["engine"])
        if attempt["outcome"] in ("ok", "empty"):
            seconds = self.texts("seconds", n=_seconds(attempt["latency_ms"]))
            return self.texts("separator").join((engine, self.texts.count(attempt["count"]), seconds))
        return f"{engine} {self.texts.outcome(attempt['code'] or '', attempt['detail_code'] or '')}"

    def _call(self, macro: str, view: AnswerView) -> str:
        return str(getattr(self._parts, macro)(view, self)).strip()


def _status(view: AnswerView, parts: Fragments) -> str:
    t = parts.texts
    running = next((step for step in reversed(view.steps.values()) if step.state == "running"), None)
    if running:
        if running.tool == "web_search":
            return t("step.searching", query=running.detail, engine=parts.engine(running.engine))
        return t("step.reading", what=domain_of(running.detail) or running.detail)
    if view.state == "running":
        return t("steps.writing") if view.blocks or view.mode == "chat" else t("steps.thinking")
    return " · ".join(filter(None, _summary(view, parts)))


def _summary(view: AnswerView, parts: Fragments) -> Iterator[str]:
    """What was done: the sources, who found them and how long it took, the pages that were read."""
    t = parts.texts
    searches = [step for step in view.steps.values() if step.tool == "web_search"]
    found = [step for step in searches if step.state == "ok"]
    if searches and not found:
        yield t("step.search_failed", query=searches[-1].detail)
    if view.mode == "agent" and searches:
        yield _count(t, "steps.web_search", len(searches))
    if view.sources:
        yield _count(t, "evidence.sources", len(view.sources))
    if found:
        answered = [each["engine"] for step in found for each in step.receipt if each["outcome"] == "ok"]
        names = dict.fromkeys(map(parts.engine, answered or [step.engine for step in found]))
        seconds = t("seconds", n=_seconds(max(step.took_ms for step in found)))
        yield t("separator").join((*names, seconds))
    read = sum(step.tool == "web_fetch" and step.state == "ok" for step in view.steps.values())
    if read:
        yield _count(t, "steps.web_fetch", read)


def _count(t: PageTexts, key: str, n: int) -> str:
    return t(f"{key}.{1 if n == 1 else 'n'}", n=n)


def _seconds(ms: float) -> str:
    return f"{ms / 1000:.1f}" if ms >= 100 else f"{max(ms, 10) / 1000:.2f}"


def _lines(text: str) -> str:
    """``text`` with every numbered step on its own line."""
    return _STEP.sub("\n", text)


def _short(url: str) -> str:
    return url if len(url) <= 100 else url[:99] + "…"


def _around_host(url: str) -> tuple[str, str]:
    """What stands before and after the host of ``url``; nothing where that is not all there is."""
    scheme, found, rest = _short(url).partition(domain_of(url) or "\0")
    return (scheme, rest) if found and scheme in ("http://", "https://") else ("", "")


@cache
def environment() -> Environment:
    """The templates, with automatic escaping."""
    made = Environment(
        loader=PackageLoader("suyuan.server", "templates"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    made.filters.update(seconds=_seconds, host=domain_of, lines=_lines, short=_short, parts=_around_host)
    made.filters.update(verdict=verdict_text, counts=counts, sides=sides)
    made.filters.update(letter=tile_letter, colour=tile_colour)
    made.tests.update(page=is_page)
    return made


@cache
def _parts(lang: str) -> TemplateModule:
    return environment().get_template("parts.html").make_module({"t": PageTexts(lang)})
