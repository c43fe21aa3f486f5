"""``WorkBoard``: what a process is working on, in memory that it shares with the one that watches it.

A process whose event loop is held up can tell nobody why. So it writes down beforehand what each step works for, and
the watcher reads it when no sign of life has come for too long.
"""

from __future__ import annotations

import hashlib
import mmap
import struct
from collections.abc import Awaitable, Coroutine, Generator
from typing import Any, Self, TypeVar

T = TypeVar("T")

_SIZE = 4096
_BEATS = struct.Struct("!QB")
_LENGTH = struct.Struct("!H")
_ITEM_AT = _BEATS.size
_LONGEST = 1000


class WorkBoard:
    """A few fields in a file that two processes have mapped."""

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, _SIZE)
        self._count = 0

    @classmethod
    def create(cls, descriptor: int) -> Self:
        """A new one in an empty file."""
        import os

        os.ftruncate(descriptor, _SIZE)
        return cls(descriptor)

    def beat(self) -> None:
        """Give a sign of life; from the first one on they are expected."""
        self._count += 1
        _BEATS.pack_into(self._memory, 0, self._count, 1)

    def rest(self) -> None:
        """Say that no more signs of life will come."""
        _BEATS.pack_into(self._memory, 0, self._count + 1, 0)

    def begin(self, item: str) -> None:
        """The next step works for ``item``; empty for none that is known."""
        name = item.encode("utf-8", "replace")[:_LONGEST]
        _LENGTH.pack_into(self._memory, _ITEM_AT, len(name))
        self._memory[_ITEM_AT + _LENGTH.size : _ITEM_AT + _LENGTH.size + len(name)] = name

    def read(self) -> tuple[int, bool]:
        """How many signs of life there were, and whether more are expected."""
        count, expected = _BEATS.unpack_from(self._memory, 0)
        return count, bool(expected)

    @property
    def item(self) -> str:
        """What the process works for."""
        (length,) = _LENGTH.unpack_from(self._memory, _ITEM_AT)
        start = _ITEM_AT + _LENGTH.size
        return self._memory[start : start + min(length, _LONGEST)].decode("utf-8", "replace")

    def close(self) -> None:
        """Give the memory back."""
        self._memory.close()


_board: WorkBoard | None = None


def write_on(board: WorkBoard | None) -> None:
    """From now on the steps of this process are written on ``board``."""
    global _board
    _board = board


async def working_for(item: str, work: Coroutine[Any, Any, T]) -> T:
    """The result of ``work``, each step of which is written down as one for ``item``, where somebody watches."""
    return await (work if _board is None else _Steps(item, work, _board))


def name_of(kind: str, id: str) -> str:
    """The name of an item, as it is written down and told."""
    return f"{kind} {id}"


def hidden(secret: str) -> str:
    """A name for something that is only known by a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()[:16]


class _Steps(Awaitable[T]):
    """Runs a coroutine step by step, and writes down what each one works for."""

    def __init__(self, item: str, work: Coroutine[Any, Any, T], board: WorkBoard) -> None:
        self._item = item
        self._work = work
        self._board = board

    def __await__(self) -> Generator[Any, Any, T]:
        sent: Any = None
        failed: BaseException | None = None
        while True:
            self._board.begin(self._item)
            try:
                asked = self._work.send(sent) if failed is None else self._work.throw(failed)
            except StopIteration as end:
                # The name stays until the next step of anything: a thread that this one has begun may hold all up.
                return end.value  # type: ignore[no-any-return]
            try:
                sent, failed = (yield asked), None
            except GeneratorExit:
                self._work.close()
                raise
            except BaseException as error:  # noqa: BLE001 - thrown into the work, which decides
                sent, failed = None, error
