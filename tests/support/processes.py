"""What runs below this process, read from /proc: so that a test can see that nothing stays."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

PROC = Path("/proc")
# What other tests keep for all of them: not what a browser left behind.
_KEPT = ("postgres", "redis-server", "valkey-server", "multiprocessing.", "reader_process")


@dataclass(frozen=True)
class Process:
    """A process, told from a later one with the same number by the time it was started."""

    pid: int
    started: str
    parent: int = field(compare=False)

    @property
    def alive(self) -> bool:
        return _read(self.pid) == self

    @property
    def command(self) -> str:
        try:
            return (PROC / str(self.pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            return ""


def family(root: int | None = None, kept: tuple[str, ...] = _KEPT) -> list[Process]:
    """All descendants of ``root``, or of this process, without those that are ``kept`` for all tests."""
    everyone = [seen for entry in PROC.iterdir() if entry.name.isdigit() and (seen := _read(int(entry.name)))]
    found: list[Process] = []
    parents = {root or os.getpid()}
    while parents:
        children = [
            process
            for process in everyone
            if process.parent in parents and not any(name in process.command for name in kept)
        ]
        found += children
        parents = {process.pid for process in children}
    return found


def children(parent: int) -> list[int]:
    """The processes that ``parent`` has started itself."""
    everyone = [seen for entry in PROC.iterdir() if entry.name.isdigit() and (seen := _read(int(entry.name)))]
    return [process.pid for process in everyone if process.parent == parent]


def browsers(root: int | None = None) -> list[Process]:
    """The browsers below ``root``, each by its main process."""
    return [
        found for found in family(root) if "--remote-debugging-pipe" in found.command and "--type=" not in found.command
    ]


def _read(pid: int) -> Process | None:
    try:
        fields = (PROC / str(pid) / "stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return None
    # A dead process whose parent has not looked yet holds nothing.
    return None if fields[0] in "ZX" else Process(pid, fields[19], int(fields[1]))
