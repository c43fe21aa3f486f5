"""The MCP tool ``research``: a job that goes on when the client has given up, and can be asked for by its id."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ..client import AsyncClient
from ..core.errors import SuyuanError
from ..core.failure import Failure
from ..messages.catalog import text
from ..tools.research_spec import RESEARCH
from ..tools.specs import Lang, ToolSpec
from .extras import needs

with needs("mcp"):
    import mcp_types as types
    from mcp.shared.exceptions import MCPError
    from mcp_types.version import MODERN_PROTOCOL_VERSIONS
    from pydantic import Field

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

    from ..store.research import StoredJob
    from .mcp import Context

TASKS = "io.modelcontextprotocol/tasks"
_POLL_MS = 2000

TaskState = dict[str, Any]
TaskHandler = Callable[["Context", "TaskParams"], Awaitable[TaskState]]

_TEXT = {"type": "string"}
_ROWS = {"type": "array", "items": {"type": "object"}}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": _TEXT,
        "state": _TEXT,
        "report": _TEXT,
        "ledger": _ROWS,
        "sources": _ROWS,
        "claims": _ROWS,
        "disagreements": _ROWS,
        "failure": {"type": "object", "description": "Why there is no report."},
    },
    "required": ["id", "state", "report"],
}


def research_tools(lang: Lang) -> list[types.Tool]:
    """The tool, where the packages for stored jobs are installed."""
    return [tool_of(RESEARCH, lang, "mcp.research_title", _SCHEMA)] if find_spec("sqlalchemy") else []


def tool_of(spec: ToolSpec, lang: Lang, title: str, output: dict[str, Any], today: str = "") -> types.Tool:
    """A tool as the protocol describes it."""
    return types.Tool(
        name=spec.name,
        title=text(lang, title),
        description=spec.description(lang, today),
        input_schema=spec.full_schema(lang),
        output_schema=output,
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=True),
    )


async def call_research(
    ctx: Context, arguments: dict[str, Any], engines: str, lang: Lang
) -> types.CallToolResult | TaskState:
    """Begin a job, or say how far one is; a client that knows tasks gets a new job as one, others its progress."""
    service = ctx.lifespan_context.research_service
    if id := str(arguments.get("id") or ""):
        return _result(await service.get(id), lang)
    options = {"depth": arguments.get("depth") or "quick", "scope": {"engines": engines}}
    job = await service.create(str(arguments.get("question") or ""), options)
    if _knows_tasks(ctx):
        return {"resultType": "task", **_task(job, lang)}
    async for _, event in service.follow(job.id):
        if event["kind"] == "progress":
            pages = float(event["budget"]["pages"])
            await ctx.session.report_progress(min(event["read"], pages), pages, f"{job.id} {event['state']}")
    return _result(await service.get(job.id), lang)


def _result(job: StoredJob, lang: Lang) -> types.CallToolResult:
    from ..research.report import Research

    research = Research.of(job).as_dict()
    data = {name: research[name] for name in _SCHEMA["properties"] if name in research}
    why = Failure.from_dict(data["failure"]).say(lang) if "failure" in data else ()
    told = research["report"] or " ".join((f"{job.id}: {job.state}", *why))
    content = types.TextContent(type="text", text=told)
    return types.CallToolResult(content=[content], structured_content=data, is_error=job.state == "failed")


# --- tasks: the extension of the protocol for work that outlives a request ------------------------------------------
class TaskParams(types.RequestParams):
    """Which task is meant."""

    task_id: str = Field(alias="taskId", max_length=100)


def add_tasks(server: Server[AsyncClient], lang: Lang) -> None:
    """Let clients ask for the state and the result of a research job as a task, and cancel it."""
    if not research_tools(lang):
        return

    async def get(ctx: Context, params: TaskParams) -> TaskState:
        service = ctx.lifespan_context.research_service
        job = await service.get(params.task_id)
        if job.state == "interrupted":
            # Whoever asks for the result wants the job to go on, also after a restart of the server.
            job = await service.resume(job.id)
        return _task(job, lang)

    async def cancel(ctx: Context, params: TaskParams) -> TaskState:
        await ctx.lifespan_context.research_service.stop(params.task_id)
        return {}

    async def update(ctx: Context, params: TaskParams) -> TaskState:
        # No job asks its client for anything, so there is nothing to take.
        await ctx.lifespan_context.research_service.get(params.task_id)
        return {}

    server.extensions[TASKS] = {}
    for name, answer in (("get", get), ("cancel", cancel), ("update", update)):
        server.add_request_handler(f"tasks/{name}", TaskParams, _for_those_who_know(answer, lang))


def _for_those_who_know(answer: TaskHandler, lang: Lang) -> TaskHandler:
    async def handler(ctx: Context, params: TaskParams) -> TaskState:
        if not _knows_tasks(ctx):
            needed: TaskState = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
            raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, f"The client does not declare {TASKS}", needed)
        try:
            return await answer(ctx, params)
        except SuyuanError as error:
            raise MCPError(types.INVALID_PARAMS, error.failure.message(lang), error.as_dict(lang)) from None

    return handler


def _knows_tasks(ctx: Context) -> bool:
    declared = ctx.session.client_capabilities
    known = declared is not None and TASKS in (declared.extensions or {})
    return known and ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def _task(job: StoredJob, lang: Lang) -> TaskState:
    state: TaskState = {
        "taskId": job.id,
        "status": {"done": "completed", "failed": "completed", "cancelled": "cancelled"}.get(job.state, "working"),
        "statusMessage": job.state,
        "createdAt": job.created_at,
        "lastUpdatedAt": job.updated_at,
        "ttlMs": None,
        "pollIntervalMs": _POLL_MS,
    }
    # A job that failed is a result that says why: "failed" is for errors of the protocol.
    if state["status"] == "completed":
        state["result"] = _result(job, lang).model_dump(mode="json", by_alias=True, exclude_none=True)
    return state
