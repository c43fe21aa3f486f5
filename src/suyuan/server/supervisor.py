"""``Supervisor``: starts the workers of a server on one machine, replaces those that die, and stops them all."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

log = logging.getLogger("suyuan.server")

_LOOK_SECONDS = 0.1
_SHORT_LIFE = 5.0
_LONGEST_PAUSE = 30.0
_READY_SECONDS = 60.0
_STOP_SECONDS = 15.0
READY = b"r"

Command = Callable[[int, int], list[str]]
"""The command line of a worker, given the file descriptors of its listening socket and of the supervisor."""


@dataclass(slots=True)
class _Worker:
    """A process and the end of a pair of sockets whose other end it holds: it says when it is ready, and each sees
    when the other is gone."""

    process: subprocess.Popen[bytes]
    link: socket.socket
    begun: float = field(default_factory=time.monotonic)
    ready: bool = False

    def look(self) -> None:
        """Take note of what the worker has said."""
        with contextlib.suppress(OSError):
            self.ready = self.ready or self.link.recv(1) == READY


class Supervisor:
    """One worker for each listening socket. The sockets stay open here, so a new worker finds who is waiting."""

    def __init__(
        self, sockets: Sequence[socket.socket], command: Command, started: Callable[[], None], drain_seconds: float
    ) -> None:
        self._sockets = sockets
        self._command = command
        self._started = started
        self._stop_seconds = drain_seconds + _STOP_SECONDS
        self._workers: list[_Worker | None] = [None] * len(sockets)
        self._again_at = [0.0] * len(sockets)
        self._pauses = [0.5] * len(sockets)
        self._woken = threading.Event()
        self._stopping = self._replacing = False

    def run(self) -> None:
        """Work until SIGTERM or SIGINT; SIGHUP replaces the workers one after the other."""
        before = {
            number: signal.signal(number, self._told) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        }
        try:
            announced = False
            while not self._stopping:
                for place in range(len(self._workers)):
                    self._look_after(place)
                if not announced and all(worker and worker.ready for worker in self._workers):
                    announced = True
                    self._started()
                if self._replacing:
                    self._replacing = False
                    self._replace_all()
                self._woken.wait(_LOOK_SECONDS)
                self._woken.clear()
        finally:
            self._stop(self._workers)
            for number, handler in before.items():
                signal.signal(number, handler)

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
            if code is None:
                return
            lived = time.monotonic() - worker.begun
            self._pauses[place] = 0.0 if lived > _SHORT_LIFE else min(max(2 * self._pauses[place], 0.5), _LONGEST_PAUSE)
            self._again_at[place] = time.monotonic() + self._pauses[place]
            log.error("worker %d (process %d) ended with %d; a new one is started", place, worker.process.pid, code)
            worker.link.close()
            self._workers[place] = None
        if time.monotonic() >= self._again_at[place]:
            self._workers[place] = self._start(place)

    def _start(self, place: int) -> _Worker:
        ours, theirs = socket.socketpair()
        listening = self._sockets[place].fileno()
        with theirs:
            process = subprocess.Popen(
                self._command(listening, theirs.fileno()), pass_fds=(listening, theirs.fileno()), start_new_session=True
            )
        ours.setblocking(False)
        return _Worker(process, ours)

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
            with contextlib.suppress(ProcessLookupError):
                worker.process.terminate()
        deadline = time.monotonic() + self._stop_seconds
        for worker in running:
            try:
                worker.process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
            worker.link.close()


class SupervisorLink:
    """The worker's end: says that it is ready, and ends the worker when the supervisor is gone."""

    def __init__(self, descriptor: int) -> None:
        self._link = socket.socket(fileno=descriptor)
        threading.Thread(target=self._watch, name="supervisor", daemon=True).start()

    def ready(self) -> None:
        """Say that requests are answered."""
        with contextlib.suppress(OSError):
            self._link.send(READY)

    def _watch(self) -> None:
        with contextlib.suppress(OSError):
            self._link.recv(1)
        os.kill(os.getpid(), signal.SIGTERM)
