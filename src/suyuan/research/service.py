"""``ResearchService``: creates, runs, stops and resumes research jobs, and lets any number of readers follow them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..core.allowance import FOR_A_JOB, current_allowance
from ..core.causes.research import NO_PRICE, NO_RESEARCH, RESEARCH_STATE
from ..core.person import owner, require
from ..store.research import ACTIVE, ResearchStore, StoredJob, StoredStep
from .job import ENDED, RESUMABLE
from .job_store import JobStore, changed, state_step
from .model_calls import ModelCalls
from .plan import plan_from, with_answers
from .request import ResearchRequest
from .settings import ResearchSettings
from .web import Web
from .webhook import Post, Webhook
from .workers import JobWorkers

if TYPE_CHECKING:
    from ..live.nudges import Notifications

_TEXTS = ("text", "results", "rows", "said")
"""What is too large for an event."""


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
        notifications: Notifications | None = None,
        check: Callable[..., None] | None = None,
    ) -> None:
        self.store = store
        self._jobs = JobStore(store)
        self._stored, self._tell = self._jobs.stored, self._jobs.tell
        self.workers = JobWorkers(self._jobs, web, settings, models or ModelCalls(dict, ""), Webhook(self._jobs, post))
        self._notifications = notifications
        self._check = check
        self._has_prices = bool(settings.search_price or settings.token_price)
        if notifications is not None:
            notifications.on("research", lambda message: self.workers.nudged(str(message.get("id"))))

    def serve(self) -> None:
        """Take the jobs that nobody works on, where the store is shared; until the service is closed."""
        self.workers.serve()

    async def create(self, question: str, options: Mapping[str, Any] | None = None) -> StoredJob:
        """Create a job of the person who asks, and queue it."""
        person = _researcher()
        request = ResearchRequest.of(question, options)
        if request.budget.money and not self._has_prices:
            raise NO_PRICE(money=request.budget.money)
        if self._check is not None:
            self._check(model=request.model, engine=request.scope.engines, focus=request.scope.focus)
        if request.based_on:
            await self.get(request.based_on)
        await current_allowance.get().take("answers", *FOR_A_JOB)
        job: StoredJob = await self._stored(self.store.create, request.question, request.as_dict(), person)
        await self._put(job.id)
        return job

    async def get(self, id: str) -> StoredJob:
        """One job of the person who asks; raises a cause if there is none."""
        job: StoredJob = await self._stored(self.store.get, id)
        if job.person != owner():
            raise NO_RESEARCH(id=id[:40])
        return job

    async def find(self, *, limit: int = 50, offset: int = 0) -> list[StoredJob]:
        """The jobs of the person who asks, the newest first; those of dead processes are left before."""
        person = owner()
        await self._stored(self.store.sweep, list(self.workers.own))
        return await self._stored(lambda: self.store.find(person=person, limit=limit, offset=offset))

    async def edit(self, id: str, plan: Mapping[str, Any]) -> StoredJob:
        """Put another plan in place of the one that waits to be accepted."""
        await self._expect(id, "awaiting_plan")
        await self._stored(lambda: self.store.change(id, plan={**plan_from(plan).as_dict(), "by": "user"}))
        self._tell()
        return await self.get(id)

    async def accept(self, id: str, plan: Mapping[str, Any] | None = None) -> StoredJob:
        """Run a job with its plan, or with another one."""
        _researcher()
        await self._expect(id, "awaiting_plan")
        # It was counted as an answer when it was created; what it needs now must be left.
        await current_allowance.get().check(*FOR_A_JOB)
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
            if runner := self.workers.runner(id):
                runner.stop()
            else:
                await self._nudge(id)
        elif job.state not in ENDED:
            # Also among the steps, so that readers see it in its order.
            await self._stored(lambda: self.store.change(id, state_step("cancelled"), state="cancelled"))
            self._tell()
        return await self.get(id)

    async def resume(self, id: str) -> StoredJob:
        """Go on with a job that was interrupted or has failed; what was done is not done again."""
        _researcher()
        await self._stored(self.store.sweep, list(self.workers.own))
        job = await self._expect(id, *RESUMABLE)
        await current_allowance.get().take("answers", *FOR_A_JOB)
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
            news = self._jobs.news
            job = await self.get(id)
            if job.state in (*ENDED, "interrupted", "awaiting_plan"):
                return job
            await changed(news)

    async def follow(self, id: str, after: int = -1) -> AsyncIterator[tuple[int | None, dict[str, Any]]]:
        """The events of a job after number ``after``, then new ones as they happen; progress has no number."""
        last: dict[str, Any] = {}
        while True:
            news = self._jobs.news
            job = await self.get(id)
            for step in await self._stored(self.store.steps, id, after):
                after = step.seq
                yield step.seq, event_of(step)
            if job.state in (*ENDED, "interrupted"):
                yield None, {"kind": "end", "state": job.state, "id": id}
                return
            runner = self.workers.runner(id)
            progress = asdict(runner.progress()) if runner else job.progress
            if progress and progress != last:
                last = progress
                yield None, {"kind": "progress", "state": job.state, **progress, "budget": job.request["budget"]}
            await changed(news)

    async def close(self) -> None:
        """Leave what runs here: it can be resumed, and where the store is shared another worker goes on with it."""
        await self.workers.close()
        self._jobs.close()

    async def _put(self, id: str) -> None:
        await self.workers.put(id)
        await self._nudge(id)
        self._tell()

    async def _nudge(self, id: str) -> None:
        """Tell the other workers that a job waits or shall stop; they would see it in a moment anyway."""
        if self._notifications is not None:
            await self._notifications.send("research", id=id)

    async def _to_repeat(self, id: str) -> list[str]:
        """The steps of a failed job that failed, and what was made of them."""
        steps: list[StoredStep] = await self._stored(self.store.steps, id)
        made = ("limit", "ledger", "section")
        return [step.key for step in steps if step.data.get("failure") or step.kind in made]

    async def _expect(self, id: str, *states: str) -> StoredJob:
        job = await self.get(id)
        if job.state not in states:
            raise RESEARCH_STATE(id=id, state=job.state, wanted=", ".join(states))
        return job


def _researcher() -> str:
    """Whose job is begun or goes on: it searches, reads and writes for them, without asking again."""
    return require("search", "read", "chat").id


def event_of(step: StoredStep) -> dict[str, Any]:
    """A step as readers see it: without the texts of pages."""
    data = {name: value for name, value in step.data.items() if name not in _TEXTS}
    if step.kind == "ledger":
        data |= {"rows": len(step.data["rows"]), "sources": len(step.data["sources"])}
    return {"kind": step.kind, "at": step.at, **data}
