"""Servers in processes of their own."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import dataclass, field

from support.site import free_port
from support.timing import PATIENCE


@dataclass
class Worker:
    """A server in a process of its own."""

    environ: dict[str, str]
    command: tuple[str, ...] = ("-m", "suyuan", "serve", "--no-supervise", "--no-open", "--port")
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [sys.executable, *self.command, str(self.port)]
        self.process = subprocess.Popen(command, env=self.environ, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        while b"Ctrl-C" not in (line := self.process.stdout.readline()):
            assert line, "the worker does not start"

    def end(self, number: int = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(PATIENCE)
            assert self.process.stdout is not None
            self.process.stdout.close()
            self.process = None
