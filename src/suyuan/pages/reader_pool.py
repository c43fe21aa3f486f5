"""Reader processes, which convert pages outside of the event loop and are killed at the deadline."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import subprocess
import threading
from collections import Counter, deque
from concurrent.futures import Future
from dataclasses import dataclass, field, replace

from ..core.causes.page import PAGE_TOO_SLOW, READER_FAILED, READER_NOT_STARTED
from ..core.child_environment import child_environment
from ..core.errors import SuyuanError
from ..core.python_child import python_command
from ..core.urls import domain_of
from .frames import BUFFER, BrokenFrame, read_outcome, write_page
from .reading import Reading, ReceivedPage

RESTART_REASONS = ("deadline", "cpu", "memory", "crash")

_LARGE = 200_000
_FIRST_SECONDS = 1.5
"""The computing time of the first turn of a page that is not large, many times what such a page needs."""
_IDLE_SECONDS = 300.0
# A reader that has grown beyond this is replaced, since freed memory is not given back.
_MAX_MEGABYTES = 400
# How a reader ends itself: its computing time is used up, or the time by the clock.
_TIME_SIGNALS = (getattr(signal, "SIGPROF", 0), getattr(signal, "SIGALRM", 0))
_READS_PAGES = "suyuan.pages.reader_process"


@dataclass(eq=False, slots=True)
class _Job:
    page: ReceivedPage
    large: bool
    again: bool = False
    """Whether it took too long in its first turn: it comes after all others."""
    future: Future[Reading] = field(default_factory=Future)
    process: subprocess.Popen[bytes] | None = None
    """The reader that works on it."""
    given_up: bool = False

    @property
    def first_turn(self) -> ReceivedPage:
        """The page with the limits of this turn."""
        limits = self.page.limits
        if self.large or limits.seconds <= _FIRST_SECONDS:
            return self.page
        return replace(self.page, limits=replace(limits, seconds=_FIRST_SECONDS))


class ReaderPool:
    """Readers that are started when they are needed; large pages leave one of them to small pages."""

    def __init__(self, size: int | None = None, module: str = _READS_PAGES) -> None:
        self._module = module
        """Whose ``main`` a reader runs."""
        self._size = size or min(os.cpu_count() or 1, 4) + 1
        self._waiting: deque[_Job] = deque()
        self._changed = threading.Condition()
        # A thread has one reader, and waits for it. The value tells whether it takes large pages.
        self._threads: dict[threading.Thread, bool] = {}
        self._idle: dict[threading.Thread, bool] = {}
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._closed = False
        self.restarts: Counter[str] = Counter()
        """How many readers were replaced, by reason."""

    async def read(self, page: ReceivedPage) -> Reading:
        """Convert a page; cancelling kills the reader that works on it."""
        job = _Job(page, len(page.response.body) > _LARGE or b"%PDF-" in page.response.body[:1024])
        self._submit(job)
        try:
            return await asyncio.wrap_future(job.future)
        except asyncio.CancelledError:
            self._give_up(job)
            raise

    def warm(self) -> None:
        """Start a reader if there is none, for a page that is about to come."""
        with self._changed:
            if not self._threads and not self._closed:
                self._start(takes_large=True)

    def start(self, page: ReceivedPage) -> Future[Reading]:
        """Convert a page for several who wait for it: none of them gives it up alone."""
        job = _Job(page, large=False)
        self._submit(job)
        return job.future

    def close(self) -> None:
        """End all readers; what they are working on fails."""
        with self._changed:
            self._closed = True
            for process in self._processes:
                process.kill()
            for job in self._waiting:
                job.future.cancel()
            self._waiting.clear()
            self._changed.notify_all()
            threads = list(self._threads)
        for thread in threads:
            thread.join(5)

    @property
    def pids(self) -> list[int]:
        """The running readers."""
        with self._changed:
            return [process.pid for process in self._processes if process.poll() is None]

    def _submit(self, job: _Job) -> None:
        with self._changed:
            self._waiting.append(job)
            large = list(self._threads.values()).count(True) < max(self._size - 1, 1)
            room = large if job.large else len(self._threads) < self._size
            if room and sum(takes or not job.large for takes in self._idle.values()) < len(self._waiting):
                self._start(takes_large=large)
            self._changed.notify_all()

    def _start(self, *, takes_large: bool) -> None:
        """Start a thread with a reader; the lock is held."""
        thread = threading.Thread(target=self._work, name="suyuan-reader", daemon=True)
        self._threads[thread] = takes_large
        thread.start()

    def _give_up(self, job: _Job) -> None:
        with self._changed:
            job.given_up = True
            if job.process is not None:
                job.process.kill()
            elif job in self._waiting:
                self._waiting.remove(job)

    def _work(self) -> None:
        thread = threading.current_thread()
        process: subprocess.Popen[bytes] | None = None
        try:
            process = self._ready(process)
            while (job := self._next(thread)) is not None:
                # Another reader takes the place of one that has ended before the next page needs it.
                process = self._ready(self._serve(job, process))
        finally:
            self._end(process)
            with self._changed:
                self._threads.pop(thread, None)

    def _next(self, thread: threading.Thread) -> _Job | None:
        """Wait for a job; None if the pool is closed, or there was nothing to do for a long time."""
        takes_large = self._threads[thread]

        def found() -> _Job | None:
            fitting = [job for job in self._waiting if takes_large or not job.large]
            # Of those that are alike it is the one that has waited longest.
            return min(fitting, key=lambda job: job.again, default=None)

        with self._changed:
            self._idle[thread] = takes_large
            self._changed.wait_for(lambda: self._closed or found() is not None, _IDLE_SECONDS)
            del self._idle[thread]
            job = None if self._closed else found()
            if job is not None:
                self._waiting.remove(job)
            else:
                # From now on it does not count as one that is there.
                del self._threads[thread]
            return job

    def _serve(self, job: _Job, process: subprocess.Popen[bytes] | None) -> subprocess.Popen[bytes] | None:
        """Let a reader convert the page of ``job``; return the reader for the next one."""
        if not (job.again or job.future.set_running_or_notify_cancel()):
            return process
        used = 0
        try:
            process = self._alive(process)
            with self._changed:
                job.process = process
                if job.given_up:
                    process.kill()
            assert process.stdin is not None and process.stdout is not None
            write_page(process.stdin, job.first_turn)  # type: ignore[arg-type]
            outcome, used = read_outcome(process.stdout)  # type: ignore[arg-type]
        except _NotStarted as error:
            outcome = READER_NOT_STARTED(why=error)
        except (OSError, EOFError, BrokenFrame):
            failure = self._failure(job, process)
            self._end(process)
            process = None
            if failure is None:
                self._submit_again(job)
                return None
            outcome = failure
        with self._changed:
            job.process = None
        if isinstance(outcome, SuyuanError):
            job.future.set_exception(outcome)
        else:
            job.future.set_result(outcome)
        if used > _MAX_MEGABYTES:
            self.restarts["memory"] += 1
            self._end(process)
            return None
        return process

    def _ready(self, process: subprocess.Popen[bytes] | None) -> subprocess.Popen[bytes] | None:
        """The reader, or another one if it has ended; None if there is no need for one, or none can be started."""
        if self._closed:
            return process
        try:
            return self._alive(process)
        except _NotStarted:
            # It is the error of the page that needs one, if that cannot start one either.
            return None

    def _submit_again(self, job: _Job) -> None:
        """Let a page that took too long in its first turn begin anew, as one that keeps others waiting."""
        with self._changed:
            job.process = None
            job.large = job.again = True
        self._submit(job)

    def _alive(self, process: subprocess.Popen[bytes] | None) -> subprocess.Popen[bytes]:
        if process is not None and process.poll() is None:
            return process
        self._end(process)
        try:
            # In a group of its own, so that Ctrl-C reaches this process only.
            process = subprocess.Popen(
                python_command(self._module),
                bufsize=BUFFER,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=child_environment(),
                process_group=0 if os.name == "posix" else None,
            )
        except OSError as error:
            raise _NotStarted(error.strerror or str(error)) from None
        with self._changed:
            self._processes.add(process)
            if self._closed:
                process.kill()
        return process

    def _failure(self, job: _Job, process: subprocess.Popen[bytes] | None) -> SuyuanError | None:
        """Why a reader ended without a result; None if it was only the time of the first turn."""
        status = process.wait(10) if process is not None else 0
        where = domain_of(job.page.response.url) or job.page.response.url
        too_slow = status < 0 and -status in _TIME_SIGNALS
        self.restarts["deadline" if job.given_up else "cpu" if too_slow else "crash"] += 1
        if too_slow and not job.given_up and job.first_turn is not job.page:
            return None
        if too_slow:
            return PAGE_TOO_SLOW(where=where, seconds=job.page.limits.seconds)
        return READER_FAILED(where=where, what=_status_name(status))

    def _end(self, process: subprocess.Popen[bytes] | None) -> None:
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                # Closing it writes what is left to a process that has ended.
                with contextlib.suppress(OSError):
                    stream.close()
        with self._changed:
            self._processes.discard(process)


class _NotStarted(Exception):
    """The system did not start a reader."""


def _status_name(status: int) -> str:
    try:
        return signal.Signals(-status).name if status < 0 else f"exit status {status}"
    except ValueError:
        return f"signal {-status}"


class SharedReaders:
    """The pool that all clients of the process share; the last user closes it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool: ReaderPool | None = None
        self._users = 0
        self._restarts: Counter[str] = Counter()

    def acquire(self) -> ReaderPool:
        """The pool, for one more user."""
        with self._lock:
            if self._pool is None:
                self._pool = ReaderPool()
            self._users += 1
            return self._pool

    def release(self) -> None:
        """One user less; the last one ends the readers."""
        with self._lock:
            self._users -= 1
            pool = self._taken() if self._users <= 0 else None
        if pool is not None:
            pool.close()

    @property
    def running(self) -> int:
        """How many readers there are."""
        pool = self._pool
        return len(pool.pids) if pool is not None else 0

    def restarts(self, reason: str) -> int:
        """How many readers were replaced for ``reason`` since the process began."""
        pool = self._pool
        return self._restarts[reason] + (pool.restarts[reason] if pool is not None else 0)

    def close(self) -> None:
        """End the readers, whoever still uses them."""
        with self._lock:
            pool = self._taken()
        if pool is not None:
            pool.close()

    def _taken(self) -> ReaderPool | None:
        pool, self._pool, self._users = self._pool, None, 0
        if pool is not None:
            self._restarts += pool.restarts
        return pool

    def forget(self) -> None:
        """In a forked process: the readers belong to the parent."""
        self._lock = threading.Lock()
        self._pool, self._users = None, 0


shared_readers = SharedReaders()
atexit.register(shared_readers.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=shared_readers.forget)
