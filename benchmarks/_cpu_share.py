"""Gives each process the same small share of a core, by a control group of its own; Linux, as root."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

_PERIOD = 50_000
_FIRST, _SECOND = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")


@contextmanager
def limited(pids: Sequence[int], share: float) -> Iterator[bool]:
    """Let each process have ``share`` of a core; gives whether that was possible."""
    with ExitStack() as stack:
        try:
            for pid in pids:
                stack.enter_context(_group(pid, round(_PERIOD * share)))
        except OSError:
            yield False
            return
        yield True


@contextmanager
def _group(pid: int, quota: int) -> Iterator[None]:
    old = (_FIRST / "cpu.cfs_quota_us").exists()
    home = _FIRST if old else _SECOND
    group = home / f"suyuan-bench-{pid}"
    group.mkdir()
    try:
        if old:
            (group / "cpu.cfs_period_us").write_text(str(_PERIOD))
            (group / "cpu.cfs_quota_us").write_text(str(quota))
        else:
            (group / "cpu.max").write_text(f"{quota} {_PERIOD}")
        (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        with suppress(OSError):
            # A group with processes cannot be removed.
            (home / "cgroup.procs").write_text(str(pid))
        os.rmdir(group)
