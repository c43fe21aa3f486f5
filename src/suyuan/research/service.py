"""``ResearchService``: creates, runs, stops and resumes research jobs, and lets any number of readers follow them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from time import time_ns
from typing import TYPE_CHECKING, Any, TypeVar

from ..core.causes.chat import UNEXPECTED
from ..core.causes.research import NO_RESEARCH, RESEARCH_STATE
from ..core.causes.store import STORE_SLOW, StoreError
from ..core.errors import SuyuanError
from ..core.failure import Failure
from ..core.person import Person, current_person
from ..core.tasks import end_task
from ..store.research import ACTIVE, JobTaken, ResearchStore, Step, StoredJob, StoredStep
from .fair_slots import FairSlots
from .job import ENDED, RESUMABLE
from .model_calls import ModelCalls
from .plan import plan_from, with_answers
from .queue import JobQueue, LocalQueue, StoredQueue
from .request import ResearchRequest, request_from
from .runner import JobRunner
from .settings import ResearchSettings
from .step_log import StepLog
from .web import Web

if TYPE_CHECKING:
    from ..live.nudges import Nudges

log = logging.getLogger("suyuan.research")

_PARALLEL = 16
"""Searches and pages of all jobs together that are under way at once."""
_BEAT_SECONDS = 2.0
_THREADS = 4
_PATIENCE_SECONDS = 10.0
"""How long a request waits for a store that does not respond."""
_WEBHOOK_SECONDS = 15.0
_POLL_SECONDS = 1.0
_PAUSE = 0.2
_TEXTS = ("text", "results", "rows", "said")
"""What is too large for an event."""

T = TypeVar("T")
Post = Callable[[str, bytes], Awaitable[Any]]
"""Sends JSON to an address that may be reached."""


class ResearchService:
    """All jobs of one store; those that are started here run here, several at once."""

    def __init__(
        self,
        store: ResearchStore,
        web: Web,
        settings: ResearchSettings,
        models: ModelCalls | None = None,
        *,
        post: Post | None = None,
        nudges: Nudges | None = None,
        check: Callable[..., None] | None = None,
    ) -> None:
        self.store = store
        self._web = web
        self._settings = settings
        self._models = models or ModelCalls({}, "")
        self._queue: JobQueue = LocalQueue()
        self._post = post
        self._nudges = nudges
        self._check = check
        self._slots = FairSlots(_PARALLEL)
        # SQLite has one writer; several threads would only wait for each other.
        self._pen = ThreadPoolExecutor(_THREADS if store.shared else 1, "suyuan-research")
        self._runners: dict[str, JobRunner] = {}
        self._own: set[str] = set()
        """The jobs that this process works on, from before it claims them."""
        self._workers: list[asyncio.Task[None]] = []
        self._telling: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()
        if nudges is not None:
            nudges.on("research", self._nudged)

    def serve(self) -> None:
        """Take the jobs that nobody works on, where the store is shared; until the service is closed."""
        if self.store.shared and not isinstance(self._queue, StoredQueue):
            self._queue = StoredQueue(self.store, self._stored, lambda: list(self._own))
            # Those that wait at the queue of this process, if there are any, end what they have.
            self._workers += self._new_workers()

    # --- what callers want ---------------------------------------------------------------------------------------
    async def create(self, question: str, options: Mapping[str, Any] | None = None) -> StoredJob:
        """Create a job of the person who asks, and queue it."""
        request = ResearchRequest.of(question, options)
        if self._check is not None:
            self._check(model=request.model, engine=request.scope.engines, focus=request.scope.focus)
        if request.based_on:
            await self.get(request.based_on)
        job: StoredJob = await self._stored(
            self.store.create, request.question, request.as_dict(), current_person.get().id
        )
        await self._put(job.id)
        return job

    async def get(self, id: str) -> StoredJob:
        """One job of the person who asks; raises a cause if there is none."""
        job: StoredJob = await self._stored(self.store.get, id)
        if job.person != current_person.get().id:
            raise NO_RESEARCH(id=id[:40])
        return job

    async def find(self, *, limit: int = 50, offset: int = 0) -> list[StoredJob]:
        """The jobs of the person who asks, the newest first; those of dead processes are left before."""
        person = current_person.get().id
        await self._stored(self.store.sweep, list(self._own))
        return await self._stored(lambda: self.store.find(person=person, limit=limit, offset=offset))

    async def edit(self, id: str, plan: Mapping[str, Any]) -> StoredJob:
        """Put another plan in place of the one that waits to be accepted."""
        await self._expect(id, "awaiting_plan")
        await self._stored(lambda: self.store.change(id, plan={**plan_from(plan).as_dict(), "by": "user"}))
        self._tell()
        return await self.get(id)

    async def accept(self, id: str, plan: Mapping[str, Any] | None = None) -> StoredJob:
        """Run a job with its plan, or with another one."""
        if plan is not None:
            await self.edit(id, plan)
        job = await self._expect(id, "awaiting_plan")
        settled = with_answers(job.question, plan_from(job.plan or {})).as_dict()
        await self._stored(lambda: self.store.change(id, state="queued", plan=settled))
        await self._put(id)
        return await self.get(id)

    async def stop(self, id: str) -> StoredJob:
        """Stop a job, in whichever process it runs; its report is written from what is there."""
        job = await self.get(id)
        if job.state in ACTIVE:
            await self._stored(lambda: self.store.change(id, stopping=True))
            if runner := self._runners.get(id):
                runner.stop()
            else:
                await self._nudge(id)
        elif job.state not in ENDED:
            await self._change_state(id, "cancelled")
        return await self.get(id)

    async def resume(self, id: str) -> StoredJob:
        """Go on with a job that was interrupted or has failed; what was done is not done again."""
        await self._stored(self.store.sweep, list(self._own))
        job = await self._expect(id, *RESUMABLE)
        if job.state == "failed":
            await self._stored(self.store.forget, id, await self._to_repeat(id))
        await self._stored(lambda: self.store.change(id, state="queued", stopping=False))
        await self._put(id)
        return await self.get(id)

    async def remove(self, id: str) -> None:
        """Remove a job that does not run."""
        job = await self.get(id)
        if job.state in ACTIVE:
            raise RESEARCH_STATE(id=id, state=job.state, wanted=", ".join(ENDED))
        await self._stored(self.store.remove, id)

    async def wait(self, id: str) -> StoredJob:
        """Wait until a job has ended, waits for its plan, or was interrupted."""
        while True:
            news = self._news
            job = await self.get(id)
            if job.state in (*ENDED, "interrupted", "awaiting_plan"):
                return job
            await _either(news.wait(), _POLL_SECONDS)

    async def follow(self, id: str, after: int = -1) -> AsyncIterator[tuple[int | None, dict[str, Any]]]:
        """The events of a job after number ``after``, then new ones as they happen; progress has no number."""
        last: dict[str, Any] = {}
        while True:
            news = self._news
            job = await self.get(id)
            for step in await self._stored(self.store.steps, id, after):
                after = step.seq
                yield step.seq, event_of(step)
            if job.state in (*ENDED, "interrupted"):
                yield None, {"kind": "end", "state": job.state, "id": id}
                return
            runner = self._runners.get(id)
            progress = asdict(runner.progress()) if runner else job.progress
            if progress and progress != last:
                last = progress
                yield None, {"kind": "progress", "state": job.state, **progress, "budget": job.request["budget"]}
            await _either(news.wait(), _POLL_SECONDS)

    async def close(self) -> None:
        """Leave what runs here: it can be resumed, and where the store is shared another worker goes on with it."""
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, *self._telling, return_exceptions=True)
        await self._models.close()
        # A database that does not answer must not keep the process from ending.
        self._pen.shutdown(wait=not self.store.shared, cancel_futures=self.store.shared)
        self.store.close()

    # --- working -------------------------------------------------------------------------------------------------
    async def _put(self, id: str) -> None:
        if not self._workers:
            self._workers = self._new_workers()
        await self._queue.put(id)
        await self._nudge(id)
        self._tell()

    def _new_workers(self) -> list[asyncio.Task[None]]:
        return [asyncio.create_task(self._work(), name=f"research-{n}") for n in range(self._settings.jobs)]

    async def _work(self) -> None:
        while True:
            id = await self._queue.get()
            if id in self._own:
                # Another task of this process is about to claim it, or has not quite left it.
                await asyncio.sleep(_PAUSE)
                await self._queue.put(id)
                continue
            self._own.add(id)
            try:
                await self._run(id)
            except SuyuanError as error:
                log.warning("research job=%s: %s", id, error.message)
            except JobTaken:
                log.warning("research job=%s: another worker goes on with it", id)
            finally:
                self._own.discard(id)

    async def _run(self, id: str) -> None:
        """Run one job to its end, to its plan, or to a failure."""
        job: StoredJob = await self._stored(self.store.get, id)
        # What it reads goes to the archive of the one whose job it is.
        current_person.set(Person(job.person, ""))
        state = "running" if job.plan else "planning"
        if not await self._stored(self.store.claim, id, state):
            return
        steps = StepLog(self.store, id, self._pen, self._tell)
        try:
            await steps.load()
            inherited = await self._inherited(job)
            runner = JobRunner(job, steps, self._web, self._slots, self._settings, self._models, inherited)
            self._runners[id] = runner
            await steps.written(self.store.keep, id, [_state_step(state, {})])
            await self._worked(job, runner, steps)
        except asyncio.CancelledError:
            await steps.close()
            with contextlib.suppress(SuyuanError):
                await self._stored(self.store.release, id)
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
            self._tell()

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
            await self._own_change(job.id, steps, state, plan=plan.as_dict())
            if waits:
                return
        result = await runner.run(plan)
        state = "cancelled" if runner.stopped else "failed" if result["failed"] else "done"
        await self._end(job.id, steps, state, {**result, "state": state})

    async def _failed(self, job: StoredJob, failure: Failure, steps: StepLog) -> None:
        result = {"id": job.id, "state": "failed", "question": job.question, "failure": failure.as_dict()}
        await self._end(job.id, steps, "failed", result, failure=failure.as_dict())

    async def _own_change(
        self, id: str, steps: StepLog, state: str, data: Mapping[str, Any] | None = None, **values: Any
    ) -> None:
        """Change the state of a job that is ours, also where the store is away for a while."""
        step = _state_step(state, data or {})
        await steps.written(partial(self.store.change, id, step, own=True, state=state, **values))
        if state not in ACTIVE:
            self._runners.pop(id, None)
        self._tell()

    async def _end(self, id: str, steps: StepLog, state: str, result: Mapping[str, Any], **data: Any) -> None:
        """Store the end of a job, and tell those who wait for it."""
        await self._own_change(id, steps, state, data, result=result)
        # Not cancelled with the worker: the client may be closed as soon as the job is done.
        telling = asyncio.create_task(self._tell_webhook(id, state))
        self._telling.add(telling)
        telling.add_done_callback(self._telling.discard)
        await asyncio.shield(telling)

    async def _tell_webhook(self, id: str, state: str) -> None:
        address = request_from((await self.get(id)).request).webhook
        if not address or self._post is None:
            return
        try:
            async with asyncio.timeout(_WEBHOOK_SECONDS):
                await self._post(address, json.dumps({"id": id, "state": state}).encode())
        except (SuyuanError, TimeoutError) as error:
            log.warning("research job=%s: the webhook was not told: %s", id, error)
            told = _state_step(state, {"webhook": str(error) or type(error).__name__})
            await self._stored(self.store.keep, id, [told])

    async def _change_state(self, id: str, state: str, **values: Any) -> None:
        """Change the state, and store that among the steps, so that readers see it in its order."""
        await self._stored(lambda: self.store.change(id, _state_step(state, {}), state=state, **values))
        self._tell()

    async def _beat(self, id: str, runner: JobRunner) -> None:
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            try:
                if await self._stored(self.store.beat, id, asdict(runner.progress())):
                    runner.stop()
            except JobTaken:
                if id not in self._runners:
                    return  # It was ended here, and is nobody's.
                raise
            except SuyuanError as error:
                log.warning("research job=%s: no sign of life could be given: %s", id, error.message)
            self._tell()

    async def _nudge(self, id: str) -> None:
        """Tell the other workers that a job waits or shall stop; they would see it in a moment anyway."""
        if self._nudges is not None:
            await self._nudges.send("research", id=id)

    async def _nudged(self, message: Mapping[str, Any]) -> None:
        id = str(message.get("id"))
        if isinstance(self._queue, StoredQueue):
            await self._queue.put(id)
        if (runner := self._runners.get(id)) and (await self._stored(self.store.get, id)).stopping:
            runner.stop()

    async def _inherited(self, job: StoredJob) -> list[dict[str, Any]]:
        """The pages that an earlier job has read."""
        earlier = request_from(job.request).based_on
        if not earlier:
            return []
        steps: list[StoredStep] = await self._stored(self.store.steps, earlier)
        older = await self._inherited(await self.get(earlier))
        return [*(step.data for step in steps if step.kind == "page"), *older]

    async def _to_repeat(self, id: str) -> list[str]:
        """The steps of a failed job that failed, and what was made of them."""
        steps: list[StoredStep] = await self._stored(self.store.steps, id)
        return [
            step.key
            for step in steps
            if step.data.get("failure") or step.kind in ("limit", "ledger", "section") and step.kind != "state"
        ]

    async def _expect(self, id: str, *states: str) -> StoredJob:
        job = await self.get(id)
        if job.state not in states:
            raise RESEARCH_STATE(id=id, state=job.state, wanted=", ".join(states))
        return job

    async def _stored(self, work: Callable[..., T], *args: Any) -> T:
        future = asyncio.get_running_loop().run_in_executor(self._pen, work, *args)
        try:
            return await asyncio.wait_for(future, _PATIENCE_SECONDS)
        except TimeoutError:
            raise STORE_SLOW(seconds=_PATIENCE_SECONDS) from None

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


def _state_step(state: str, data: Mapping[str, Any]) -> Step:
    return f"state:{time_ns()}", "state", {"state": state, **data}


def event_of(step: StoredStep) -> dict[str, Any]:
    """A step as readers see it: without the texts of pages."""
    data = {name: value for name, value in step.data.items() if name not in _TEXTS}
    if step.kind == "ledger":
        data |= {"rows": len(step.data["rows"]), "sources": len(step.data["sources"])}
    return {"kind": step.kind, "at": step.at, **data}


async def _either(waiting: Awaitable[Any], seconds: float) -> None:
    task = asyncio.ensure_future(waiting)
    try:
        await asyncio.wait([task], timeout=seconds)
    finally:
        task.cancel()
