"""Reads a document of many pages or chapters one after the other: one that cannot be read does not take the others."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .reading import DocumentPart, ReceivedPage

LONGEST = 4.0
"""The computing time of a single page or chapter."""


class _TooLong(BaseException):
    """A page takes too long; no library may take it for an error of its own."""


def read_units(
    unit: str,
    total: int,
    read_one: Callable[[int], tuple[str, bool]],
    broken: tuple[type[Exception], ...],
    page: ReceivedPage,
) -> tuple[str, DocumentPart]:
    """Read pages or chapters from ``page.first`` on, until there is enough for one part; return their text.

    ``read_one`` returns the text of one, and whether that is all of it; ``broken`` is what it raises.
    """
    begun, end = time.process_time(), math.inf if page.wait is None else time.monotonic() + page.wait
    texts: list[str] = []
    at, read, length = page.first, 0, 0
    while at < total and length < page.limits.characters:
        spent = time.process_time() - begun
        is_late = spent >= page.patience or time.monotonic() > end
        if is_late and at > page.first:
            break
        text, is_whole = _read(read_one, at, broken)
        at += 1
        read += is_whole and len(text) <= page.limits.characters
        if text:
            # A single one may be longer than a whole document.
            texts.append(text[: page.limits.characters])
            length += len(texts[-1])
    return "\n\n".join(texts), DocumentPart(unit, read, at, total, page.first, time.process_time() - begun)


def _read(
    read_one: Callable[[int], tuple[str, bool]], at: int, broken: tuple[type[Exception], ...]
) -> tuple[str, bool]:
    unreadable: tuple[type[BaseException], ...] = (*broken, MemoryError, _TooLong)
    try:
        with _at_most(LONGEST):
            return read_one(at)
    except unreadable:
        # With the time and the memory that there are it cannot be read; the others can.
        return "", False


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Stop what is done here after so much computing time, where the system can."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _stop(*_: object) -> None:
    raise _TooLong
