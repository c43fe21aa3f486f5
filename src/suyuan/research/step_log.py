"""``StepLog``: the steps of one job. A step that was done is never done again; what it gave is read from the store."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from functools import partial
from typing import Any, TypeVar

from ..core.causes.store import StoreError
from ..core.errors import SuyuanError
from ..store.research import JobTaken, ResearchStore, StoredStep

Done = dict[str, Any]
T = TypeVar("T")

_AWAY_SECONDS = 600.0
_PAUSE = 0.5


class StepLog:
    """Writes each step before its result is used, several that end together in one transaction."""

    def __init__(self, store: ResearchStore, job: str, pen: Executor, news: Callable[[], None]) -> None:
        self._store = store
        self._job = job
        self._pen = pen
        self._news = news
        self._done: dict[str, StoredStep] = {}
        self._pending: list[tuple[tuple[str, str, Mapping[str, Any]], asyncio.Future[Done]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._before = 0.0
        self._started = time.monotonic()

    async def load(self) -> None:
        """Read the steps that were done before."""
        # A damaged step would stand in the way of its repetition.
        await self.written(self._store.forget, self._job, ())
        for step in await self.written(self._store.steps, self._job):
            self._done[step.key] = step
        self._before = max((float(step.data.get("elapsed") or 0) for step in self._done.values()), default=0.0)

    @property
    def elapsed(self) -> float:
        """The seconds that the job has worked, in all processes together."""
        return self._before + time.monotonic() - self._started

    def known(self, key: str) -> Done | None:
        """What a step gave, if it was done."""
        step = self._done.get(key)
        return step.data if step else None

    def of_kind(self, kind: str) -> list[Done]:
        """What the steps of one kind gave, in the order in which they ended."""
        return [step.data for step in sorted(self._done.values(), key=lambda step: step.seq) if step.kind == kind]

    async def once(self, key: str, kind: str, work: Callable[[], Awaitable[Mapping[str, Any]]]) -> Done:
        """What the step ``key`` gives; ``work`` is called only where it was not done before."""
        known = self.known(key)
        return known if known is not None else await self.add(key, kind, await work())

    async def add(self, key: str, kind: str, data: Mapping[str, Any]) -> Done:
        """Store a step, and return when it is on the disk."""
        future: asyncio.Future[Done] = asyncio.get_running_loop().create_future()
        self._pending.append(((key, kind, {**data, "elapsed": round(self.elapsed, 3)}), future))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        # A step that has ended is written even if nobody waits for it any more.
        return await asyncio.shield(future)

    async def close(self) -> None:
        """Wait for what is being written."""
        if self._writing is not None:
            await asyncio.wait([self._writing])

    async def _write(self) -> None:
        while self._pending:
            batch, self._pending = self._pending, []
            try:
                kept = await self.written(partial(self._store.keep, own=True), self._job, [step for step, _ in batch])
            except (SuyuanError, JobTaken) as error:
                for _, future in batch:
                    future.set_exception(error)
                    future.exception()  # It may have no reader left.
                continue
            self._done.update({step.key: step for step in kept})
            for (key, _, _), future in batch:
                future.set_result(self._done[key].data)
            self._news()

    async def written(self, work: Callable[..., T], *args: Any) -> T:
        """Do ``work``; where the store is away, again until it is back, since what was done may have cost something."""
        tried = time.monotonic()
        while True:
            try:
                return await asyncio.get_running_loop().run_in_executor(self._pen, partial(work, *args))
            except StoreError as error:
                # A full disk of this machine is not waited for: the job can be resumed.
                away = self._store.shared and error.retryable
                if not away or time.monotonic() - tried > _AWAY_SECONDS:
                    raise
            await asyncio.sleep(_PAUSE)
