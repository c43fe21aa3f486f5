"""The supervisor of several workers: it replaces those that die, and leaves none behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from support.processes import children
from support.timing import PATIENCE, until
from suyuan.server.not_run import NotRun

# A supervisor in a process of its own, whose workers do nothing but say that they are ready.
SUPERVISOR = """
import sys
import suyuan.server.supervisor as supervisor
supervisor.SILENT_SECONDS = {silent}
from suyuan.server.sockets import listen_shared
from suyuan.server.supervisor import Supervisor

worker = '''
import asyncio, re, signal, sys, time
from suyuan.server.supervisor import SupervisorLink

async def work():
    SupervisorLink(int(sys.argv[1]), int(sys.argv[2])).ready()
    # Held up from the signal on, within one call: by computing, or by waiting.
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGUSR1, lambda: re.match("(a+)+b", "a" * 100))
    loop.add_signal_handler(signal.SIGWINCH, lambda: time.sleep(600))
    await asyncio.Event().wait()

asyncio.run(work())
'''
sockets = listen_shared("127.0.0.1", 0, 2)
assert len({each.getsockname() for each in sockets}) == 1
command = lambda listening, link, board: [sys.executable, "-c", worker, str(link), str(board)]
Supervisor(sockets, command, lambda: print("started", flush=True), 0).run()
"""


# As above, with a worker that does what it is told when it starts.
FAILING = """
import sys
from suyuan.server.sockets import listen_shared
from suyuan.server.supervisor import Supervisor

sockets = listen_shared("127.0.0.1", 0, {workers})
command = lambda listening, link, board: [sys.executable, "-c", sys.argv[1], str(link), str(board)]
end = Supervisor(sockets, command, lambda: print("started", flush=True), 0).run()
print(end.code, end.lives, end.in_order)
"""
READY = """
import asyncio, os, signal, sys
from suyuan.server.supervisor import SupervisorLink

async def work():
    SupervisorLink(int(sys.argv[1]), int(sys.argv[2])).ready()
    await asyncio.sleep(0.3)
    {end}

asyncio.run(work())
"""


def _end_of(worker: str, workers: int) -> str:
    command = [sys.executable, "-c", FAILING.format(workers=workers), worker]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE, check=True)
    return done.stdout.decode().splitlines()[-1]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("code", [1, 2, 3, 70])
def test_workers_that_say_that_they_cannot_start_end_the_server_with_their_code(code: int, workers: int) -> None:
    assert _end_of(f"raise SystemExit({code})", workers) == f"{code} 1 False"


@pytest.mark.parametrize("how", ["sys.exit(9)", "os.kill(os.getpid(), signal.SIGKILL)"])
@pytest.mark.parametrize("ready", [True, False])
def test_workers_that_die_again_and_again_are_not_started_for_ever(ready: bool, how: str) -> None:
    worker = READY.format(end=how) if ready else f"import os, signal, sys; {how}"
    wanted = {True: "9 5 False", False: "3 5 False"}["exit" in how]
    if not ready and "exit" in how:
        wanted = "9 1 False"
    assert _end_of(worker, 1) == wanted


@contextmanager
def supervised(silent: float = 600) -> Iterator[subprocess.Popen[bytes]]:
    program = SUPERVISOR.replace("{silent}", str(silent))
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
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


SILENT = 1.0
"""The seconds after which a worker is replaced here."""


@pytest.mark.parametrize("held_up", [signal.SIGUSR1, signal.SIGWINCH])
def test_a_worker_that_is_held_up_is_replaced_whether_it_computes_or_waits(held_up: signal.Signals) -> None:
    with supervised(SILENT) as process:
        first, second = children(process.pid)
        os.kill(first, held_up)
        assert until(lambda: len(now := children(process.pid)) == 2 and first not in now)
        assert second in children(process.pid)


def test_a_worker_that_the_system_does_not_let_run_is_not_replaced() -> None:
    with supervised(SILENT) as process:
        workers = children(process.pid)
        # As a debugger stops one, or a machine that sleeps or is paused stops all.
        for stopped in ([workers[0]], [process.pid, *workers]):
            for pid in stopped:
                os.kill(pid, signal.SIGSTOP)
            time.sleep(SILENT + 0.5)
            for pid in reversed(stopped):
                os.kill(pid, signal.SIGCONT)
        assert _answers_for(process, workers, SILENT)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_the_time_that_others_have_the_processor_does_not_count() -> None:
    spin = "import os; os.sched_setaffinity(0, {0}); os.nice(%d); print(flush=True)\nwhile True: pass"
    with ExitStack() as ends:
        pids = []
        for niceness in (19, 0):
            command = [sys.executable, "-c", spin % niceness]
            process = ends.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE))
            ends.callback(process.kill)
            assert process.stdout is not None and process.stdout.readline()
            pids.append(process.pid)
        not_run, begun = NotRun(pids[0]), time.monotonic()
        not_run.begin()
        time.sleep(1)
        elapsed = time.monotonic() - begun
        assert 0.5 * elapsed < not_run.seconds(elapsed) <= elapsed


def test_a_worker_that_is_stopped_ends_with_the_supervisor() -> None:
    with supervised() as process:
        workers = children(process.pid)
        os.kill(workers[0], signal.SIGSTOP)
        process.terminate()
        assert process.wait(PATIENCE) == 0 and gone(workers)


def _answers_for(process: subprocess.Popen[bytes], workers: list[int], seconds: float) -> bool:
    """Whether the workers are the same for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if children(process.pid) != workers:
            return False
        time.sleep(0.05)
    return True
