"""Runs a command and kills it at its n-th act on files: ``python killed.py N suyuan-arguments…``.

With an N that is larger than all acts the command ends by itself, and the last line on standard error is their number.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_ACTS = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "open", "sqlite3.connect", "os.utime"}
ALL = 1 << 30


def run_killed(act: int, arguments: list[str], environ: Mapping[str, str]) -> tuple[int, int]:
    """Run a command that is killed at its act of this number; return its exit code and the number of all acts."""
    command = [sys.executable, __file__, str(act), *arguments]
    done = subprocess.run(command, env=dict(environ), capture_output=True, text=True, check=False)
    last = done.stderr.strip().rpartition("\n")[2]
    return done.returncode, int(last) if last.isdecimal() else 0


def main() -> int:
    """Run the command."""
    limit, arguments = int(sys.argv[1]), sys.argv[2:]
    # Everything is imported before: only what the command does to data counts.
    from suyuan.backup import restoring, writing  # noqa: F401
    from suyuan.cli.main import main as suyuan

    home, acts = os.environ["HOME"], 0

    def count(event: str, values: tuple[object, ...]) -> None:
        nonlocal acts
        where = values[0] if values else ""
        if event in _ACTS and isinstance(where, str | Path) and str(where).startswith(str(Path(home).parent)):
            acts += 1
            if acts == limit:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    code = suyuan(arguments)
    sys.stderr.write(f"{acts}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
