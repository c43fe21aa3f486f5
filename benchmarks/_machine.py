"""How busy the machine is with others: searches a second mean nothing while the contenders wait for a core."""

from __future__ import annotations

import os
import time
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


class Neighbours:
    """Tells how many cores others have used since it was made: all that was spent, less our own and our children's."""

    def __init__(self) -> None:
        self._since = time.monotonic()
        self._spent = _machine() - _own()

    def cores(self) -> float:
        """Return the cores that others used on average."""
        spent = _machine() - _own() - self._spent
        return max(0.0, spent / (time.monotonic() - self._since))


def _machine() -> float:
    """Return the CPU seconds of everything since the machine was started, what the host took away included."""
    fields = [int(word) for word in Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:]]
    user, nice, system, _idle, _waiting, *interrupts = fields[:8]
    return (user + nice + system + sum(interrupts)) / _TICKS


def _own() -> float:
    me = os.getpid()
    children = Path(f"/proc/{me}/task/{me}/children").read_text(encoding="ascii").split()
    return sum(_process(pid) for pid in (str(me), *children))


def _process(pid: str) -> float:
    return sum(_times(pid)[:2]) / _TICKS


def _times(pid: str) -> list[int]:
    """Return the ticks of a process (user, system) and of its children that have ended (user, system)."""
    # The name in parentheses may hold blanks; the four times are the 12th to 15th field after it.
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return [int(field) for field in fields[11:15]]


def family(pid: int) -> list[str]:
    """Return the ids of a process and of all its descendants."""
    found = [str(pid)]
    for one in found:
        for thread in Path(f"/proc/{one}/task").iterdir():
            found += (thread / "children").read_text(encoding="ascii").split()
    return found


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and its descendants, those that have ended included."""
    return sum(sum(_times(one)) for one in family(pid)) / _TICKS


def rss(pid: int) -> float:
    """Return the resident memory of a process and its descendants in MB (1024 × 1024 bytes)."""
    pages = sum(int(Path(f"/proc/{one}/statm").read_text(encoding="ascii").split()[1]) for one in family(pid))
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024**2
