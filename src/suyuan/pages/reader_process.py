"""A reader: a process that converts pages and ends with the process that started it, whatever happens to that one."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO

from ..core.causes.page import PAGE_TOO_COMPLEX
from ..core.errors import SuyuanError
from ..core.urls import domain_of
from .convert import read_page
from .frames import BUFFER, BrokenFrame, read_page_frame, write_outcome
from .reading import Reading, ReceivedPage

try:
    import resource
except ImportError:  # pragma: no cover - Windows has no such limits; the deadline holds there as well
    resource = None  # type: ignore[assignment]

MAX_MEGABYTES = 1024
"""The address space of a reader."""
_NICE = 5
_CLOCK = 10
"""So many times its computing time may a page take by the clock: with a tenth of a core no page is slow by itself."""


def main(read: Callable[[ReceivedPage], Reading] = read_page) -> None:
    """Convert the pages that come on standard input until it ends; ``read`` raises a ``SuyuanError``, or succeeds."""
    logging.disable(logging.CRITICAL)
    pages, outcomes = os.fdopen(os.dup(0), "rb", BUFFER), os.fdopen(os.dup(1), "wb", BUFFER)
    # A library that prints must not end up between the frames.
    with open(os.devnull, "r+b") as nowhere:
        for standard in (0, 1, 2):
            os.dup2(nowhere.fileno(), standard)
    _limit_memory()
    if hasattr(os, "nice"):
        # Where there are too few cores, the event loop comes first.
        os.nice(_NICE)
    jobs: queue.SimpleQueue[ReceivedPage] = queue.SimpleQueue()
    # In a thread of its own, so that the end of the parent is seen while a page is being converted.
    threading.Thread(target=_receive, args=(pages, jobs), daemon=True).start()
    while True:
        page = jobs.get()
        _limit_time(page.limits.seconds)
        outcome = _outcome(read, page)
        # While it waits for the next page, the clock does not count.
        _limit_time(0)
        write_outcome(outcomes, outcome, _used_megabytes())


def _receive(stream: BinaryIO, jobs: queue.SimpleQueue[ReceivedPage]) -> None:
    with contextlib.suppress(EOFError, BrokenFrame, OSError, MemoryError):
        while True:
            jobs.put(read_page_frame(stream))
    os._exit(0)


def _outcome(read: Callable[[ReceivedPage], Reading], page: ReceivedPage) -> Reading | SuyuanError:
    try:
        return read(page)
    except SuyuanError as error:
        return error
    except MemoryError:
        return PAGE_TOO_COMPLEX(where=domain_of(page.response.url) or page.response.url, limit=MAX_MEGABYTES)


def _limit_memory() -> None:
    if resource is not None:
        limit = MAX_MEGABYTES << 20
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard == resource.RLIM_INFINITY or hard > limit:
            # macOS refuses this limit.
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_time(seconds: float) -> None:
    """End this process by a signal once it has used so many more CPU seconds, even if the parent cannot end it."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, _CLOCK * seconds)


def _used_megabytes() -> int:
    """The memory that this process uses, or the most that it has used where that is all that is known."""
    if sys.platform == "linux":
        # The most that was used counts from before the program: it would be that of the server that started it.
        with open("/proc/self/statm", encoding="ascii") as sizes:
            return int(sizes.read().split()[1]) * resource.getpagesize() >> 20
    if resource is None:
        return 0
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used >> (20 if sys.platform == "darwin" else 10)
