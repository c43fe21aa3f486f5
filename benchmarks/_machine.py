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
    # The name in parentheses may hold blanks; user and system time are the 12th and 13th field after it.
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS
