"""``NotRun``: for how long the system has not let a process run, which is no fault of the process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

# Stopped, by a signal or a debugger; in the hands of the system, as while memory comes back from the disk.
_NOT_RUNNING = "TtD"
_READY = "R"
_NANOSECONDS = 1e9


class NotRun:
    """Looks at the threads of a process, where the system tells (Linux)."""

    def __init__(self, pid: int) -> None:
        self._folder = Path(f"/proc/{pid}/task")
        self._main = str(pid)
        self._computed: dict[str, int] = {}
        """The computing time of each thread, so far."""

    def begin(self) -> None:
        """From now on."""
        self._computed = {thread: computed for thread, _, computed in self._threads()}

    def seconds(self, elapsed: float) -> float:
        """How much of the last ``elapsed`` seconds, since this was asked before."""
        states, took = {}, [0.0]
        for thread, state, computed in list(self._threads()):
            states[thread] = state
            took.append((computed - self._computed.get(thread, computed)) / _NANOSECONDS)
            self._computed[thread] = computed
        if states.get(self._main, "?") in _NOT_RUNNING:
            return elapsed
        if _READY not in states.values():
            # It waits for something else than a processor.
            return 0.0
        # Any thread may hold the interpreter: the one that got most counts.
        return max(0.0, elapsed - max(took))

    def _threads(self) -> Iterator[tuple[str, str, int]]:
        """The threads with their states and computing times; none where the system does not tell."""
        for thread in self._folder.glob("*"):
            try:
                state = (thread / "stat").read_text().rpartition(") ")[2][:1]
                yield thread.name, state, int((thread / "schedstat").read_text().split()[0])
            except (OSError, ValueError, IndexError):
                # The thread has ended.
                continue
