"""Tavily's ``/research``: a research job of ours, in the shapes that Tavily's clients know."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import Request
from fastapi.responses import Response

from ...core.causes.asked import BAD_ARGUMENT
from ...messages.catalog import Text
from ...research.bibliography import cited_sources
from ...research.job import ENDED
from ...research.report import Research
from ...store.research import StoredJob
from ..orjson_response import OrjsonResponse
from .shared import ForeignCall, Wanted
from .tavily import FOR_NOBODY

_DEPTHS = {"mini": "quick", "auto": "normal", "pro": "deep"}
_STATES = {"done": "completed", "cancelled": "completed", "failed": "failed", "queued": "pending"}


class Wish(Wanted):
    """A research task of a Tavily client."""

    input: str
    model: Literal["mini", "pro", "auto"] = "auto"
    stream: bool = False
    citation_format: Literal["numbered", "mla", "apa", "chicago"] = "numbered"


async def create(request: Request) -> Response:
    """Begin a task; its report is asked for later."""
    call = ForeignCall(request)
    body = await Wish.of(request)
    if body.stream:
        # Our events have another shape; a client that waits for Tavily's would wait for ever.
        raise BAD_ARGUMENT(name="stream", why=Text("input.detail.no_stream"))
    job = await call.client.research_service.create(body.input, {"depth": _DEPTHS[body.model]})
    content = {**_base(call, job), "status": "pending", "input": body.input, "model": body.model}
    lost = ["citation_format"] if body.citation_format != "numbered" else []
    return OrjsonResponse({**content, "suyuan": call.said([*lost, *body.not_honoured(ignored=FOR_NOBODY)])})


async def get(request: Request, id: str) -> Response:
    """How far a task is: 202 while it runs, then its report and its sources."""
    call = ForeignCall(request)
    job = await call.client.research_service.get(id)
    content = {**_base(call, job), "status": _STATES.get(job.state, "in_progress")}
    if job.state not in ENDED:
        return OrjsonResponse(content, 202)
    found = Research.of(job)
    if found.report:
        sources = cited_sources(found.as_dict())
        content["content"] = found.report
        content["sources"] = [{"title": each["title"], "url": each["final_url"], "favicon": None} for each in sources]
    return OrjsonResponse(content)


def _base(call: ForeignCall, job: StoredJob) -> dict[str, Any]:
    return {"request_id": job.id, "created_at": job.created_at, "response_time": call.seconds}
