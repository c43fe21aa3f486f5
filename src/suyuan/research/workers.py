"""``JobWorkers``: the tasks of this process that run research jobs, several at once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

from ..core.causes.chat import UNEXPECTED
from ..core.causes.store import StoreError
from ..core.errors import SuyuanError
from ..core.failure import Failure
from ..core.person import Person, current_person
from ..core.tasks import end_task
from ..store.research import ACTIVE, JobTaken, StoredJob, StoredStep
from .fair_slots import FairSlots
from .job_store import JobStore, state_step
from .model_calls import ModelCalls
from .plan import plan_from
from .queue import StoredQueue
from .request import request_from
from .runner import JobRunner
from .settings import ResearchSettings
from .step_log import StepLog
from .web import Web
from .webhook import Webhook

log = logging.getLogger("suyuan.research")

_PARALLEL = 16
"""Searches and pages of all jobs together that are under way at once."""
_BEAT_SECONDS = 2.0
_PAUSE = 0.2


class JobWorkers:
    """Takes jobs from the queue and runs each to its end, to its plan, or to a failure."""

    def __init__(
        self, jobs: JobStore, web: Web, settings: ResearchSettings, models: ModelCalls, webhook: Webhook
    ) -> None:
        self._jobs = jobs
        self._store = jobs.store
        self._web = web
        self._settings = settings
        self.models = models
        self.webhook = webhook
        self._queue: asyncio.Queue[str] | StoredQueue = asyncio.Queue()
        self._slots = FairSlots(_PARALLEL)
        self._runners: dict[str, JobRunner] = {}
        self.own: set[str] = set()
        """The jobs that this process works on, from before it claims them."""
        self._tasks: list[asyncio.Task[None]] = []

    def serve(self) -> None:
        """Take the jobs that nobody works on, where the store is shared; until the workers are closed."""
        if self._store.shared and not isinstance(self._queue, StoredQueue):
            self._queue = StoredQueue(self._store, self._jobs.stored, lambda: list(self.own))
            # Those that wait at the queue of this process, if there are any, end what they have.
            self._tasks += self._new_tasks()

    def runner(self, id: str) -> JobRunner | None:
        """The job while it runs here."""
        return self._runners.get(id)

    async def put(self, id: str) -> None:
        """Add a job to the queue."""
        if not self._tasks:
            self._tasks = self._new_tasks()
        await self._queue.put(id)

    async def nudged(self, id: str) -> None:
        """Look at a job of which another worker says that it waits or shall stop."""
        if isinstance(self._queue, StoredQueue):
            await self._queue.put(id)
        if (runner := self._runners.get(id)) and (await self._jobs.stored(self._store.get, id)).stopping:
            runner.stop()

    async def close(self) -> None:
        """Leave what runs here: it can be resumed, and where the store is shared another worker goes on with it."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.webhook.close()
        await self.models.close()

    def _new_tasks(self) -> list[asyncio.Task[None]]:
        return [asyncio.create_task(self._work(), name=f"research-{n}") for n in range(self._settings.jobs)]

    async def _work(self) -> None:
        while True:
            id = await self._queue.get()
            if id in self.own:
                # Another task of this process is about to claim it, or has not quite left it.
                await asyncio.sleep(_PAUSE)
                await self._queue.put(id)
                continue
            self.own.add(id)
            try:
                await self._run(id)
            except SuyuanError as error:
                log.warning("research job=%s: %s", id, error.message)
            except JobTaken:
                log.warning("research job=%s: another worker goes on with it", id)
            finally:
                self.own.discard(id)

    async def _run(self, id: str) -> None:
        job: StoredJob = await self._jobs.stored(self._store.get, id)
        # What it reads goes to the archive of the one whose job it is.
        current_person.set(Person(job.person, ""))
        state = "running" if job.plan else "planning"
        if not await self._jobs.stored(self._store.claim, id, state):
            return
        steps = StepLog(self._store, id, self._jobs.pen, self._jobs.tell)
        try:
            await steps.load()
            inherited = await self._inherited(job)
            runner = JobRunner(job, steps, self._web, self._slots, self._settings, self.models, inherited)
            self._runners[id] = runner
            await steps.written(self._store.keep, id, [state_step(state)])
            await self._worked(job, runner, steps)
        except asyncio.CancelledError:
            await steps.close()
            with contextlib.suppress(SuyuanError):
                await self._jobs.stored(self._store.release, id)
            raise
        except (StoreError, JobTaken):
            # Nothing can be stored, or by another alone: the job is left as it is.
            raise
        except SuyuanError as error:
            await self._failed(job, error.failure, steps)
        except Exception as error:
            # The outermost edge of a background task: the steps are kept, and the job can be resumed.
            log.exception("research job=%s", id)
            await self._failed(job, UNEXPECTED.failure(what=type(error).__name__, run=id), steps)
        finally:
            self._runners.pop(id, None)
            await steps.close()
            self._jobs.tell()

    async def _inherited(self, job: StoredJob) -> list[dict[str, Any]]:
        """The pages that an earlier job has read."""
        earlier = request_from(job.request).based_on
        if not earlier:
            return []
        steps: list[StoredStep] = await self._jobs.stored(self._store.steps, earlier)
        older = await self._inherited(await self._jobs.stored(self._store.get, earlier))
        return [*(step.data for step in steps if step.kind == "page"), *older]

    async def _worked(self, job: StoredJob, runner: JobRunner, steps: StepLog) -> None:
        """Work on a job for as long as it is ours."""
        work = asyncio.create_task(self._carried_out(job, runner, steps))
        beat = asyncio.create_task(self._beat(job.id, runner))
        try:
            await asyncio.wait((work, beat), return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                await beat
            await work
        finally:
            await end_task(work)
            await end_task(beat)

    async def _carried_out(self, job: StoredJob, runner: JobRunner, steps: StepLog) -> None:
        plan = plan_from(job.plan) if job.plan else await runner.plan()
        if not job.plan:
            waits = runner.request.wait_for_plan and not runner.stopped
            state = "awaiting_plan" if waits else "running"
            await self._change(job.id, steps, state, plan=plan.as_dict())
            if waits:
                return
        result = await runner.run(plan)
        state = "failed" if result["failed"] else "done"
        if runner.stopped:
            state = "cancelled"
        await self._end(job, steps, state, {**result, "state": state})

    async def _failed(self, job: StoredJob, failure: Failure, steps: StepLog) -> None:
        result = {"id": job.id, "state": "failed", "question": job.question, "failure": failure.as_dict()}
        await self._end(job, steps, "failed", result, failure=failure.as_dict())

    async def _change(
        self, id: str, steps: StepLog, state: str, data: Mapping[str, Any] | None = None, **values: Any
    ) -> None:
        """Change the state of a job that is ours, also where the store is away for a while."""
        await steps.written(partial(self._store.change, id, state_step(state, data), own=True, state=state, **values))
        if state not in ACTIVE:
            self._runners.pop(id, None)
        self._jobs.tell()

    async def _end(self, job: StoredJob, steps: StepLog, state: str, result: Mapping[str, Any], **data: Any) -> None:
        """Store the end of a job, and tell those who wait for it."""
        await self._change(job.id, steps, state, data, result=result)
        await self.webhook.tell(job, state)

    async def _beat(self, id: str, runner: JobRunner) -> None:
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            try:
                if await self._jobs.stored(self._store.beat, id, asdict(runner.progress())):
                    runner.stop()
            except JobTaken:
                if id not in self._runners:
                    return  # It was ended here, and is nobody's.
                raise
            except SuyuanError as error:
                log.warning("research job=%s: no sign of life could be given: %s", id, error.message)
            self._jobs.tell()
