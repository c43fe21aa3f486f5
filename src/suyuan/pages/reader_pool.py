"""Reader processes, which convert pages outside of the event loop and are killed at the deadline."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections import Counter, deque
from concurrent.futures import Future
from dataclasses import dataclass, field

from ..core.causes.page import PAGE_TOO_SLOW, READER_FAILED, READER_NOT_STARTED
from ..core.errors import SuyuanError
from ..core.urls import domain_of
from .frames import BUFFER, BrokenFrame, read_outcome, write_page
from .reading import Reading, ReceivedPage

MAX_CPU_SECONDS = 10.0
"""What a page may cost at most, whatever the deadline is."""

RESTART_REASONS = ("deadline", "cpu", "memory", "crash")

_LARGE = 200_000
_IDLE_SECONDS = 300.0
# A reader that has grown beyond this is replaced, since freed memory is not given back.
_MAX_MEGABYTES = 400
_PROGRAM = "import sys; sys.path[:] = {path!r}; from suyuan.pages.reader_process import main; main()"


@dataclass(eq=False, slots=True)
class _Job:
    page: ReceivedPage
    large: bool
    future: Future[Reading] = field(default_factory=Future)
    process: subprocess.Popen[bytes] | None = None
    """The reader that works on it."""
    given_up: bool = False


class ReaderPool:
    """Readers that are started when they are needed; large pages leave one of them to small pages."""

    def __init__(self, size: int | None = None) -> None:
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
                thread = threading.Thread(target=self._work, name="suyuan-reader", daemon=True)
                self._threads[thread] = large
                thread.start()
            self._changed.notify_all()

    def _give_up(self, job: _Job) -> None:
        with self._changed:
            job.given_up = True
            if job.process is not None:
                job.process.kill()

    def _work(self) -> None:
        thread = threading.current_thread()
        process: subprocess.Popen[bytes] | None = None
        try:
            while (job := self._next(thread)) is not None:
                process = self._serve(job, process)
        finally:
            self._end(process)
            with self._changed:
                self._threads.pop(thread, None)

    def _next(self, thread: threading.Thread) -> _Job | None:
        """Wait for a job; None if the pool is closed, or there was nothing to do for a long time."""
        takes_large = self._threads[thread]

        def found() -> _Job | None:
            return next((job for job in self._waiting if takes_large or not job.large), None)

        with self._changed:
            self._idle[thread] = takes_large
            self._changed.wait_for(lambda: self._closed or found() is not None, _IDLE_SECONDS)
            del self._idle[thread]
            job = None if self._closed else found()
            if job is not None:
                self._waiting.remove(job)
            return job

    def _serve(self, job: _Job, process: subprocess.Popen[bytes] | None) -> subprocess.Popen[bytes] | None:
        """Let a reader convert the page of ``job``; return the reader for the next one."""
        if not job.future.set_running_or_notify_cancel():
            return process
        used = 0
        try:
            process = self._alive(process)
            with self._changed:
                job.process = process
                if job.given_up:
                    process.kill()
            assert process.stdin is not None and process.stdout is not None
            write_page(process.stdin, job.page, MAX_CPU_SECONDS)  # type: ignore[arg-type]
            outcome, used = read_outcome(process.stdout)  # type: ignore[arg-type]
        except _NotStarted as error:
            outcome = READER_NOT_STARTED(why=error)
        except (OSError, EOFError, BrokenFrame):
            outcome = self._failure(job, process)
            self._end(process)
            process = None
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

    def _alive(self, process: subprocess.Popen[bytes] | None) -> subprocess.Popen[bytes]:
        if process is not None and process.poll() is None:
            return process
        self._end(process)
        program = _PROGRAM.format(path=sys.path)
        try:
            # In a group of its own, so that Ctrl-C reaches this process only.
            process = subprocess.Popen(
                [sys.executable, "-c", program],
                bufsize=BUFFER,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                process_group=0 if os.name == "posix" else None,
            )
        except OSError as error:
            raise _NotStarted(error.strerror or str(error)) from None
        with self._changed:
            self._processes.add(process)
            if self._closed:
                process.kill()
        return process

    def _failure(self, job: _Job, process: subprocess.Popen[bytes] | None) -> SuyuanError:
        """Why a reader ended without a result."""
        status = process.wait(10) if process is not None else 0
        where = domain_of(job.page.response.url) or job.page.response.url
        too_slow = status == -getattr(signal, "SIGPROF", 0)
        self.restarts["deadline" if job.given_up else "cpu" if too_slow else "crash"] += 1
        if too_slow:
            return PAGE_TOO_SLOW(where=where, seconds=MAX_CPU_SECONDS)
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


class _SharedReaders:
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


shared_readers = _SharedReaders()
atexit.register(shared_readers.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=shared_readers.forget)
