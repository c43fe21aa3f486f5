"""``Layout``: the Markdown of answers as HTML, laid out in a process of its own that is ended when it takes too long.

What somebody else has written may be made to cost much. On the event loop only short texts without code and formulas
are laid out, which take a few milliseconds whatever they contain.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from typing import TYPE_CHECKING

from ..core.errors import SuyuanError
from ..core.wire import Response
from ..markup.blocks import GrowingText, Labels, Laid, Mark, plain_block, rest_blocks, split
from ..markup.jobs import MarkdownJob, laid_out
from ..pages.reader_pool import ReaderPool
from ..pages.reading import PAGE_LIMITS, Reading, ReceivedPage

if TYPE_CHECKING:
    from .answer_view import AnswerView

log = logging.getLogger("suyuan.server")

SMALL = 400
"""So many characters are laid out here, without code and formulas: their libraries take long to import."""
_NOT_HERE = ("```", "~~~", "$", "\\(", "\\[")
_SECONDS = 6.0
"""The computing time after which a text is shown as it was written; the longest one takes about two."""
_READERS = 2
_KEPT = 4_000_000
"""So many characters of texts and their blocks are kept, since a conversation that is opened again has the same."""
# A growing text is laid out at most this often, and this takes at most a tenth of the time.
INTERVAL = 1 / 16
_SHARE = 10
# What is sent again each time is long as well.
_CHARACTERS_PER_SECOND = 100_000


class Layout:
    """Lays out the texts of a server; each once, whoever asks for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool: ReaderPool | None = None
        self._done: OrderedDict[MarkdownJob, Laid] = OrderedDict()
        self._size = 0
        self._under_way: dict[MarkdownJob, Future[Laid]] = {}
        self._live: weakref.WeakValueDictionary[object, LiveText] = weakref.WeakValueDictionary()

    def live(self, run: str, withdrawn: int, labels: Labels) -> LiveText:
        """The text of a run that is being written, shared by all who follow it; it begins anew when withdrawn."""
        key = (run, withdrawn, labels)
        found = self._live.get(key)
        if found is None:
            found = self._live[key] = LiveText(self, labels)
        return found

    async def blocks(
        self, text: str, sources: Mapping[int, str], labels: Labels, marks: Sequence[Mark | None] = ()
    ) -> list[str]:
        """The blocks of a whole text."""
        shown, rest = split(text)
        laid = await self.lay_out(_job(shown, sources, labels, marks))
        return [*laid.blocks, *rest_blocks(rest, labels)]

    def blocks_in_thread(
        self, text: str, sources: Mapping[int, str], labels: Labels, marks: Sequence[Mark | None] = ()
    ) -> list[str]:
        """The same, for a thread that can wait."""
        shown, rest = split(text)
        laid = self._start(_job(shown, sources, labels, marks)).result()
        return [*laid.blocks, *rest_blocks(rest, labels)]

    async def show(self, view: AnswerView) -> None:
        """Lay out the whole text of an answer."""
        # Their places are looked for in the text, which may be long.
        marks = await asyncio.to_thread(lambda: view.text_marks) if view.checks else []
        view.blocks = await self.blocks(view.whole or "", view.addresses(), view.labels, marks)

    def show_in_thread(self, view: AnswerView) -> None:
        """The same, for a thread that can wait."""
        view.blocks = self.blocks_in_thread(view.whole or "", view.addresses(), view.labels, view.text_marks)

    async def lay_out(self, job: MarkdownJob) -> Laid:
        """Lay out a text, here or elsewhere. One that fails or takes too long is shown as it was written."""
        if _is_small(job):
            return job.run()
        # Others may wait for it as well.
        return await asyncio.shield(asyncio.wrap_future(self._start(job)))

    def warm_up(self) -> None:
        """Start what lays out texts, for one that is likely to come."""
        with self._lock:
            cold = self._pool is None
        if cold:
            self._start(MarkdownJob(""))

    def close(self) -> None:
        """End what lays out texts."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _start(self, job: MarkdownJob) -> Future[Laid]:
        with self._lock:
            if job in self._done:
                self._done.move_to_end(job)
                found = Future[Laid]()
                found.set_result(self._done[job])
                return found
            if job in self._under_way:
                return self._under_way[job]
            found = self._under_way[job] = Future()
            if self._pool is None:
                self._pool = ReaderPool(_READERS)
            pool = self._pool
        pool.start(_page(job)).add_done_callback(lambda reading: self._take(job, found, reading))
        return found

    def _take(self, job: MarkdownJob, found: Future[Laid], reading: Future[Reading]) -> None:
        try:
            laid = laid_out(reading.result().document.text)
        except (SuyuanError, ValueError, TypeError, CancelledError) as error:
            log.warning("a text of %d characters cannot be laid out: %s", len(job.text), error or type(error).__name__)
            laid = Laid([plain_block(job.text, job.labels.too_slow)], failed=True)
        with self._lock:
            del self._under_way[job]
            # A part of a growing text is not asked for again.
            if not job.growing:
                self._keep(job, laid)
        found.set_result(laid)

    def _keep(self, job: MarkdownJob, laid: Laid) -> None:
        self._done[job] = laid
        self._size += _size(job, laid)
        while self._size > _KEPT and self._done:
            self._size -= _size(*self._done.popitem(last=False))


class LiveText:
    """A text that is being written, laid out once for all who follow it, and not more often than it may cost."""

    def __init__(self, layout: Layout, labels: Labels) -> None:
        self._layout = layout
        self._labels = labels
        self._text = GrowingText()
        self._length = 0
        self._laid = 0
        self._failed = False
        self._lock = asyncio.Lock()
        self.next_at = 0.0
        """When it may be laid out again, by the monotonic clock."""

    async def up_to(self, start: int, text: str, sources: Mapping[int, str]) -> tuple[list[str], bool]:
        """The blocks after ``text``, which begins at ``start``, and whether they contain all of it."""
        async with self._lock:
            end = start + len(text)
            if new := max(0, end - self._length):
                self._text.add(text[-new:])
                self._length = end
            if self._laid < end and time.monotonic() >= self.next_at:
                await self._lay_out(sources)
            return self._text.blocks, self._laid >= end

    async def _lay_out(self, sources: Mapping[int, str]) -> None:
        length, tail = self._length, self._text.tail
        begun = time.monotonic()
        if self._failed:
            laid = Laid([plain_block(tail, self._labels.too_slow)])
        else:
            laid = await self._layout.lay_out(replace(_job(tail, sources, self._labels), growing=True))
            # What took too long once would again.
            self._failed = laid.failed
        took = time.monotonic() - begun
        # What is behind the longest text is shown at the end.
        self._text.take(laid, [plain_block("", self._labels.too_long)] if self._text.rest else [])
        self._laid = length
        self.next_at = time.monotonic() + max(INTERVAL, _SHARE * took, len(tail) / _CHARACTERS_PER_SECOND)


def _job(text: str, sources: Mapping[int, str], labels: Labels, marks: Sequence[Mark | None] = ()) -> MarkdownJob:
    return MarkdownJob(text, tuple(sources.items()), labels, tuple(marks))


def _is_small(job: MarkdownJob) -> bool:
    return len(job.text) <= SMALL and not any(sign in job.text for sign in _NOT_HERE)


def _page(job: MarkdownJob) -> ReceivedPage:
    limits = replace(PAGE_LIMITS, seconds=_SECONDS)
    return ReceivedPage("", Response(200, job.as_bytes(), "", {}), form="blocks", limits=limits)


def _size(job: MarkdownJob, laid: Laid) -> int:
    return len(job.text) + sum(map(len, laid.blocks))
