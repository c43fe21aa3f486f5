"""The supervisor of several workers: it replaces those that die, and leaves none behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from support.processes import children
from support.timing import PATIENCE, until

# A supervisor in a process of its own, whose workers do nothing but say that they are ready.
SUPERVISOR = """
import sys
from suyuan.server.listen import listen_shared
from suyuan.server.supervisor import Supervisor

worker = '''
import sys, threading
from suyuan.server.supervisor import SupervisorLink
SupervisorLink(int(sys.argv[1])).ready()
threading.Event().wait()
'''
sockets = listen_shared("127.0.0.1", 0, 2)
assert len({each.getsockname() for each in sockets}) == 1
command = lambda listening, link: [sys.executable, "-c", worker, str(link)]
Supervisor(sockets, command, lambda: print("started", flush=True), 0).run()
"""


@contextmanager
def supervised() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", SUPERVISOR], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"started\n"
        yield process
    finally:
        process.kill()
        process.wait(PATIENCE)
        process.stdout.close()


def gone(pids: list[int]) -> bool:
    return until(lambda: not any(_lives(pid) for pid in pids))


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


def test_workers_are_replaced_one_after_the_other_and_end_with_the_supervisor() -> None:
    with supervised() as process:
        first = children(process.pid)
        assert len(first) == 2
        os.kill(first[0], signal.SIGKILL)
        assert until(lambda: len(now := children(process.pid)) == 2 and first[0] not in now)
        # A rolling restart.
        process.send_signal(signal.SIGHUP)
        assert until(lambda: len(now := children(process.pid)) == 2 and not {*first} & {*now})
        second = children(process.pid)
        process.terminate()
        assert process.wait(PATIENCE) == 0 and gone(first + second)


def test_a_supervisor_that_is_killed_leaves_no_worker_behind() -> None:
    with supervised() as process:
        workers = children(process.pid)
        process.kill()
        assert gone(workers)
