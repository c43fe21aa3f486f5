"""A private PostgreSQL server for tests, on a Unix socket in a folder of its own; gone when the tests are."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from support.processes import children
from support.timing import PATIENCE, until

_NUMBERS = count(1)


@dataclass
class Postgres:
    """A running server."""

    folder: Path
    command: list[str]
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder
        )
        assert until(lambda: self.process is None or self.process.poll() is not None or self.answers())
        assert self.process.poll() is None, "PostgreSQL does not start"

    def stop(self) -> None:
        if self.process is not None:
            # "Fast": connections are closed.
            self.process.send_signal(signal.SIGINT)
            self.process.wait(PATIENCE)
            self.process = None

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """The server is away for the length of a ``with`` block."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    @contextmanager
    def stalled(self) -> Iterator[None]:
        """The server and all its processes do not answer for the length of a ``with`` block."""
        assert self.process is not None
        everyone = [self.process.pid, *children(self.process.pid)]
        for pid in everyone:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in everyone:
                os.kill(pid, signal.SIGCONT)

    def address(self, database: str = "postgres") -> str:
        return f"postgresql://suyuan@/{database}?host={self.folder}"

    def fresh(self) -> str:
        """The address of a new, empty database."""
        name = f"test{next(_NUMBERS)}"
        self.run(f"CREATE DATABASE {name}")
        return self.address(name)

    def run(self, statement: str, database: str = "postgres") -> None:
        import psycopg

        with psycopg.connect(self.address(database), autocommit=True) as connection:
            connection.execute(statement.encode())

    def answers(self) -> bool:
        import psycopg

        try:
            self.run("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True


def binaries() -> Path | None:
    """The folder with ``initdb`` and ``postgres``, if this machine has them."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    return next((path.parent for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)), None)


@contextmanager
def postgres(programs: Path) -> Iterator[Postgres]:
    """A server that runs as an ordinary user, since it refuses to run as root."""
    # Not below pytest's own folder: that one is closed to other users, and too long a name for a socket.
    folder = Path(tempfile.mkdtemp(prefix="suyuan-pg-"))
    prefix = _as_user(folder)
    data = folder / "data"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    try:
        settings = ["-U", "suyuan", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        subprocess.run([*prefix, str(programs / "initdb"), "-D", str(data), *settings], check=True, **quiet)  # type: ignore[call-overload]
        options = ["-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=16MB"]
        command = [*prefix, str(programs / "postgres"), "-D", str(data), "-k", str(folder), *options]
        server = Postgres(folder, command)
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _as_user(folder: Path) -> list[str]:
    if os.geteuid() != 0:
        return []
    user = next(entry for name in ("postgres", "nobody") for entry in pwd.getpwall() if entry.pw_name == name)
    os.chown(folder, user.pw_uid, user.pw_gid)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
