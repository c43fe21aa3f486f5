"""One turn: a message in, events out, and exactly one answer at the end, whatever happens on the way."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from ..citations.claims import check_claims
from ..citations.linker import Linker, link
from ..citations.references import references
from ..citations.registry import CitationRegistry, Source
from ..citations.text_fragment import fragment_link
from ..core.causes.chat import EMPTY_ANSWER, UNEXPECTED
from ..core.errors import SuyuanError
from ..core.failure import Failure
from ..core.page import SearchPage
from ..llm.reasoning import ReasoningSplitter
from ..text.language import script_language
from ..tools.specs import Lang
from .events import (
    Answer,
    ClaimCheck,
    Event,
    Level,
    Notice,
    SourcesFound,
    TextDelta,
    TextWithdrawn,
    Thinking,
    TurnStarted,
    Usage,
)
from .session import Session
from .suggest import suggestions
from .web_policy import WebPolicy

log = logging.getLogger("suyuan.chat")

_CANCEL_AGAIN = 0.2

Work = Callable[["Turn"], Awaitable[None]]


class Turn:
    """The state of one turn, shared by what searches, what reads and what speaks."""

    def __init__(self, session: Session, message: str, run: str = "") -> None:
        self.session = session
        self.message = message
        self.run = run
        self.lang: Lang = "zh" if script_language(message) == "zh" else "en"
        self.citations = _Citations(self._found)
        self.web_policy = WebPolicy(*(exchange.question for exchange in session.history), message)
        self.web_policy.found(url for exchange in session.history for _, url in exchange.sources)
        self.evidence: dict[int, str] = {}
        self.usage = Usage()
        self.receipts: list[Mapping[str, Any]] = []
        self.unverified = False
        self.failed: SuyuanError | None = None
        """The last search that failed."""
        self.started = time.monotonic()
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._steps = 0
        self._forget()

    # --- what happens ---------------------------------------------------------------------------------------------
    def emit(self, event: Event) -> None:
        """Something happened."""
        self._events.put_nowait(event)

    def notice(self, level: Level, failure: Failure, guide: str = "") -> None:
        """Something happened that the user should know."""
        self.emit(Notice(level, failure, guide))

    def next_step(self) -> int:
        """The number of a new step."""
        self._steps += 1
        return self._steps

    def seconds(self) -> float:
        """How long this turn has taken so far."""
        return time.monotonic() - self.started

    def spend(self, **used: int) -> None:
        """Count what was used."""
        self.usage = replace(self.usage, **{name: getattr(self.usage, name) + more for name, more in used.items()})

    def prove(self, number: int, text: str) -> None:
        """``text`` was read from source ``number``: cited sentences are compared with it."""
        self.evidence[number] = f"{self.evidence[number]}\n{text}" if number in self.evidence else text

    def _found(self, sources: tuple[Source, ...]) -> None:
        """The model is about to read these: from now on they may be cited, and their pages read."""
        latest = self.citations.rounds[-1]
        self.emit(SourcesFound(latest.number, latest.query, sources))
        for source in sources:
            if source.snippet:
                self.prove(source.number, source.snippet)
        self.web_policy.found(source.url for source in sources)
        self.web_policy.read("\n".join(f"{source.title}\n{source.snippet}" for source in sources))

    # --- what the model says --------------------------------------------------------------------------------------
    @property
    def spoken(self) -> bool:
        """Whether the model has said anything that was shown."""
        return bool(self._said)

    def say(self, text: str) -> None:
        """The model said ``text``; its thoughts are told apart, and markers come out whole."""
        spoken, thought = self._thoughts.feed(text)
        self.think(thought)
        if spoken:
            self._said.append(spoken)
            self._show(self._linker.feed(spoken))

    def think(self, text: str) -> None:
        """The model thought ``text``."""
        if text:
            self.emit(Thinking(text))

    def withdraw(self) -> None:
        """What was said so far was no answer, but talk before the use of a tool."""
        said = "".join(self._said).strip()
        self._forget()
        if said:
            self.emit(TextWithdrawn())
            self.think(said)

    def _forget(self) -> None:
        self._said: list[str] = []
        self._shown: list[str] = []
        self._linker = Linker(self.citations.by_number)
        self._thoughts = ReasoningSplitter()

    def _show(self, text: str) -> None:
        if text:
            self._shown.append(text)
            self.emit(TextDelta(text))

    # --- from beginning to end --------------------------------------------------------------------------------------
    async def events(self, work: Work) -> AsyncIterator[Event]:
        """Do ``work`` and yield what happens; leaving the loop early stops everything."""
        session = self.session
        self.emit(TurnStarted(self.run, session.mode, session.searching, session.model_settings.label, session.engine))
        self._task = asyncio.create_task(self._do(work))
        self._task.add_done_callback(lambda _: self._events.put_nowait(None))
        try:
            while (event := await self._events.get()) is not None:
                yield event
            if self._task.cancelled():
                # Stopped before it had begun.
                yield self._answer(True, None)
        finally:
            self.stop()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def stop(self) -> None:
        """End the turn now: the model, the searches and their sockets; what was said is kept."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            # Again until it is heard: a library that waits for its next chunk can lose a cancellation that comes with it.
            asyncio.get_running_loop().call_later(_CANCEL_AGAIN, self.stop)

    async def _do(self, work: Work) -> None:
        failure: Failure | None = None
        stopped = False
        try:
            await work(self)
        except asyncio.CancelledError:
            stopped = True
        except SuyuanError as error:
            failure = error.failure
        except Exception as error:
            log.exception("turn run=%s failed", self.run)
            failure = UNEXPECTED.failure(what=type(error).__name__, run=self.run)
        # From here on nothing is awaited: no further cancellation can come between, and there is an answer in any case.
        if not self._finish_speaking() and not stopped and failure is None:
            failure = EMPTY_ANSWER.failure()
        if failure is not None:
            self.notice("error", failure, "models")
        answer = self._answer(stopped, failure)
        log.info(
            "turn run=%s mode=%s model=%s outcome=%s searches=%d fetches=%d cited=%d took_ms=%d",
            self.run, answer.mode, answer.model, "stopped" if stopped else failure.detail_code if failure else "ok",
            answer.usage.searches, answer.usage.fetches, len(answer.cited), answer.took_ms,
        )  # fmt: skip
        self.emit(answer)

    def _finish_speaking(self) -> bool:
        spoken, thought = self._thoughts.close()
        self.think(thought)
        if spoken:
            self._said.append(spoken)
            self._show(self._linker.feed(spoken))
        self._show(self._linker.close())
        return bool("".join(self._said).strip())

    def _answer(self, stopped: bool, failure: Failure | None) -> Answer:
        sources = self.citations.by_number()
        linked = link("".join(self._said), sources)
        rounds = self.citations.rounds
        agent = self.session.mode == "agent"
        listed = references(sources, linked.cited, lang=self.lang, rounds=rounds if agent else None)
        return Answer(
            text=linked.text,
            markdown=f"{linked.markdown.rstrip()}\n\n{listed}".strip() if listed else linked.markdown,
            mode=self.session.mode,
            model=self.session.model_settings.label,
            lang=self.lang,
            sources=self.citations.sources,
            rounds=tuple((each.number, each.query, each.sources) for each in rounds),
            cited=linked.cited,
            unknown=linked.unknown,
            claims=self._claims(linked.text, sources) if linked.cited else (),
            unverified=self.unverified,
            stopped=stopped,
            failure=failure,
            took_ms=round(self.seconds() * 1000),
            usage=self.usage,
            receipts=tuple(self.receipts),
            suggestions=suggestions(self.message, self.citations.sources, linked.cited, self.lang)
            if not stopped
            else (),
        )

    def _claims(self, text: str, sources: Mapping[int, Source]) -> tuple[ClaimCheck, ...]:
        try:
            return self._checked(text, sources)
        except Exception:
            # A check that fails must not cost the answer.
            log.exception("turn run=%s: its citations could not be checked", self.run)
            return ()

    def _checked(self, text: str, sources: Mapping[int, Source]) -> tuple[ClaimCheck, ...]:
        titles = {number: source.title for number, source in sources.items()}
        evidence = {number: self.evidence.get(number) or source.snippet for number, source in sources.items()}
        checked = []
        for claim in check_claims(text, evidence, titles):
            source = sources.get(claim.number) if claim.number is not None else None
            target = fragment_link(source.url, claim.quote) if source and claim.quote else ""
            checked.append(ClaimCheck(claim.start, claim.end, claim.numbers, claim.verdict, claim.quote, target))
        return tuple(checked)


class _Citations(CitationRegistry):
    """The numbering of one answer, which tells of sources as they are found."""

    def __init__(self, found: Callable[[tuple[Source, ...]], None]) -> None:
        super().__init__()
        self._found = found

    def add(self, page: SearchPage, limit: int | None = None) -> tuple[Source, ...]:
        sources = super().add(page, limit)
        self._found(sources)
        return sources

    def add_page(self, title: str, url: str) -> Source:
        before = len(self.rounds)
        source = super().add_page(title, url)
        if len(self.rounds) > before:
            self._found((source,))
        return source

    def by_number(self) -> dict[int, Source]:
        return {source.number: source for source in self.sources}
