"""One turn of a conversation: a message in, events out, and always exactly one answer at the end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from ..citations.claims import Claim, ClaimChecker, Disagreement, SourceEvidence
from ..citations.linker import LinkedAnswer, Linker
from ..citations.references import references
from ..citations.registry import CitationRegistry, Round, Source
from ..citations.text_fragment import fragment_link
from ..core.allowance import Reserved, current_allowance
from ..core.causes.chat import ANSWER_TOO_LONG, EMPTY_ANSWER, HISTORY_CUT, TOO_MANY_CALLS, UNEXPECTED
from ..core.errors import SuyuanError
from ..core.failure import Failure
from ..core.give_way import GiveWay
from ..core.person import require
from ..core.result import LIBRARY
from ..llm.reasoning import ReasoningSplitter
from ..llm.tool_calls import MAX_CALLS
from ..store.conversation import new_id
from ..text.language import script_language
from ..text.visible import shown_text
from ..text.words import count_tokens
from ..tools.specs import Lang
from .answer_disagreements import answer_disagreements, asked_disagreements
from .events import (
    Answer,
    ClaimCheck,
    ClaimsChecked,
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
from .functions import FunctionCall
from .session import Session
from .suggest import suggestions
from .web_policy import WebPolicy

log = logging.getLogger("suyuan.chat")

_CANCEL_AGAIN = 0.2
# A check takes a few hundred milliseconds, on a busy machine more; a page of extreme length must not delay an answer.
_CHECK_SECONDS, _CHECK_SECONDS_STOPPED = 10.0, 1.0
# A growing answer is checked at most this often, and checking takes at most a tenth of the time.
_CHECK_EVERY = 0.5
_CHECK_SHARE = 10
# How many times longer than the answer reasoning and tool calls may be.
_HIDDEN = 4

T = TypeVar("T")
Work = Callable[["Turn"], Awaitable[None]]
Checked = tuple[tuple[ClaimCheck, ...], tuple[Disagreement, ...]]


class Turn:
    """The state of one turn, shared by the code that searches, reads pages and calls the model."""

    def __init__(self, session: Session, message: str, run: str = "", *, query: str = "") -> None:
        self.session = session
        # What is shown again in the conversation, in exports and to others reads as it was meant.
        message = shown_text(message)
        self.message = message
        self.query = query
        """What is searched in Chat mode in place of the message, where the user chose it."""
        self.run = run or new_id()
        self.lang: Lang = "zh" if script_language(message) == "zh" else "en"
        self.citations = CitationRegistry(self._found)
        self.web_policy = WebPolicy()
        self.web_policy.private = session.private or any(exchange.private for exchange in session.history)
        self._refused: set[str] = set()
        self._evidence: dict[int, SourceEvidence] = {}
        """What cited sentences are compared with, by the numbers of the sources."""
        self.calls: tuple[FunctionCall, ...] = ()
        self.usage = Usage()
        self.receipts: list[Mapping[str, Any]] = []
        self.unverified = False
        self.failed: SuyuanError | None = None
        """The error of the last search that failed."""
        self.started = time.monotonic()
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._steps = 0
        self._uncounted = Uncounted()
        self._reserved: Reserved | None = None
        """What is set aside for the last call of the model, until it is counted."""
        self._give_way = GiveWay()
        self._hidden = 0
        self._checking = False
        self._written = False
        """Whether all of the text is there."""
        self._reset_output()

    # --- events ---------------------------------------------------------------------------------------------------
    def emit(self, event: Event) -> None:
        """Send an event to the listener of this turn."""
        self._events.put_nowait(event)

    def notice(self, level: Level, failure: Failure, guide: str = "") -> None:
        """Tell the user about a problem."""
        self.emit(Notice(level, failure, guide))

    def refused(self, error: SuyuanError) -> None:
        """Tell the user, once, why something that the model wanted is not searched or read."""
        if error.detail_code not in self._refused:
            self._refused.add(error.detail_code)
            self.notice("info", error.failure)

    @property
    def searches(self) -> bool:
        """Whether the web is searched for this turn, or its model may search it."""
        session = self.session
        # A function that has to be called needs no search.
        return not session.functions.choice and (session.mode == "agent" or session.searching)

    def next_step(self) -> int:
        """Return the number of a new step."""
        self._steps += 1
        return self._steps

    def seconds(self) -> float:
        """The duration of this turn so far, in seconds."""
        return time.monotonic() - self.started

    def spend(self, **used: int) -> None:
        """Add to the usage counters."""
        self.usage = replace(self.usage, **{name: getattr(self.usage, name) + more for name, more in used.items()})

    async def begin_call(self, given: int) -> None:
        """Note that the model is about to be asked; raises a cause where the person who asks has no tokens left.

        ``given`` are the tokens of what it is asked: so much is set aside, and counted where a model does not tell.
        """
        await self._count_tokens()
        self._reserved = await current_allowance.get().reserve(given)
        self._uncounted.begin(given)

    def end_call(self, read: int, written: int) -> None:
        """Note what the model says that the call has used; nothing where it does not tell."""
        if read or written:
            self._uncounted.told(read, written)

    def fail_call(self) -> None:
        """Note that a call has failed: where nothing was said, nothing was used."""
        self._uncounted.fail()

    async def _count_tokens(self) -> None:
        """Count what the last call has used, in place of what was set aside for it."""
        read, written = self._uncounted.take()
        reserved, self._reserved = self._reserved, None
        if reserved is not None:
            await current_allowance.get().settle(reserved, read, written)

    def add_page(self, number: int, text: str) -> None:
        """Add text of the page of source ``number``, which was read, to what cited sentences are compared with."""
        known = self._evidence[number]
        self._evidence[number] = replace(known, page=f"{known.page}\n{text}" if known.page else text)
        self._check_so_far()

    def _found(self, search: Round, sources: tuple[Source, ...]) -> None:
        """Announce the sources of a search: from now on they can be cited and their pages can be read."""
        self.emit(SourcesFound(search.number, search.query, sources))
        for source in sources:
            known = self._evidence.setdefault(source.number, SourceEvidence(source.title))
            if source.snippet not in known.snippet:
                snippet = f"{known.snippet}\n{source.snippet}".strip()
                self._evidence[source.number] = replace(known, snippet=snippet)
        self.web_policy.found(source.url for source in sources)
        for source in sources:
            self.web_policy.read(f"{source.title}\n{source.snippet}", private=source.engine == LIBRARY)

    # --- output of the model --------------------------------------------------------------------------------------
    @property
    def spoken(self) -> bool:
        """Whether the model has written any text of the answer."""
        return bool(self._said)

    async def say(self, text: str) -> None:
        """Take output of the model; reasoning is separated from the answer, and its markers are shown whole."""
        limit = self.session.settings.max_answer
        self._uncounted.heard(text)
        answer, reasoning = self._reasoning.feed(text)
        await self._take(answer[: max(0, limit - self._length)], reasoning)
        self._length += len(answer)
        if reasoning:
            self.count_hidden(reasoning)
        if self._length > limit:
            raise ANSWER_TOO_LONG(limit=limit)

    def count_hidden(self, *parts: str) -> None:
        """Count what a model writes beside the answer; raises where it does not end."""
        self._hidden += sum(map(len, parts)) or 1
        self._uncounted.heard(*parts)
        limit = self.session.settings.max_answer * _HIDDEN
        if self._hidden > limit:
            raise ANSWER_TOO_LONG(limit=limit)

    def think(self, text: str) -> None:
        """Take reasoning of the model."""
        if text:
            self.emit(Thinking(text))

    def drop_calls(self) -> None:
        """Tell the user that the model wanted to make too many calls in one step."""
        self.refused(TOO_MANY_CALLS(limit=MAX_CALLS))

    def withdraw(self) -> None:
        """Withdraw the text so far: it is not the answer but a comment before a tool call."""
        said = "".join(self._said).strip()
        self._reset_output()
        if said:
            self.emit(TextWithdrawn())
            self.think(said)

    def take_calls(self, message: Any) -> None:
        """Take the calls in a message of the model: of the caller's functions, which end the turn, or of our tools."""
        self.calls = self.session.functions.called(message)
        if message.tool_calls and not self.calls:
            self.withdraw()

    def _reset_output(self) -> None:
        self._said: list[str] = []
        self._length = 0
        self._next_check = time.monotonic() + _CHECK_EVERY
        self._linker = Linker(self.citations.by_number)
        self._reasoning = ReasoningSplitter()
        self._showing: Iterator[str] = iter(())
        """What was said and is not shown yet."""

    async def _take(self, text: str, reasoning: str) -> None:
        self.think(reasoning)
        if text:
            self._said.append(text)
            self._showing = self._linker.parts(text)
            for part in self._showing:
                self._show(part)
                await self._give_way()

    def _show(self, text: str) -> None:
        if text:
            self.emit(TextDelta(text))
            self._check_so_far()

    def _check_so_far(self) -> None:
        """Compare the text so far with what was read so far, so that readers see which citations are confirmed."""
        if self._task is None or self._checking or self._written or time.monotonic() < self._next_check:
            return
        # Also where nothing is cited: joining the whole text for every word of it takes long.
        self._next_check = time.monotonic() + _CHECK_EVERY
        linked = self._linker.answer
        if linked.cited:
            self._checking = True
            self._check(linked).add_done_callback(partial(self._checked_so_far, self._linker, time.monotonic()))

    def _checked_so_far(self, linker: Linker, started: float, check: asyncio.Future[Checked]) -> None:
        now = time.monotonic()
        self._checking, self._next_check = False, now + max(_CHECK_EVERY, _CHECK_SHARE * (now - started))
        # The answer itself is checked once more, and is the last event.
        if not self._written and linker is self._linker and not check.cancelled() and check.exception() is None:
            self.emit(ClaimsChecked(check.result()[0]))

    # --- start to end -----------------------------------------------------------------------------------------------
    async def events(self, work: Work) -> AsyncIterator[Event]:
        """Run ``work`` and yield the events; leaving the loop early stops everything."""
        require("chat")
        session = self.session
        self.emit(TurnStarted(self.run, session.mode, session.searching, session.model_settings.label, session.engine))
        self._task = asyncio.create_task(self._do(work))
        self._task.add_done_callback(lambda _: self._events.put_nowait(None))
        try:
            while (event := await self._events.get()) is not None:
                yield event
            if self._task.cancelled():
                # The turn was stopped before it started.
                yield self._answer(True, None)
        finally:
            self.stop()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def stop(self) -> None:
        """Stop the model, the searches and their connections now; the text so far is kept."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            # Repeat until the task ends: a library can lose a cancellation that arrives together with a chunk.
            asyncio.get_running_loop().call_later(_CANCEL_AGAIN, self.stop)

    async def _do(self, work: Work) -> None:
        failure: Failure | None = None
        stopped = False
        try:
            if self.session.shortened:
                self.notice("warning", HISTORY_CUT.failure())
            # In a thread, since all that was said before is looked at.
            self.web_policy = await asyncio.to_thread(_policy_of, self.session, self.message, self.query)
            await work(self)
        except asyncio.CancelledError:
            stopped = True
        except SuyuanError as error:
            failure = error.failure
        except Exception as error:
            log.exception("turn run=%s failed", self.run)
            failure = UNEXPECTED.failure(what=type(error).__name__, run=self.run)
        self._written = True
        await self._finish_output()
        await self._in_time(asyncio.ensure_future(self._count_tokens()), None)
        checked = await self._checked()
        suggested = () if stopped else await self._suggested()
        # Nothing is awaited from here on, so no cancellation can prevent the answer.
        if not "".join(self._said).strip() and not self.calls and not stopped and failure is None:
            failure = EMPTY_ANSWER.failure()
        if failure is not None:
            self.notice("error", failure, "models")
        answer = self._answer(stopped, failure, checked, suggested)
        log.info(
            "turn run=%s mode=%s model=%s outcome=%s searches=%d fetches=%d cited=%d took_ms=%d",
            self.run, answer.mode, answer.model, "stopped" if stopped else failure.detail_code if failure else "ok",
            answer.usage.searches, answer.usage.fetches, len(answer.cited), answer.took_ms,
        )  # fmt: skip
        self.emit(answer)

    async def _finish_output(self) -> None:
        """Show what is left, also where the turn was stopped in the middle of it."""
        text, reasoning = self._reasoning.close()
        self.think(reasoning)
        self._said.append(text)
        for part in chain(self._showing, self._linker.parts(text), self._linker.rest()):
            self._show(part)
            # Who stops a turn that is already at its end has to wait for it; the others do not.
            with contextlib.suppress(asyncio.CancelledError):
                await self._give_way()

    def _answer(
        self, stopped: bool, failure: Failure | None, checked: Checked = ((), ()), suggested: tuple[str, ...] = ()
    ) -> Answer:
        sources = self.citations.by_number()
        linked = self._linker.answer
        rounds = self.citations.rounds
        agent = self.session.mode == "agent"
        listed = references(sources, linked.cited, lang=self.lang, rounds=rounds if agent else None)
        claims, disagreements = checked
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
            claims=claims,
            disagreements=disagreements,
            unverified=self.unverified,
            private=self.web_policy.private,
            stopped=stopped,
            failure=failure,
            took_ms=round(self.seconds() * 1000),
            usage=self.usage,
            receipts=tuple(self.receipts),
            calls=self.calls,
            suggestions=suggested,
        )

    async def _suggested(self) -> tuple[str, ...]:
        """What to ask next; found in a thread, since all pages are looked through."""
        pages = {number: known.page for number, known in self._evidence.items()}
        sources, cited = self.citations.sources, self._linker.answer.cited
        work = partial(suggestions, self.message, sources, cited, self.lang, pages)
        return await self._in_time(asyncio.get_running_loop().run_in_executor(None, work), ())

    async def _checked(self) -> Checked:
        """Compare the answer with its sources."""
        linked = self._linker.answer
        return await self._in_time(self._check(linked), ((), ())) if linked.cited else ((), ())

    async def _in_time(self, working: asyncio.Future[T], otherwise: T) -> T:
        """What is added to a written answer, unless it takes too long."""
        started, seconds = time.monotonic(), _CHECK_SECONDS
        try:
            while not working.done() and (left := started + seconds - time.monotonic()) > 0:
                try:
                    await asyncio.wait([working], timeout=left)
                except asyncio.CancelledError:
                    # Who stops the turn gets the verdicts on what is there, if they come soon.
                    seconds = _CHECK_SECONDS_STOPPED
            return working.result() if working.done() else otherwise
        except Exception:
            # The answer is still useful without it.
            log.exception("turn run=%s: its citations could not be checked, or nothing suggested", self.run)
            return otherwise

    def _check(self, linked: LinkedAnswer) -> asyncio.Future[Checked]:
        """Check in a thread, with what is known now, since it takes longer than other readers should wait."""
        evidence, sources = dict(self._evidence), self.citations.by_number()

        def check() -> Checked:
            claims, found = ClaimChecker(evidence).check(linked.text, linked.markers)
            disagreements = tuple(asked_disagreements(self.message, found, evidence))
            if not disagreements:
                disagreements = tuple(answer_disagreements(self.message, linked.text, claims, evidence))
            return tuple(_claim_check(claim, sources[claim.number]) for claim in claims), disagreements

        return asyncio.get_running_loop().run_in_executor(None, check)


class Uncounted:
    """The tokens of the calls of a model that were not counted yet; estimated where it does not tell them."""

    def __init__(self) -> None:
        self._read = self._written = 0
        self._given: int | None = None
        """The tokens of a call of which the model has told nothing so far."""
        self._heard: list[str] = []

    def begin(self, given: int) -> None:
        """A call begins."""
        self._given = given
        self._heard.clear()

    def heard(self, *parts: str) -> None:
        """The model has said something."""
        if self._given is not None:
            self._heard += parts

    def told(self, read: int, written: int) -> None:
        """The model tells what it has used."""
        self._given = None
        self._heard.clear()
        self._read += read
        self._written += written

    def fail(self) -> None:
        """The call has failed."""
        if not self._heard:
            self._given = None

    def take(self) -> tuple[int, int]:
        """What was read and written since the last time: also by a call that was stopped, which tells nothing."""
        read, written = self._read, self._written
        if self._given is not None:
            read += self._given
            written += count_tokens("".join(self._heard))
        self._read = self._written = 0
        self._given = None
        self._heard.clear()
        return read, written


def _policy_of(session: Session, message: str, query: str) -> WebPolicy:
    """The rule for what may be asked of the web, with all that was said and read in the conversation so far."""
    policy = WebPolicy(*(exchange.question for exchange in session.history), message, query)
    if session.instructions or session.private:
        policy.read(session.instructions, private=session.private)
    for exchange in session.history:
        policy.found(url for _, url in exchange.sources)
        titles = "\n".join(title for title, _ in exchange.sources)
        # An earlier answer may repeat whatever was read for it.
        policy.read(f"{titles}\n{exchange.answer}", private=bool(exchange.private))
        if exchange.returned:
            policy.read(exchange.returned, private=True)
    for call in chain.from_iterable(session.functions.rounds):
        # What it is only its owner knows: a file, a mail, a table.
        policy.read(call.output or "", private=True)
    return policy


def _claim_check(claim: Claim, source: Source) -> ClaimCheck:
    link = fragment_link(source.url, claim.quote) if claim.quote else ""
    claimed, says = (claim.conflict.ours.text, claim.conflict.theirs.text) if claim.conflict else ("", "")
    return ClaimCheck(
        claim.start, claim.end, claim.number, claim.verdict, claim.basis, claim.quote, link, claimed, says
    )
