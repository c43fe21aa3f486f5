"""``ResearchService``: creates, runs, stops and resumes research jobs, and lets any number of readers follow them."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from time import time_ns
from typing import Any, TypeVar

from ..core.causes.chat import UNEXPECTED
from ..core.causes.research import NO_RESEARCH, RESEARCH_STATE
from ..core.errors import SuyuanError
from ..core.failure import Failure
from ..core.person import Person, current_person
from ..store.research import ACTIVE, Step, StoredJob, StoredStep
from .fair_slots import FairSlots
from .job import ENDED, RESUMABLE, JobQueue, JobStore
from .model_calls import ModelCalls
from .plan import Plan, plan_from
from .request import ResearchRequest, request_from
from .runner import JobRunner
from .settings import ResearchSettings
from .step_log import StepLog
from .web import Web

log = logging.getLogger("suyuan.research")

_PARALLEL = 16
"""Searches and pages of all jobs together that are under way at once."""
_BEAT_SECONDS = 2.0
_WEBHOOK_SECONDS = 15.0
_POLL_SECONDS = 1.0
_TEXTS = ("text", "results", "rows", "said")
"""What is too large for an event."""

T = TypeVar("T")
Post = Callable[[str, bytes], Awaitable[Any]]
"""Sends JSON to an address that may be reached."""


class LocalQueue:
    """The queue of one process."""

    def __init__(self) -> None:
        self._jobs: asyncio.Queue[str] = asyncio.Queue()

    async def put(self, job: str) -> None:
        """Add a job."""
        await self._jobs.put(job)

    async def get(self) -> str:
        """Wait for the next job and take it."""
        return await self._jobs.get()


class ResearchService:
    """All jobs of one store; those that are started here run here, several at once."""

    def __init__(
        self,
        store: JobStore,
        web: Web,
        settings: ResearchSettings,
        models: ModelCalls | None = None,
        *,
        queue: JobQueue | None = None,
        post: Post | None = None,
    ) -> None:
        self.store = store
        self._web = web
        self._settings = settings
        self._models = models or ModelCalls({}, "")
        self._queue: JobQueue = queue or LocalQueue()
        self._post = post
        self._slots = FairSlots(_PARALLEL)
        # SQLite has one writer; several threads would only wait for each other.
        self._pen = ThreadPoolExecutor(1, "suyuan-research")
        self._runners: dict[str, JobRunner] = {}
        self._workers: list[asyncio.Task[None]] = []
        self._telling: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()
        self._closed = False

    # --- what callers want ---------------------------------------------------------------------------------------
    async def create(self, question: str, options: Mapping[str, Any] | None = None) -> StoredJob:
        """Create a job of the person who asks, and queue it."""
        request = ResearchRequest.of(question, options)
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
        """The jobs of the person who asks, the newest first; those of dead processes are marked as interrupted."""
        person = current_person.get().id
        await self._stored(self.store.sweep)
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
        await self._expect(id, "awaiting_plan")
        await self._stored(lambda: self.store.change(id, state="queued"))
        await self._put(id)
        return await self.get(id)

    async def stop(self, id: str) -> StoredJob:
        """Stop a job, in whichever process it runs; its report is written from what is there."""
        job = await self.get(id)
        if job.state in ACTIVE:
            await self._stored(lambda: self.store.change(id, stopping=True))
            if runner := self._runners.get(id):
                runner.stop()
        elif job.state not in ENDED:
            await self._change_state(id, "cancelled")
        return await self.get(id)

    async def resume(self, id: str) -> StoredJob:
        """Go on with a job that was interrupted or has failed; what was done is not done again."""
        await self._stored(self.store.sweep)
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
            if (runner := self._runners.get(id)) and (progress := asdict(runner.progress())) != last:
                last = progress
                yield None, {"kind": "progress", "state": job.state, **progress, "budget": job.request["budget"]}
            await _either(news.wait(), _POLL_SECONDS)

    async def close(self) -> None:
        """Interrupt what runs here; it can be resumed."""
        self._closed = True
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, *self._telling, return_exceptions=True)
        await self._models.close()
        self._pen.shutdown(wait=True)
        self.store.close()

    # --- working -------------------------------------------------------------------------------------------------
    async def _put(self, id: str) -> None:
        if not self._workers:
            self._workers = [
                asyncio.create_task(self._work(), name=f"research-{n}") for n in range(self._settings.jobs)
            ]
        await self._queue.put(id)
        self._tell()

    async def _work(self) -> None:
        while True:
            id = await self._queue.get()
            try:
                await self._run(id)
            except SuyuanError as error:
                log.warning("research job=%s: %s", id, error.message)

    async def _run(self, id: str) -> None:
        """Run one job to its end, to its plan, or to a failure."""
        job: StoredJob = await self._stored(self.store.get, id)
        # What it reads goes to the archive of the one whose job it is.
        current_person.set(Person(job.person, ""))
        state = "running" if job.plan else "planning"
        if not await self._stored(lambda: self.store.claim(id, state, of=("queued",))):
            return
        steps = StepLog(self.store, id, self._pen, self._tell)
        beat: asyncio.Task[None] | None = None
        try:
            await steps.load()
            inherited = await self._inherited(job)
            runner = JobRunner(job, steps, self._web, self._slots, self._settings, self._models, inherited)
            self._runners[id] = runner
            beat = asyncio.create_task(self._beat(id, runner))
            await self._stored(self.store.keep, id, [_state_step(state, {})])
            await self._carried_out(job, runner)
        except asyncio.CancelledError:
            await steps.close()
            self.store.interrupt(id)
            raise
        except SuyuanError as error:
            await self._failed(job, error.failure)
        except Exception as error:
            # The outermost edge of a background task: the steps are kept, and the job can be resumed.
            log.exception("research job=%s", id)
            await self._failed(job, UNEXPECTED.failure(what=type(error).__name__, run=id))
        finally:
            if beat is not None:
                beat.cancel()
            self._runners.pop(id, None)
            await steps.close()
            self._tell()

    async def _carried_out(self, job: StoredJob, runner: JobRunner) -> None:
        id = job.id
        plan = plan_from(job.plan) if job.plan else await runner.plan()
        if not job.plan:
            waits = runner.request.wait_for_plan and not runner.stopped
            state = "awaiting_plan" if waits else "running"
            await self._change_state(id, state, plan=plan.as_dict())
            if waits:
                return
        result = await runner.run(plan)
        state = "cancelled" if runner.stopped else "failed" if result["failed"] else "done"
        await self._end(id, state, {**result, "state": state})

    async def _failed(self, job: StoredJob, failure: Failure) -> None:
        result = {"id": job.id, "state": "failed", "question": job.question, "failure": failure.as_dict()}
        await self._end(job.id, "failed", result, failure=failure.as_dict())

    async def _end(self, id: str, state: str, result: Mapping[str, Any], **data: Any) -> None:
        """Store the end of a job, and tell those who wait for it."""
        await self._stored(lambda: self.store.change(id, _state_step(state, data), state=state, result=result))
        self._tell()
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
            if await self._stored(self.store.beat, id):
                runner.stop()
            self._tell()

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
        return await asyncio.get_running_loop().run_in_executor(self._pen, work, *args)

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


def plan_of(job: StoredJob) -> Plan | None:
    """The plan of a job, if it has one."""
    return plan_from(job.plan) if job.plan else None


async def _either(waiting: Awaitable[Any], seconds: float) -> None:
    task = asyncio.ensure_future(waiting)
    try:
        await asyncio.wait([task], timeout=seconds)
    finally:
        task.cancel()
