"""An answer on the terminal: its steps, its text while it comes, its sources."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..chat import events
from ..chat.runs import Run
from ..chat.verdicts import checks, counts, disagreements, title, verdict_text
from ..messages.catalog import Texts
from .answer_text import PlainText
from .failure import FAILED, NOTHING, OK
from .terminal import Terminal

if TYPE_CHECKING:
    from ..citations.registry import Source
    from .rendered_text import RenderedText

_REFRESH_SECONDS = 0.1


class AnswerPrinter:
    """Writes the events of one answer: the text to standard output, the steps to standard error."""

    def __init__(self, t: Texts) -> None:
        self._t = t
        self._err = Terminal(sys.stderr)
        self._urls: dict[int, str] = {}
        self._failed: list[events.SearchFailed] = []
        """Searches that failed and were not written yet."""
        self._writing = False
        self._later: list[tuple[str, str]] = []
        """Steps that ended while the text was being written: a line among them would cut a sentence in two."""
        out = Terminal(sys.stdout)
        self._text = self._writer(out)
        self._one_screen = out.interactive and self._err.interactive

    def _writer(self, out: Terminal) -> PlainText | RenderedText:
        if not out.interactive:
            return PlainText(out)
        from .rendered_text import RenderedText

        return RenderedText(out, self._urls)

    def take(self, event: events.Event) -> None:
        """Write one event."""
        if isinstance(event, events.SearchFailed):
            self._failed.append(event)
            return
        if not isinstance(event, events.StepFinished):
            self._show_failed(event)
        if isinstance(event, events.TextDelta):
            self._writing = True
            self._text.write(event.text)
        elif isinstance(event, events.TextWithdrawn):
            self._end_text()
            self._step(self._t("ask.withdrawn"))
        elif isinstance(event, events.SourcesFound):
            self._urls.update({source.number: source.url for source in event.sources})
        elif isinstance(event, events.Answer):
            self._end(event)
        else:
            for text, style in self._steps(event):
                self._step(text, style)

    def _show_failed(self, event: events.Event) -> None:
        """Write the searches that failed, unless the notice that follows says the same."""
        told = event.failure.say(self._t.lang)[0] if isinstance(event, events.Notice) else ""
        for failed in self._failed:
            if failed.failure.say(self._t.lang)[0] not in told:
                self._step("  " + self._t("ask.search_failed", cause=failed.failure), "yellow")
        self._failed.clear()

    async def refresh(self) -> None:
        """Keep the unfinished part of the text up to date, until it is cancelled."""
        while True:
            self._text.refresh()
            await asyncio.sleep(_REFRESH_SECONDS)

    def close(self) -> None:
        """Write what is left."""
        self._end_text()
        self._text.close()

    def _end_text(self) -> None:
        """End the text so far, and write the steps that had to wait for it."""
        self._text.flush()
        self._writing = False
        for text, style in self._later:
            self._step(text, style)
        self._later.clear()

    def _steps(self, event: events.Event) -> Iterator[tuple[str, str]]:
        t = self._t
        if isinstance(event, events.SearchStarted):
            yield t("ask.searching", query=event.query), "dim"
        elif isinstance(event, events.SearchFinished):
            yield "  " + receipt_line(event.receipt, event.count, event.took_ms, t, event.repeated), "dim"
        elif isinstance(event, events.StepStarted) and event.tool == "web_fetch":
            yield t("ask.reading", url=event.detail), "dim"
        elif isinstance(event, events.PageRead):
            yield "  " + t("ask.read", title=event.title or event.url, seconds=event.took_ms / 1000), "dim"
        elif isinstance(event, events.PageFailed):
            yield "  " + t("ask.unread", cause=event.failure), "yellow"
        elif isinstance(event, events.Notice):
            cause, hint = event.failure.say(t.lang)
            yield f"! {cause}", "red" if event.level == "error" else "yellow"
            if hint:
                yield "  " + t("hint", hint=hint), "dim"

    def _step(self, text: str, style: str = "dim") -> None:
        if self._writing:
            self._later.append((text, style))
            return
        if self._one_screen:
            self._text.line(text, style)
            return
        self._err.line(self._err.paint(text, style))
        self._err.stream.flush()

    def _end(self, answer: events.Answer) -> None:
        t = self._t
        self.close()
        if answer.stopped:
            self._text.line(t("ask.stopped"), "yellow")
        if answer.unverified:
            self._text.line(t("ask.unverified"), "yellow")
        self._checked(answer.as_dict())
        for heading, sources in self._listed(answer):
            self._text.sources(heading, sources)

    def _listed(self, answer: events.Answer) -> Iterator[tuple[str, dict[Source, str]]]:
        """The lists of sources, each with its heading, and the mark of those that are cited among others."""
        words = Texts("references", self._t.lang)
        known = {source.number: source for source in answer.sources}
        if answer.mode == "agent" and answer.rounds:
            yield words("title"), {}
            for number, query, found in answer.rounds:
                marks = {known[one]: self._mark(one, answer, words) for one in found if one in known}
                heading = words("round", n=number, query=query)
                yield heading if marks else f"{heading} {words('none')}", marks
            return
        cited = {source: "" for source in answer.sources if source.number in answer.cited}
        others = {source: "" for source in answer.sources if source not in cited}
        if cited:
            yield words("title"), cited
        if others:
            yield words("more") if cited else self._t("ask.sources"), others

    def _mark(self, number: int, answer: events.Answer, words: Texts) -> str:
        return f"✓ {words('cited')}" if number in answer.cited else ""

    def _checked(self, answer: Mapping[str, Any]) -> None:
        """Write how the citations compare with their sources, and each that a source contradicts."""
        lang = self._t.lang
        if not (found := counts(answer, lang)):
            return
        self._text.line()
        self._text.line(f"{title(lang)} {' · '.join(text for _, text in found)}", "dim")
        for check in checks(answer):
            if check["verdict"] == "contradicted":
                self._text.line(f"[{check['number']}] {verdict_text(check, lang)}", "yellow")
        for note in disagreements(answer, lang):
            self._text.line(note, "yellow")


def receipt_line(
    receipt: tuple[Mapping[str, Any], ...], count: int, took_ms: int, t: Texts, repeated: bool = False
) -> str:
    """Return what each engine did, on one line: ``searxng: not reachable → ddg_html, 5 results, 0.8 s``."""
    parts = []
    for attempt in receipt:
        if attempt["outcome"] in ("ok", "empty"):
            parts.append(str(attempt["engine"]))
        elif attempt["outcome"] != "cancelled":
            outcome = t("outcome." + attempt["outcome"], count=0)
            parts.append(t("ask.attempt", engine=attempt["engine"], outcome=outcome))
    line = t("ask.found", engines=" → ".join(parts), count=count, seconds=took_ms / 1000)
    return f"{line} {t('ask.repeated')}" if repeated else line


@contextmanager
def stopping(run: Run) -> Iterator[None]:
    """Let Ctrl-C stop the answer and not the program; a second Ctrl-C ends the program."""
    loop = asyncio.get_running_loop()

    def stop(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        loop.call_soon_threadsafe(run.stop)

    try:
        previous = signal.signal(signal.SIGINT, stop)
    except ValueError:
        # Not in the main thread: the signal goes elsewhere.
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


async def print_answer(run: Run, t: Texts) -> events.Answer:
    """Write an answer while it comes; Ctrl-C stops it."""
    printer = AnswerPrinter(t)
    refreshing = asyncio.create_task(printer.refresh())
    try:
        with stopping(run):
            async for _, event in run.follow():
                printer.take(event)
    finally:
        refreshing.cancel()
        printer.close()
    return await run.wait()


def exit_code(answer: events.Answer) -> int:
    """Return 0 for an answer, 1 for one that is not verified by search, 3 for none, 130 for a stopped one."""
    if answer.stopped:
        return 130
    if answer.failure:
        return FAILED
    return NOTHING if answer.unverified else OK
