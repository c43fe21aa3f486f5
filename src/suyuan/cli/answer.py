"""An answer on the terminal: its steps, its text as it comes, its sources."""

from __future__ import annotations

import signal
import sys
from asyncio import get_running_loop
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..chat.events import (
    Answer,
    Event,
    Notice,
    PageFailed,
    PageRead,
    SearchFailed,
    SearchFinished,
    SearchStarted,
    StepStarted,
    TextDelta,
    TextWithdrawn,
)
from ..chat.runs import Run
from ..messages.catalog import Texts
from .failure import FAILED, NOTHING, OK
from .terminal import Terminal, printable


class AnswerPrinter:
    """Writes the events of one answer: the text to standard output, all else beside it."""

    def __init__(self, t: Texts, *, explain: bool = False) -> None:
        self._t = t
        self._out = Terminal(sys.stdout)
        self._err = Terminal(sys.stderr)
        self._explain = explain
        self._in_line = False

    def take(self, event: Event) -> None:
        """Write one event."""
        if isinstance(event, TextDelta):
            self._write(event.text)
        elif isinstance(event, TextWithdrawn):
            self._aside(self._t("ask.withdrawn"), "dim")
        elif isinstance(event, Answer):
            self._end(event)
        else:
            self._step(event)

    def _step(self, event: Event) -> None:
        t = self._t
        if isinstance(event, SearchStarted):
            self._aside(t("ask.searching", query=event.query), "dim")
        elif isinstance(event, SearchFinished):
            self._aside("  " + receipt_line(event.receipt, event.count, event.took_ms, t, event.repeated), "dim")
        elif isinstance(event, SearchFailed):
            self._aside("  " + t("ask.search_failed", cause=event.failure), "yellow")
        elif isinstance(event, StepStarted) and event.tool == "web_fetch":
            self._aside(t("ask.reading", url=event.detail), "dim")
        elif isinstance(event, PageRead):
            self._aside("  " + t("ask.read", title=event.title or event.url, seconds=event.took_ms / 1000), "dim")
        elif isinstance(event, PageFailed):
            self._aside("  " + t("ask.unread", cause=event.failure), "yellow")
        elif isinstance(event, Notice):
            cause, hint = event.failure.say(t.lang)
            self._aside(f"! {cause}", "red" if event.level == "error" else "yellow")
            if hint:
                self._aside("  " + t("hint", hint=hint), "dim")

    def _end(self, answer: Answer) -> None:
        self._break()
        out, t = self._out, self._t
        if answer.stopped:
            out.line(out.paint(t("ask.stopped"), "yellow"))
        if answer.unverified:
            out.line(out.paint(t("ask.unverified"), "yellow"))
        verdicts = [claim.verdict for claim in answer.claims]
        if verdicts:
            counts = {kind: verdicts.count(kind) for kind in ("supported", "weak", "not_found")}
            out.line(out.paint(t("ask.claims", **counts), "dim"))
        shown = [source for source in answer.sources if source.number in answer.cited or answer.mode == "agent"]
        if not shown:
            return
        out.line()
        out.line(out.paint(t("ask.sources"), "bold"))
        for source in shown:
            mark = "*" if answer.mode == "agent" and source.number in answer.cited else " "
            out.line(f"{mark}[{source.number}] " + out.paint(source.title or source.domain, "bold"))
            out.line("      " + out.paint(source.url, "dim"))

    def _write(self, text: str) -> None:
        # Control characters of a page must not move the cursor; line ends are ours.
        self._out.stream.write("\n".join(printable(line) for line in text.split("\n")))
        self._out.stream.flush()
        self._in_line = not text.endswith("\n")

    def _aside(self, text: str, style: str) -> None:
        self._break()
        self._err.line(self._err.paint(text, style))
        self._err.stream.flush()

    def _break(self) -> None:
        if self._in_line:
            self._out.stream.write("\n")
            self._out.stream.flush()
            self._in_line = False


def receipt_line(
    receipt: tuple[Mapping[str, Any], ...], count: int, took_ms: int, t: Texts, repeated: bool = False
) -> str:
    """What each engine did, on one line: ``searxng: not reachable → ddg_html, 5 results, 0.8 s``."""
    said = []
    for attempt in receipt:
        if attempt["outcome"] in ("ok", "empty"):
            said.append(str(attempt["engine"]))
        elif attempt["outcome"] != "cancelled":
            outcome = t("outcome." + attempt["outcome"], count=0)
            said.append(t("ask.attempt", engine=attempt["engine"], outcome=outcome))
    line = t("ask.found", engines=" → ".join(said), count=count, seconds=took_ms / 1000)
    return f"{line} {t('ask.repeated')}" if repeated else line


@contextmanager
def stopping(run: Run) -> Iterator[None]:
    """While inside, Ctrl-C stops the answer and not the program."""
    loop = get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, run.stop)
    except (NotImplementedError, RuntimeError, ValueError):
        # Not on this system, or not in the main thread: then Ctrl-C ends the program, as usual.
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


async def print_answer(run: Run, t: Texts) -> Answer:
    """Write an answer while it comes; Ctrl-C stops it."""
    printer = AnswerPrinter(t)
    with stopping(run):
        async for _, event in run.follow():
            printer.take(event)
    return await run.wait()


def exit_code(answer: Answer) -> int:
    """For scripts: 0 for an answer, 1 for one that is not verified by search, 3 for none, 130 where it was stopped."""
    if answer.stopped:
        return 130
    if answer.failure:
        return FAILED
    return NOTHING if answer.unverified else OK
