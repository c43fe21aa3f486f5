"""``WorkBoard``: what a process is working on, in memory that it shares with the one that watches it.

A process whose event loop is held up can tell nobody why. So it writes down beforehand what each step of the event loop
and each thread works for, and the watcher reads it when no sign of life has come for too long: that of the thread which
has computed. What a step begins, as tasks or in threads, works for the same.
"""

from __future__ import annotations

import asyncio
import hashlib
import mmap
import struct
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, ParamSpec, Self, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_BEATS = struct.Struct("!QB")
_PLACE = struct.Struct("!QH")
"""A thread, which is 0 for the event loop, and the length of the name behind it."""
_MAX_NAME_BYTES = 1000
_PLACE_SIZE = _PLACE.size + _MAX_NAME_BYTES
_PLACES = 64
_SIZE = _BEATS.size + _PLACES * _PLACE_SIZE
LOOP = 0
_item: ContextVar[str] = ContextVar("item", default="")
"""What is worked for."""


class WorkBoard:
    """A few fields in a file that two processes have mapped."""

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, _SIZE)
        self._count = 0
        self._places: dict[int, int] = {LOOP: 0}
        self._lock = threading.Lock()

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

    def begin(self, item: str, thread: int = LOOP) -> None:
        """What the event loop or a thread does from now on is for ``item``; empty for none that is known."""
        at = self._place_of(thread)
        name = item.encode("utf-8", "replace")[:_MAX_NAME_BYTES]
        _PLACE.pack_into(self._memory, at, thread, len(name))
        start = at + _PLACE.size
        self._memory[start : start + len(name)] = name

    def _place_of(self, thread: int) -> int:
        place = self._places.get(thread)
        if place is None:
            with self._lock:
                # Threads are kept; where there were more than places, the first ones have ended.
                number = len(self._places) - 1
                place = 1 + number % (_PLACES - 1)
                self._places[thread] = place
        return _BEATS.size + place * _PLACE_SIZE

    def read(self) -> tuple[int, bool]:
        """How many signs of life there were, and whether more are expected."""
        count, expected = _BEATS.unpack_from(self._memory, 0)
        return count, bool(expected)

    def item(self, thread: int = LOOP) -> str:
        """What the event loop or a thread works for; empty where nobody knows."""
        for place in range(_PLACES):
            at = _BEATS.size + place * _PLACE_SIZE
            whose, length = _PLACE.unpack_from(self._memory, at)
            may_be_taken = place > 0 or thread == LOOP
            if may_be_taken and whose == thread:
                start = at + _PLACE.size
                return self._memory[start : start + min(length, _MAX_NAME_BYTES)].decode("utf-8", "replace")
        return ""

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
    if _board is None:
        return await work
    before = _item.set(item)
    try:
        return await _Steps(item, work, _board)
    finally:
        _item.reset(before)


def note_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """From now on the steps of tasks are written down as well, and what threads of the event loop do."""
    loop.set_task_factory(_noted_task)
    loop.set_default_executor(NotedThreads(thread_name_prefix="asyncio"))


def _noted_task(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
    context = options.get("context")
    item = _item.get() if context is None else context.get(_item, "")
    if item and _board is not None:
        work = _NotedSteps(item, work, _board)
    return asyncio.Task(work, loop=loop, **options)


class NotedThreads(ThreadPoolExecutor):
    """Threads that write down what they work for, where somebody watches."""

    def submit(self, work: Callable[P, T], /, *args: P.args, **named: P.kwargs) -> Future[T]:
        """Do ``work`` for what the step works for that asks for it."""
        if _board is None or not _item.get():
            return super().submit(work, *args, **named)
        return super().submit(_in_thread, _board, _item.get(), work, *args, **named)


def _in_thread(board: WorkBoard, item: str, work: Callable[..., T], /, *args: Any, **named: Any) -> T:
    thread = threading.get_native_id()
    board.begin(item, thread)
    try:
        return work(*args, **named)
    finally:
        board.begin("", thread)


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
                return end.value  # type: ignore[no-any-return]
            finally:
                self._board.begin("")
            try:
                sent, failed = (yield asked), None
            except GeneratorExit:
                self._work.close()
                raise
            except BaseException as error:  # noqa: BLE001 - thrown into the work, which decides
                sent, failed = None, error


class _NotedSteps(Coroutine[Any, Any, T]):
    """A coroutine whose steps are written down: what a task runs."""

    def __init__(self, item: str, work: Coroutine[Any, Any, T], board: WorkBoard) -> None:
        self._item = item
        self._work = work
        self._board = board

    def __getattr__(self, name: str) -> Any:
        return getattr(self._work, name)

    def __await__(self) -> Generator[Any, Any, T]:
        return self._work.__await__()

    def send(self, value: Any) -> Any:
        """Do the next step."""
        self._board.begin(self._item)
        try:
            return self._work.send(value)
        finally:
            self._board.begin("")

    def throw(self, *error: Any) -> Any:
        """Do the next step, which begins with an error."""
        self._board.begin(self._item)
        try:
            return self._work.throw(*error)
        finally:
            self._board.begin("")

    def close(self) -> None:
        """End it."""
        self._work.close()
