"""``JobRunner``: takes one job from its question to its report, step by step; each step is stored before the next."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from typing import Any

from ..core.causes.research import NO_EVIDENCE
from ..core.failure import Failure
from ..store.research import StoredJob
from . import report
from .author import Author
from .checking import SentenceChecker
from .disagreements import Disagreed, disagreed_from, distinct
from .fair_slots import FairSlots
from .gathering import EvidenceGathering
from .job import Progress
from .ledger import Ledger, build_ledger, ledger_from
from .markdown import MarkdownReport
from .model_calls import ModelCalls
from .plan import ResearchPlan, make_plan, plan_from, refined
from .request import ResearchRequest, request_from
from .section_writer import SectionWriter
from .sentence import Section, cited_ids, section_from
from .settings import ResearchSettings
from .spending import Spending
from .step_log import Done, StepLog
from .web import Web

_GATHERING = 0.7
"""The share of the time that is for searching and reading where a model writes."""


class JobRunner:
    """One job at work in this process."""

    def __init__(
        self,
        job: StoredJob,
        log: StepLog,
        web: Web,
        slots: FairSlots,
        settings: ResearchSettings,
        models: ModelCalls,
        inherited: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.job = job
        self.request: ResearchRequest = request_from(job.request)
        self._log = log
        self._web = web
        self._slots = slots
        self._settings = settings
        self._inherited = inherited
        share = _GATHERING if models.label(self.request.model) else 1.0
        self._spending = Spending(self.request.budget, settings, lambda: log.elapsed, share)
        self._author = Author(self.request, log, models, self._spending)
        self._gathered: asyncio.Task[None] | None = None
        self._used = 0

    @property
    def stopped(self) -> bool:
        """Whether somebody has stopped the job."""
        return "stopped" in self._spending.reached

    def stop(self) -> None:
        """End the gathering; the report is written from what is there."""
        if not self.stopped:
            self._spending.stop()
            if self._gathered is not None:
                self._gathered.cancel()

    def progress(self) -> Progress:
        """How far the job is."""
        pages = self._log.of_kind("page")
        searches = self._log.of_kind("search")
        unread = sum(bool(page.get("failure")) for page in pages)
        return Progress(
            len(searches),
            sum(int(search.get("count") or 0) for search in searches),
            len(pages) - unread,
            unread,
            self._used,
            self._spending.tokens,
            round(self._log.elapsed, 1),
            round(self._spending.money, 4),
        )

    # --- the steps -----------------------------------------------------------------------------------------------
    async def plan(self) -> ResearchPlan:
        """The plan of the job, made once."""
        done = await self._log.once("plan", "plan", self._planned)
        return plan_from(done)

    async def _planned(self) -> dict[str, Any]:
        by_model = None if self.request.outline else await self._author.plan()
        plan = by_model or make_plan(self.request)
        return {**plan.as_dict(), "notice": self._author.failure_data()}

    async def run(self, plan: ResearchPlan) -> dict[str, Any]:
        """Search, read, and write the report; return the finished job as JSON."""
        gathering = await self._gather(plan)
        ledger = await self._ledger(gathering, plan)
        sections, disagreed = await self._sections(plan, ledger)
        return self._result(plan, gathering, ledger, sections, disagreed)

    async def _gather(self, plan: ResearchPlan) -> EvidenceGathering:
        limit = self._log.known("limit")
        if limit is not None:
            # It had come to the end of the gathering before; nothing new is searched for.
            self._spending.close(limit["reached"])
        while self._gathered is None or self._gathered.cancelled():
            # Where somebody has stopped it, the second time only finds again what was done before.
            gathering = EvidenceGathering(
                self.job.id,
                self.request,
                plan,
                self._log,
                self._spending,
                self._web,
                self._slots,
                self._settings.content_farms,
            )
            self._gathered = asyncio.create_task(gathering.gather(self._kept_pages(plan)))
            await self._waited(self._gathered)
        reached = {"reached": list(self._spending.reached)}
        await self._log.once("limit", "limit", lambda: _value(reached))
        return gathering

    async def _waited(self, task: asyncio.Task[None]) -> None:
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            # Either the job was stopped, which cancels the task alone, or all of it ends here.
            if not task.cancelled():
                task.cancel()
                await asyncio.wait([task])
                raise

    def _kept_pages(self, plan: ResearchPlan) -> list[Done]:
        every = list(range(len(plan.sub_questions)))
        return [{**page, "sub_questions": every} for page in self._inherited if page.get("text")]

    async def _ledger(self, gathering: EvidenceGathering, plan: ResearchPlan) -> Ledger:
        async def built() -> dict[str, Any]:
            # In a thread, since many long texts are compared with each other.
            most = self.request.effort.passages
            return asdict(await asyncio.to_thread(build_ledger, gathering.pages, plan, most))

        return ledger_from(await self._log.once("ledger", "ledger", built))

    async def _sections(self, plan: ResearchPlan, ledger: Ledger) -> tuple[list[Section], list[Disagreed]]:
        checker = await asyncio.to_thread(SentenceChecker, ledger)
        writer = SectionWriter(self.request, ledger, checker, self._author)
        sections: list[Section] = []
        disagreed: list[Disagreed] = []
        for at, part in enumerate(plan.sub_questions):
            written = partial(writer.write, at + 1, part.question, ledger.of_sub_question(at), tuple(sections))
            done = await self._log.once(f"section:{at + 1}", "section", written)
            sections.append(section_from(done["section"]))
            disagreed += [disagreed_from(each) for each in done["disagreements"]]
            self._used = len(cited_ids(sections))
        if len(sections) > 1:
            summary = partial(writer.summarise, refined(self.request.question, plan), tuple(sections))
            done = await self._log.once("section:0", "section", summary)
            sections.insert(0, section_from(done["section"]))
        return sections, disagreed

    # --- the result ----------------------------------------------------------------------------------------------
    def _result(
        self,
        plan: ResearchPlan,
        gathering: EvidenceGathering,
        ledger: Ledger,
        sections: Sequence[Section],
        disagreed: Sequence[Disagreed],
    ) -> dict[str, Any]:
        claims = report.claims(sections, ledger)
        kept = [claim for claim in claims if claim["kept"]]
        cited = report.ledger_ids(kept)
        failures = [*self._told_failures(), *self._no_evidence(gathering, ledger)]
        result: dict[str, Any] = {
            "schema_version": report.SCHEMA_VERSION,
            "id": self.job.id,
            "question": self.request.question,
            "lang": self.request.lang,
            "depth": self.request.depth,
            "created_at": self.job.created_at,
            "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "plan": plan.as_dict(),
            "model": self._author.model or "embedded",
            "sections": [asdict(section) for section in sections],
            "claims": claims,
            "disagreements": distinct(disagreed, ledger),
            "figures": report.figures(sections),
            "timeline": report.timeline(ledger, sorted(cited)),
            "ledger": [asdict(row) for row in ledger.rows],
            "sources": [asdict(source) for source in ledger.sources],
            "origins": [asdict(origin) for origin in ledger.origins],
            "receipts": report.receipts(gathering.searches),
            "skipped": list(gathering.skipped),
            "fetch_summaries": report.fetch_summaries(ledger.sources),
            "notices": [failure.as_dict(self.request.lang) for failure in failures],
            "budget": self._budget(gathering),
            "counts": _counts(gathering, ledger, kept, cited),
        }
        result["failed"] = bool(failures) and not ledger.rows
        return {**result, "report": MarkdownReport(result).text()}

    def _told_failures(self) -> list[Failure]:
        """What failed in a step that was then done in another way, each once."""
        steps = [*self._log.of_kind("plan"), *self._log.of_kind("section")]
        found = [Failure.from_dict(step["notice"]) for step in steps if step.get("notice")]
        return list({failure.message(): failure for failure in found}.values())

    def _no_evidence(self, gathering: EvidenceGathering, ledger: Ledger) -> list[Failure]:
        if ledger.rows:
            return []
        failed = [search["failure"] for search in gathering.searches if search.get("failure")]
        failed += [source.error for source in ledger.sources if source.error]
        # Nothing was found, and nothing failed: that is an answer.
        return [NO_EVIDENCE.failure(cause=Failure.from_dict(failed[0]))] if failed else []

    def _budget(self, gathering: EvidenceGathering) -> dict[str, Any]:
        used = {
            "searches": len(gathering.searches),
            "pages": len(gathering.pages),
            "tokens": self._spending.tokens,
            "seconds": round(self._log.elapsed, 1),
            "money": round(self._spending.money, 4),
        }
        return {"limits": asdict(self.request.budget), "used": used, "reached": list(self._spending.reached)}


async def _value(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return data


def _counts(
    gathering: EvidenceGathering, ledger: Ledger, kept: Sequence[Mapping[str, Any]], cited: set[int]
) -> dict[str, int]:
    rows = [row for row in ledger.rows if row.id in cited]
    return {
        "searches": len(gathering.searches),
        "found": sum(int(search.get("count") or 0) for search in gathering.searches),
        "read": sum(source.status == "read" for source in ledger.sources),
        "unread": sum(source.status != "read" for source in ledger.sources),
        "used": len({row.source for row in rows}),
        "origins": len({row.origin for row in rows}),
        "sentences": len(kept),
        "supported": sum(claim["verdict"] == "supported" for claim in kept),
    }
