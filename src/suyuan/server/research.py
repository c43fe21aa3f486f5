"""Research jobs over HTTP: create, plan, follow, stop, resume, export, verify."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from ..core.file_names import attachment, file_stem
from ..research.export import export
from ..research.forms import FORMS
from ..research.report import Research
from ..research.request import Depth
from ..research.service import ResearchService
from ..research.verify import verify
from ..store.research import StoredJob
from .api import EVENTS, FAILURES, client_from, last_seen
from .schemas import example
from .sse import EventStream, message

router = APIRouter(prefix="/api/research", responses=FAILURES, tags=["research"])


class ScopeIn(BaseModel):
    """Where is searched; what is missing is left open."""

    model_config = ConfigDict(extra="forbid")
    focus: str = ""
    languages: Annotated[list[str], Field(max_length=50, fail_fast=True)] = []
    allowed_domains: Annotated[list[str], Field(max_length=50, fail_fast=True)] = []
    blocked_domains: Annotated[list[str], Field(max_length=50, fail_fast=True)] = []
    freshness: str = ""
    engines: Annotated[str, Field(max_length=200)] = ""


class BudgetIn(BaseModel):
    """Limits in place of those of the depth; reaching one forces the report."""

    model_config = ConfigDict(extra="forbid")
    searches: int | None = None
    pages: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    money: float | None = None


class NewResearch(BaseModel):
    """A question and how far it may go."""

    model_config = example(question="How tall is the Gull Point Lighthouse?", depth="quick", wait_for_plan=True)
    question: str = Field(max_length=2000)
    depth: Depth = "normal"
    lang: Literal["", "en", "zh"] = ""
    scope: ScopeIn = ScopeIn()
    budget: BudgetIn = BudgetIn()
    outline: list[str] = Field([], max_length=100, fail_fast=True)
    model: str = Field("", max_length=200)
    wait_for_plan: bool = Field(False, description="Stop in the state awaiting_plan until the plan is accepted.")
    webhook: str = Field("", max_length=2000)
    based_on: str = Field("", max_length=40, description="An earlier job whose ledger is looked into first.")


class SubQuestionIn(BaseModel):
    """A part of the question and its searches."""

    question: str = Field(max_length=300)
    queries: list[str] = Field([], max_length=50, fail_fast=True)
    focus: str = ""


class ClarificationIn(BaseModel):
    """A question back, and what was answered."""

    question: str = Field(max_length=300)
    answer: str = Field("", max_length=300)


class PlanIn(BaseModel):
    """A plan."""

    sub_questions: list[SubQuestionIn] = Field(max_length=50, fail_fast=True)
    clarifications: list[ClarificationIn] = Field([], max_length=50, fail_fast=True)
    by: str = ""


class Start(BaseModel):
    """The plan to run; none for the one that the job has."""

    plan: PlanIn | None = None


class JobOut(BaseModel):
    """A job without its report."""

    id: str
    question: str
    state: str = Field(description="queued, planning, awaiting_plan, running, interrupted, done, failed or cancelled.")
    created_at: str
    updated_at: str
    request: dict[str, Any]
    plan: dict[str, Any] | None
    stopping: bool


class JobList(BaseModel):
    """Jobs, the newest first."""

    jobs: list[JobOut]
    more: bool


def _service(request: Request) -> ResearchService:
    return client_from(request).research_service


def job_view(job: StoredJob) -> dict[str, Any]:
    """A job as the API shows it."""
    return {name: getattr(job, name) for name in JobOut.model_fields}


@router.post("", status_code=202, response_model=JobOut)
async def create_research(request: Request, body: NewResearch) -> dict[str, Any]:
    """Create a job; it runs whether or not a client follows it."""
    return job_view(await _service(request).create(body.question, body.model_dump(exclude={"question"})))


@router.get("", response_model=JobList)
async def list_research(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> dict[str, Any]:
    """The jobs, newest first."""
    found = await _service(request).find(limit=limit + 1, offset=offset)
    return {"jobs": [job_view(job) for job in found[:limit]], "more": len(found) > limit}


@router.get("/{id}")
async def get_research(request: Request, id: str) -> dict[str, Any]:
    """A job with its report, ledger, sources, claims, disagreements and receipts, as far as it has come."""
    job = await _service(request).get(id)
    return {**job_view(job), **Research.of(job).as_dict()}


@router.delete("/{id}", status_code=204)
async def remove_research(request: Request, id: str) -> Response:
    """Remove a job that does not run."""
    await _service(request).remove(id)
    return Response(status_code=204)


@router.put("/{id}/plan", response_model=JobOut)
async def edit_plan(request: Request, id: str, body: PlanIn) -> dict[str, Any]:
    """Replace the plan of a job in the state awaiting_plan."""
    return job_view(await _service(request).edit(id, body.model_dump()))


@router.post("/{id}/start", status_code=202, response_model=JobOut)
async def start_research(request: Request, id: str, body: Start | None = None) -> dict[str, Any]:
    """Accept the plan, or another one, and run the job."""
    plan = body.plan.model_dump() if body and body.plan else None
    return job_view(await _service(request).accept(id, plan))


@router.post("/{id}/stop", response_model=JobOut)
async def stop_research(request: Request, id: str) -> dict[str, Any]:
    """End the gathering; the report is written from what is there."""
    return job_view(await _service(request).stop(id))


@router.post("/{id}/resume", status_code=202, response_model=JobOut)
async def resume_research(request: Request, id: str) -> dict[str, Any]:
    """Go on with a job that was interrupted or has failed."""
    return job_view(await _service(request).resume(id))


@router.get("/{id}/events", responses=EVENTS, response_class=Response)
async def follow_research(request: Request, id: str) -> Response:
    """The steps of a job as events; ``Last-Event-ID`` (or ``?after=``) continues after that step."""
    await _service(request).get(id)
    return EventStream(_events(_service(request), id, last_seen(request)))


async def _events(service: ResearchService, id: str, after: int) -> AsyncIterator[bytes]:
    async for number, event in service.follow(id, after):
        yield message(event, event=event["kind"], id="" if number is None else number)


@router.get("/{id}/export", response_class=Response)
async def export_research(request: Request, id: str, form: str = "md") -> Response:
    """The report as a file."""
    found = Research.of(await _service(request).get(id))
    data = await export(found.as_dict(), form, client_from(request).network)
    named = {"Content-Disposition": attachment(f"{file_stem(found.question)}.{form}")}
    return Response(data, media_type=FORMS[form], headers=named)


@router.post("/{id}/verify")
async def verify_research(request: Request, id: str) -> dict[str, Any]:
    """Read the pages of a report again, and say which claims still hold."""
    found = Research.of(await _service(request).get(id))
    return await verify(found.as_dict(), client_from(request))
