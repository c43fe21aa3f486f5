"""The process that writes an answer, and whether it still runs."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path

LEASE_SECONDS = 30.0
"""A process that has given no sign of life for this long no longer has what it worked on."""
_PROC = Path("/proc")


def this_process() -> str:
    """The name of this process: host, boot, pid and start time."""
    return "|".join((_node(), _boot(), str(os.getpid()), _started(os.getpid())))


def alive(owner: str) -> bool | None:
    """Whether the process ``owner`` still runs; None if that cannot be known on this host."""
    node, boot, number, started = [*owner.split("|"), "", "", ""][:4]
    if node != _node() or not number.isdigit():
        return None
    if boot != _boot() or not _runs(int(number)):
        return False
    # The pid may belong to another process by now, which started at another time.
    return _started(int(number)) == started if started else None


@cache
def _node() -> str:
    """The host; two containers of one host do not see each other's processes."""
    try:
        namespace = os.readlink(_PROC / "self/ns/pid").strip("pid:[]")
    except OSError:
        namespace = ""
    return f"{platform.node()}/{namespace}".replace("|", "")


@cache
def _boot() -> str:
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _started(pid: int) -> str:
    try:
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return ""
    # A zombie writes nothing any more.
    return "" if fields[0] in "ZX" else fields[19]


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True
