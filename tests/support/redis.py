"""A private Redis or Valkey for tests, on a Unix socket in a folder of its own; gone when the tests are."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.timing import PATIENCE, until


@dataclass
class Redis:
    """A running server."""

    folder: Path
    program: str
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self.folder}/redis.sock"

    @property
    def patient_url(self) -> str:
        """For those who must not take it for away on a busy machine."""
        return self.url + "?socket_timeout=5"

    def start(self) -> None:
        options = ["--port", "0", "--unixsocket", f"{self.folder}/redis.sock", "--save", "", "--dir", str(self.folder)]
        self.process = subprocess.Popen([self.program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert until(self.answers), "Redis does not start"

    def stop(self) -> None:
        """End it at once; it keeps nothing."""
        if self.process is not None:
            self.process.kill()
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
        """The server takes connections and does not answer for the length of a ``with`` block."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    @contextmanager
    def full(self) -> Iterator[None]:
        """The server answers and takes nothing new for the length of a ``with`` block."""
        import redis

        with redis.Redis.from_url(self.url) as client:
            client.config_set("maxmemory", 1)
            try:
                yield
            finally:
                client.config_set("maxmemory", 0)

    def answers(self) -> bool:
        import redis

        try:
            with redis.Redis.from_url(self.url, socket_timeout=1) as client:
                return bool(client.ping())
        except (redis.RedisError, OSError):
            return False


def program() -> str | None:
    """The server that this machine has, if any."""
    return shutil.which("redis-server") or shutil.which("valkey-server")


@contextmanager
def redis_server(program: str) -> Iterator[Redis]:
    folder = Path(tempfile.mkdtemp(prefix="suyuan-redis-"))
    server = Redis(folder, program)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
