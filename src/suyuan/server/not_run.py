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
        self._spent: dict[str, int] = {}
        """That since it began to be looked at."""

    def begin(self) -> None:
        """From now on."""
        self._computed = {thread: computed for thread, _, computed in self._threads()}
        self._spent = {}

    def seconds(self, elapsed: float) -> float:
        """How much of the last ``elapsed`` seconds, since this was asked before."""
        states, took = {}, [0.0]
        for thread, state, computed in list(self._threads()):
            states[thread] = state
            spent = computed - self._computed.get(thread, computed)
            took.append(spent / _NANOSECONDS)
            self._spent[thread] = self._spent.get(thread, 0) + spent
            self._computed[thread] = computed
        if states.get(self._main, "?") in _NOT_RUNNING:
            return elapsed
        if _READY not in states.values():
            # It waits for something else than a processor.
            return 0.0
        # Any thread may hold the interpreter: the one that got most counts.
        return max(0.0, elapsed - max(took))

    def busiest(self) -> int | None:
        """The thread that has computed most; None for the first one of the process, or where the system does not tell.

        One that waits for the interpreter does not compute.
        """
        busiest = max(self._spent, key=lambda thread: self._spent[thread], default=self._main)
        return None if busiest == self._main else int(busiest)

    def _threads(self) -> Iterator[tuple[str, str, int]]:
        """The threads with their states and computing times; none where the system does not tell."""
        for thread in self._folder.glob("*"):
            try:
                state = (thread / "stat").read_text().rpartition(") ")[2][:1]
                yield thread.name, state, int((thread / "schedstat").read_text().split()[0])
            except (OSError, ValueError, IndexError):
                # The thread has ended.
                continue
