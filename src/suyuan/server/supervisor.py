"""``Supervisor``: starts the workers of a server on one machine, replaces those that die or fall silent, stops them."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import logging
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..core.at_work import LOOP, WorkBoard, note_tasks, write_on
from .not_run import NotRun

log = logging.getLogger("suyuan.server")

_LOOK_SECONDS = 0.1
_SHORT_LIFE = 5.0
_SHORT_LIVES = 5
"""A worker that ends so often in a row, each time soon after it began, will not work at the next try either."""
_LONGEST_PAUSE = 30.0
_FAILED = 3
"""The code of a server whose worker was ended by a signal."""
_READY_SECONDS = 60.0
_STOP_SECONDS = 15.0
READY = b"r"
# A worker gives a sign of life so often, from its event loop.
_BEAT_SECONDS = 0.2
# A sign of life that is not there by then is late.
_LATE_SECONDS = 0.25
_HELD_UP_SECONDS = 1.0
"""What watches was held up itself, as on a machine that slept, if it looks so late: such a time says nothing."""
SILENT_SECONDS = 10.0
"""A worker whose event loop is held up for so long is replaced."""
_SILENT_AT_END = 0.7
"""One that is to end and does not hear it is not waited for."""
_TRACE_SECONDS = 0.1
_STOP_LOOK_SECONDS = 0.02
_TRACE = getattr(signal, "SIGUSR2", None)

Command = Callable[[int, int, int], list[str]]
"""The command line of a worker, given the descriptors of its listening socket, of the supervisor and of its board."""


@dataclass(slots=True)
class _Worker:
    """A process and the end of a pair of sockets whose other end it holds: it says when it is ready, and each sees
    when the other is gone."""

    process: subprocess.Popen[bytes]
    link: socket.socket
    board: WorkBoard
    begun: float = field(default_factory=time.monotonic)
    ready: bool = False
    silence: float = 0.0
    """For how many seconds its event loop has been held up, without those in which the system did not let it run."""
    looked: float = field(default_factory=time.monotonic)
    beats: int = 0
    not_run: NotRun = field(init=False)

    def __post_init__(self) -> None:
        self.not_run = NotRun(self.process.pid)

    def look(self) -> None:
        """Take note of what the worker has said."""
        with contextlib.suppress(OSError):
            self.ready = self.ready or self.link.recv(1) == READY
        now = time.monotonic()
        elapsed, self.looked = now - self.looked, now
        before = self.beats
        self.beats, expected = self.board.read()
        if self.beats != before or not expected:
            self.silence = 0.0
        elif self.silence < _LATE_SECONDS:
            self.silence += min(elapsed, _LATE_SECONDS)
            self.not_run.begin()
        elif elapsed < _HELD_UP_SECONDS:
            self.silence += elapsed - self.not_run.seconds(elapsed)
        else:
            self.not_run.begin()

    def end(self) -> None:
        """Tell it to end; one that is stopped goes on, so that it hears it."""
        with contextlib.suppress(ProcessLookupError):
            self.process.terminate()
            self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End it at once; where it was goes to the log."""
        if _TRACE is not None and self.ready:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(_TRACE)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_TRACE_SECONDS)
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """Give back what is shared with it."""
        self.link.close()
        self.board.close()


@dataclass(frozen=True, slots=True)
class End:
    """How a server has ended."""

    code: int = 0
    """That of a worker that could not go on; 0 where the server was told to end."""
    lives: int = 0
    """How often a worker was started that ended soon."""
    in_order: bool = True
    """Whether every worker has come to its own end, with all that it had to keep."""


class Supervisor:
    """One worker for each listening socket. The sockets stay open here, so a new worker finds who is waiting.

    A worker that says that it cannot start, as with data or settings that it cannot use, ends the server: whoever is
    connected to a socket without a worker waits for nothing.
    """

    def __init__(
        self,
        sockets: Sequence[socket.socket],
        command: Command,
        started: Callable[[], None],
        drain_seconds: float,
        silent: Callable[[str], None] = lambda item: None,
    ) -> None:
        self._sockets = sockets
        self._command = command
        self._started = started
        self._silent = silent
        """Told what a worker was working for that had to be ended; empty where nobody knows."""
        self._stop_seconds = drain_seconds + _STOP_SECONDS
        self._workers: list[_Worker | None] = [None] * len(sockets)
        self._again_at = [0.0] * len(sockets)
        self._short_lives = [0] * len(sockets)
        self._woken = threading.Event()
        self._stopping = self._replacing = self._announced = False
        self._in_order = True
        self._failed: End | None = None

    def run(self) -> End:
        """Work until SIGTERM or SIGINT, or until there is no use in it; SIGHUP replaces the workers in turn."""
        before = {
            number: signal.signal(number, self._told) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        }
        try:
            while not self._stopping and self._failed is None:
                for place in range(len(self._workers)):
                    self._look_after(place)
                if not self._announced and all(worker and worker.ready for worker in self._workers):
                    self._announced = True
                    self._started()
                if self._replacing:
                    self._replacing = False
                    self._replace_all()
                self._woken.wait(_LOOK_SECONDS)
                self._woken.clear()
        finally:
            # A worker that is dead now did not end in order, and what it had is gone.
            self._in_order = not any(map(self._is_dead, range(len(self._workers))))
            self._stop(self._workers)
            for number, handler in before.items():
                signal.signal(number, handler)
        return self._failed or End(in_order=self._in_order)

    def _told(self, number: int, _frame: object) -> None:
        if number == signal.SIGHUP:
            self._replacing = True
        else:
            self._stopping = True
        self._woken.set()

    def _look_after(self, place: int) -> None:
        worker = self._workers[place]
        if worker is not None:
            worker.look()
            code = worker.process.poll()
            if code is None and worker.silence > SILENT_SECONDS:
                code = self._end_silent(worker)
            if code is None:
                return
            self._workers[place] = None
            worker.close()
            self._has_died(place, worker, code)
        if self._failed is None and time.monotonic() >= self._again_at[place]:
            self._workers[place] = self._start(place)

    def _is_dead(self, place: int) -> bool:
        """Whether the worker of this place has died and has no successor yet."""
        return self._workers[place] is None and self._again_at[place] > 0

    def _has_died(self, place: int, worker: _Worker, code: int) -> None:
        """Decide when a new worker is started in this place, or that there is no use in it."""
        lived = time.monotonic() - worker.begun
        short = not worker.ready or lived < _SHORT_LIFE
        lives = self._short_lives[place] = self._short_lives[place] + 1 if short else 0
        # It has said why; a signal says nothing, and what is in use already may be so again in a moment.
        refused = code > 0 and not worker.ready and not self._announced
        if refused or lives >= _SHORT_LIVES:
            self._failed = End(code if code > 0 else _FAILED, lives, in_order=False)
            log.error("worker %d (process %d) ended with %d; the server ends", place, worker.process.pid, code)
            return
        pause = min(2.0 ** (lives - 2), _LONGEST_PAUSE) if lives else 0.0
        self._again_at[place] = time.monotonic() + pause
        log.error("worker %d (process %d) ended with %d; a new one is started", place, worker.process.pid, code)

    def _end_silent(self, worker: _Worker) -> int:
        """Kill a worker that does nothing any more, and tell what it was working for."""
        thread = worker.not_run.busiest()
        item = worker.board.item(LOOP if thread is None else thread)
        log.error("process %d has been silent for %.0f s, at %s", worker.process.pid, worker.silence, item or "unknown")
        worker.kill()
        self._silent(item)
        return worker.process.returncode

    def _start(self, place: int) -> _Worker:
        ours, theirs = socket.socketpair()
        with theirs, tempfile.TemporaryFile() as file:
            board = WorkBoard.create(file.fileno())
            given = (self._sockets[place].fileno(), theirs.fileno(), file.fileno())
            process = subprocess.Popen(self._command(*given), pass_fds=given, start_new_session=True)
        ours.setblocking(False)
        return _Worker(process, ours, board)

    def _replace_all(self) -> None:
        """A rolling restart: each new worker is ready before the old one is told to finish."""
        for place, old in enumerate(self._workers):
            new = self._start(place)
            deadline = time.monotonic() + _READY_SECONDS
            while not new.ready and new.process.poll() is None and time.monotonic() < deadline and not self._stopping:
                new.look()
                self._woken.wait(_LOOK_SECONDS)
                self._woken.clear()
            if not new.ready:
                log.error("the new worker %d does not start; the old one stays", place)
                self._stop([new])
                continue
            self._workers[place] = new
            self._stop([old])

    def _stop(self, workers: Sequence[_Worker | None]) -> None:
        running = [worker for worker in workers if worker is not None]
        for worker in running:
            worker.end()
        deadline = time.monotonic() + self._stop_seconds
        left = list(running)
        while left and time.monotonic() < deadline:
            left = [worker for worker in left if not self._has_ended(worker)]
            if left:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    left[0].process.wait(_STOP_LOOK_SECONDS)
        for worker in left:
            worker.process.kill()
            worker.process.wait()
        for worker in running:
            worker.close()
            # Having ended everything, a worker ends by the signal that told it.
            self._in_order &= worker.process.returncode in (0, -signal.SIGTERM, -signal.SIGINT)

    def _has_ended(self, worker: _Worker) -> bool:
        """Whether a worker that was told to end is gone; one that cannot hear it is killed."""
        worker.look()
        if worker.process.poll() is None and worker.silence > _SILENT_AT_END:
            log.error("process %d does not hear that it is to end, and is killed", worker.process.pid)
            worker.kill()
        return worker.process.poll() is not None


class SupervisorLink:
    """The worker's end: says that it is ready, and ends the worker when the supervisor is gone."""

    def __init__(self, descriptor: int, board: int) -> None:
        self._link = socket.socket(fileno=descriptor)
        self._board = WorkBoard(board)
        write_on(self._board)
        if _TRACE is not None:
            # Written by the handler itself, whatever holds the interpreter.
            faulthandler.register(_TRACE, all_threads=True)
        threading.Thread(target=self._watch, name="supervisor", daemon=True).start()

    def ready(self) -> None:
        """Say that requests are answered, and give signs of life from the event loop from now on."""
        with contextlib.suppress(OSError):
            self._link.send(READY)
        loop = asyncio.get_running_loop()
        note_tasks(loop)
        self._beat(loop)

    def done(self) -> None:
        """Say that the event loop has ended."""
        self._board.rest()

    def _beat(self, loop: asyncio.AbstractEventLoop) -> None:
        self._board.beat()
        loop.call_later(_BEAT_SECONDS, self._beat, loop)

    def _watch(self) -> None:
        with contextlib.suppress(OSError):
            self._link.recv(1)
        os.kill(os.getpid(), signal.SIGTERM)
