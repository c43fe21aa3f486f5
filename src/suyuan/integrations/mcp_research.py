"""The MCP tool ``research``: a job that goes on when the client has given up, and can be asked for by its id."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ..messages.catalog import text
from ..tools.research_spec import RESEARCH
from ..tools.specs import Lang
from .extras import needs

with needs("mcp"):
    import mcp_types as types

if TYPE_CHECKING:
    from .mcp import Context

_TEXT = {"type": "string"}
_ROWS = {"type": "array", "items": {"type": "object"}}
_SCHEMA = {
    "type": "object",
    "properties": {
        "id": _TEXT,
        "state": _TEXT,
        "report": _TEXT,
        "ledger": _ROWS,
        "sources": _ROWS,
        "claims": _ROWS,
        "disagreements": _ROWS,
    },
    "required": ["id", "state", "report"],
}


def research_tools(lang: Lang) -> list[types.Tool]:
    """The tool, where the packages for stored jobs are installed."""
    if find_spec("sqlalchemy") is None:
        return []
    return [
        types.Tool(
            name=RESEARCH.name,
            title=text(lang, "mcp.research_title"),
            description=RESEARCH.description(lang),
            input_schema=RESEARCH.full_schema(lang),
            output_schema=_SCHEMA,
            annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=True),
        )
    ]


async def call_research(ctx: Context, arguments: dict[str, Any], engines: str) -> types.CallToolResult:
    """Begin a job and report its progress until it ends, or say how far one is."""
    from ..research.report import Research

    service = ctx.lifespan_context.research_service
    if id := str(arguments.get("id") or ""):
        job = await service.get(id)
    else:
        options = {"depth": arguments.get("depth") or "quick", "scope": {"engines": engines}}
        job = await service.create(str(arguments.get("question") or ""), options)
        async for _, event in service.follow(job.id):
            if event["kind"] == "progress":
                pages = float(event["budget"]["pages"])
                await ctx.session.report_progress(min(event["read"], pages), pages, f"{job.id} {event['state']}")
        job = await service.get(job.id)
    found = Research.of(job).as_dict()
    names = ("id", "state", "report", "ledger", "sources", "claims", "disagreements")
    data = {name: found[name] for name in names}
    told = found["report"] or f"{found['id']}: {found['state']}"
    content = types.TextContent(type="text", text=told)
    return types.CallToolResult(content=[content], structured_content=data, is_error=found["state"] == "failed")
