"""One thread for all writes: what waits for it is written in one transaction, so that the disk is waited for once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from itertools import chain, repeat
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class GroupedWriter(ThreadPoolExecutor):
    """Does work in groups; a result is given out when its group is on the disk."""

    def __init__(self, group: Callable[[], AbstractContextManager[None]]) -> None:
        super().__init__(1, "suyuan-store")
        self._group = group
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._called = False
        """Whether the thread has been called and has not begun yet."""

    def submit(self, work: Callable[P, T], /, *args: P.args, **named: P.kwargs) -> Future[T]:
        """Do ``work`` with what else is waiting by then."""
        future: Future[T] = Future()
        self._waiting.append((future, partial(work, *args, **named)))
        if not self._called:
            self._called = True
            super().submit(self._write)
        return future

    def _write(self) -> None:
        # First of all: what is added from now on calls again.
        self._called = False
        taken = [self._waiting.popleft() for _ in range(len(self._waiting))]
        wanted = [(future, work) for future, work in taken if future.set_running_or_notify_cancel()]
        if not wanted:
            return
        outcomes: list[tuple[Any, BaseException | None]] = []
        lost: BaseException | None = None
        try:
            with self._group():
                outcomes.extend(_outcome(work) for _, work in wanted)
        except BaseException as error:  # noqa: BLE001 - whatever it is, those who wait are told
            lost = error
        for (future, _), (result, failed) in zip(wanted, chain(outcomes, repeat((None, lost))), strict=False):
            if (why := failed or lost) is not None:
                future.set_exception(why)
            else:
                future.set_result(result)


def _outcome(work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return work(), None
    except BaseException as error:  # noqa: BLE001 - told to the one who waits for it
        return None, error
