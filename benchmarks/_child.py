"""Children that work on demand, a line of JSON in and a line out, so that contenders can take turns in short steps."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

LONGEST = 600.0
"""The seconds after which a child is ended by force."""

Ask = Callable[[Any], Any]


@contextmanager
def child(module: str, *arguments: str) -> Iterator[Ask]:
    """Start ``module`` of this package in a process of its own; what it is asked is answered by its ``serve``."""
    command = [sys.executable, "-m", f"{__package__}.{module}", *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None
    tell, hear = process.stdin, process.stdout
    # Whatever happens, nothing that was started here outlives its time.
    watch = threading.Timer(LONGEST, process.kill)
    watch.start()

    def ask(question: Any) -> Any:
        tell.write(json.dumps(question) + "\n")
        tell.flush()
        if not (line := hear.readline()):
            raise RuntimeError(f"{' '.join(command)} has ended: {process.wait(10)}")
        return json.loads(line)

    try:
        yield ask
    finally:
        # A child ends when its standard input does, also where this process dies without a word.
        tell.close()
        process.wait()
        watch.cancel()
        hear.close()


def questions() -> Iterable[Any]:
    """Yield what the parent asks, until it has gone."""
    return map(json.loads, sys.stdin)


def answer(value: Any) -> None:
    """Answer the parent's last question."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def leave() -> None:
    """End at once: there is nothing to save, and open sockets go with the process."""
    os._exit(0)


def in_turn(names: Iterable[str], number: int) -> list[str]:
    """Return ``names``, in every other round the other way round: nobody always meets the state that the other left."""
    return list(names)[:: -1 if number % 2 else 1]
