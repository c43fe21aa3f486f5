"""Research on the page: history, the plan to edit, live progress, the report beside its passages, charts as SVG."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from ..core.causes.web import NO_SUCH_PATH
from ..messages.catalog import DEFAULT, Texts
from ..research.forms import FORMS
from ..research.job import ENDED, RESUMABLE, Progress
from ..research.report import Research, placed
from ..store.research import StoredJob
from .api import client_from
from .compat import tavily_research
from .error_forms import accepts_html, is_json
from .errors import language_of
from .page import form_fields, render_page
from .set_aside import RESEARCH, refuse_set_aside
from .static_files import beside
from .texts import PageTexts

router = APIRouter(include_in_schema=False)

DEPTHS = ("quick", "normal", "deep")
_LISTED = 50
_WIDTH, _MARGIN = 640, 20


@router.get("/research")
async def research_list(request: Request) -> Response:
    """The jobs, and a form for a new one."""
    jobs = await client_from(request).research_service.find(limit=_LISTED)
    return render_page(request, "research_list.html", jobs=jobs, depths=DEPTHS, asked=request.query_params.get("q", ""))


@router.post("/research")
async def new_research(request: Request) -> Response:
    """Create a job by a plain form; a Tavily client sends JSON."""
    if is_json(request):
        return await tavily_research.create(request)
    form = await form_fields(request)
    options = {"depth": form.get("depth", "normal"), "wait_for_plan": True}
    job = await client_from(request).research_service.create(form.get("question", ""), options)
    return RedirectResponse(f"/research/{job.id}", 303)


@router.get("/research/{id}")
async def research_page(request: Request, id: str, part: str = "") -> Response:
    """A job as it is now; ``part=body`` returns what changes. A Tavily client wants no page."""
    if not part and not accepts_html(request):
        return await tavily_research.get(request, id)
    await asyncio.to_thread(refuse_set_aside, request, RESEARCH, id)
    job = await client_from(request).research_service.get(id)
    template = "research_body.html" if part == "body" else "research.html"
    state = {"id": id, "more": beside("more.js"), "offline": PageTexts(language_of(request))("script.offline")}
    return render_page(request, template, job=job, **_values(job), state=state)


@router.post("/research/{id}/{action}")
async def change_research(request: Request, id: str, action: str) -> Response:
    """Start, stop, resume or remove a job by a plain form."""
    service = client_from(request).research_service
    actions: dict[str, Callable[[str], Awaitable[object]]] = {
        "start": service.accept,
        "stop": service.stop,
        "resume": service.resume,
        "remove": service.remove,
    }
    if action not in actions:
        raise NO_SUCH_PATH(path=request.url.path)
    await actions[action](id)
    return RedirectResponse("/research" if action == "remove" else f"/research/{id}", 303)


def _values(job: StoredJob) -> dict[str, Any]:
    """What the template shows."""
    result = Research.of(job).as_dict()
    ledger = {row["id"]: row for row in result["ledger"]}
    cited = [ledger[id] for id in dict.fromkeys(_cited(result)) if id in ledger]
    used = {name: value for name, value in (result.get("counts") or {}).items() if name in asdict(Progress())}
    report = Texts("research.report", result.get("lang", DEFAULT))
    return {
        "result": result,
        "report": report,
        "limits": [report(f"limit.{name}") for name in result.get("budget", {}).get("reached", ())],
        "plan": job.plan or {},
        "budget": job.request["budget"],
        "progress": asdict(Progress(**used)),
        "ended": job.state in ENDED,
        "resumable": job.state in RESUMABLE and job.state != "awaiting_plan",
        "forms": tuple(FORMS),
        "ledger": ledger,
        "cited": cited,
        "coverage": coverage(result),
        "points": timeline_points(result.get("timeline") or ()),
        "width": _WIDTH,
    }


def _cited(result: Mapping[str, Any]) -> list[int]:
    """The ids of the passages that the report cites, in order."""
    return [id for claim in result["claims"] if claim["kept"] for id in claim["ledger"]]


def coverage(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """How many sentences of each section are supported by a passage, and how many are not."""
    found: dict[int, Counter[str]] = {}
    for claim in result["claims"]:
        if claim["kept"]:
            found.setdefault(claim["section"], Counter())[claim["verdict"]] += 1
    sections = result.get("sections") or ()
    return [
        {"title": sections[place]["title"], "yes": counts["supported"], "all": counts.total()}
        for place, counts in sorted(found.items())
        if place < len(sections)
    ]


def timeline_points(timeline: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The dated sources with their place on a line."""
    room = _WIDTH - 2 * _MARGIN
    points = [{**entry, "x": round(_MARGIN + room * place)} for entry, place in placed(timeline)]
    return points if len(points) > 1 else []
