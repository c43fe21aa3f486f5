"""The tools over MCP (``suyuan[mcp]``), and their server on standard input and output."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from .. import __version__
from ..citations.registry import CitationRegistry, Source
from ..client import AsyncClient
from ..config.settings import Settings
from ..core.causes.asked import UNKNOWN_TOOL
from ..core.document import Document
from ..core.errors import SuyuanError
from ..core.result import SearchPage
from ..core.views import receipt
from ..messages.catalog import text
from ..pages.passages import select
from ..shared import shared_client
from ..tools.research_spec import RESEARCH
from ..tools.session import SessionSearch, depth_from, query_from
from ..tools.specs import WEB_FETCH, WEB_SEARCH, Lang
from ..tools.text import compact, failure, page_text
from .extras import needs
from .mcp_research import TaskState, add_tasks, call_research, research_tools, tool_of

with needs("mcp"):
    import mcp_types as types
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel.server import Server
    from mcp.server.stdio import stdio_server
    from mcp.shared.exceptions import MCPError

Context = ServerRequestContext[AsyncClient, Any]

MOST_CLIENTS = 1000
MOST_PAGES = 100
"""The pages that a client has read and can list as resources."""
CLIENT = "suyuan.client"
"""The name of the client in the scope of an HTTP request."""
_PAGE_TOKENS = 4000

_TEXT = {"type": "string"}
_SOURCE = {
    "type": "object",
    "properties": {
        "number": {"type": "integer"},
        "title": _TEXT,
        "url": _TEXT,
        "snippet": _TEXT,
        "source": _TEXT,
        "published_at": {"type": ["string", "null"]},
        "passages": {"type": "array", "items": {"type": "object"}, "description": "What the page says to the query."},
        "text": {"type": "string", "description": "The whole page, where it was asked for."},
        "read_error": {"type": "object", "description": "Why the page could not be read."},
    },
    "required": ["number", "title", "url", "snippet", "source"],
}
OUTPUT_SCHEMA = {
    "type": "object",
    "properties": {
        "query": _TEXT,
        "engine": _TEXT,
        "cached": {"type": "boolean"},
        "results": {"type": "array", "items": _SOURCE},
        "receipt": {"type": "array", "items": {"type": "object"}, "description": "What each engine did."},
    },
    "required": ["query", "engine", "results"],
}

PAGE_SCHEMA = {
    "type": "object",
    "properties": {
        "url": _TEXT,
        "final_url": _TEXT,
        "title": _TEXT,
        "fetched_at": _TEXT,
        "sha256": _TEXT,
        "passages": {"type": "array", "items": {"type": "object"}},
        "tokens": {"type": "integer", "description": "About how long the passages are."},
        "total_tokens": {"type": "integer", "description": "About how long the page is."},
        "cut": {"type": ["object", "null"], "description": "How much of the page was read, where it was not all."},
    },
    "required": ["url", "final_url", "title", "passages", "tokens", "total_tokens", "cut"],
}

_INSTRUCTIONS = {
    "zh": "带编号来源的网络搜索。搜索失败时会说明原因，请不要假装搜索成功。"
    "本服务看不到对话，无法分辨哪些词是用户写的：查询和地址照原样发送，请不要写入用户文档的内容或任何秘密。",
    "en": "Web search with numbered sources. A failed search says why it failed: do not pretend that it worked. This "
    "server does not see the conversation, so it cannot tell which words are the user's: queries and addresses are "
    "sent as they are. Put nothing of the user's own documents into them, and no secret.",
}


@dataclass(slots=True)
class _Connection:
    """What one client has: its session's search, its numbering, and the pages that it has read."""

    search: SessionSearch
    citations: CitationRegistry = field(default_factory=CitationRegistry)
    pages: OrderedDict[str, types.Resource] = field(default_factory=OrderedDict)

    def add_page(self, url: str, document: Document) -> None:
        """Take note of a page that was read."""
        size = len(document.text.encode("utf-8", "replace"))
        self.pages.pop(url, None)
        self.pages[url] = types.Resource(
            uri=url, name=document.title or url, title=document.title or None, mime_type="text/markdown", size=size
        )
        while len(self.pages) > MOST_PAGES:
            self.pages.popitem(last=False)


class Tools:
    """Answers the protocol's questions about the tools, and calls them."""

    def __init__(self, settings: Settings, lang: Lang, engines: str = "") -> None:
        self._settings = settings
        self._lang: Lang = lang
        self._engines = engines
        self._connections: OrderedDict[str, _Connection] = OrderedDict()

    async def list(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Say which tools there are."""
        search = tool_of(WEB_SEARCH, self._lang, "mcp.search_title", OUTPUT_SCHEMA, date.today().isoformat())
        page = tool_of(WEB_FETCH, self._lang, "mcp.fetch_title", PAGE_SCHEMA)
        return types.ListToolsResult(tools=[search, page, *research_tools(self._lang)])

    async def call(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult | TaskState:
        """Call a tool; a failure is a tool error with its code, message and hint."""
        arguments = dict(params.arguments or {})
        try:
            if params.name == WEB_FETCH.name:
                return await self._fetch(ctx, str(arguments.get("url") or ""), str(arguments.get("question") or ""))
            if params.name == RESEARCH.name:
                return await call_research(ctx, arguments, self._engines, self._lang)
            if params.name != WEB_SEARCH.name:
                raise UNKNOWN_TOOL(name=params.name, known=f"{WEB_SEARCH.name}, {WEB_FETCH.name}, {RESEARCH.name}")
            return await self._search(ctx, arguments)
        except SuyuanError as error:
            what = "fetch" if params.name == WEB_FETCH.name else "search"
            content = types.TextContent(type="text", text=failure(error, self._lang, what))
            detail = {"error": error.as_dict(self._lang), "receipt": receipt(error.attempts, self._lang)}
            return types.CallToolResult(content=[content], structured_content=detail, is_error=True)

    async def _search(self, ctx: Context, arguments: dict[str, Any]) -> types.CallToolResult:
        query = query_from(arguments, count=self._settings.search.max_results, most=self._settings.most_results)
        connection = self._connection(ctx)
        await ctx.session.report_progress(0, 1, text(self._lang, "mcp.searching", query=query.text))
        page, repeated = await connection.search.search(query, *depth_from(arguments))
        sources = connection.citations.add(page)
        await ctx.session.report_progress(1, 1, page.engine)
        length = self._settings.search.snippet_length
        told = compact(page, sources, lang=self._lang, today=date.today(), snippet=length, repeated=repeated)
        content = types.TextContent(type="text", text=told)
        return types.CallToolResult(content=[content], structured_content=_structured(page, sources, self._lang))

    async def _fetch(self, ctx: Context, url: str, question: str) -> types.CallToolResult:
        await ctx.session.report_progress(0, 1, url)
        document = await ctx.lifespan_context.fetcher.fetch(url)
        chosen = await asyncio.to_thread(select, document.text, question, _PAGE_TOKENS)
        told = page_text(document, chosen, self._lang)
        self._connection(ctx).add_page(url, document)
        await ctx.session.report_progress(1, 1, document.title)
        data = {key: value for key, value in document.as_dict(self._lang).items() if key != "text"}
        data["passages"] = [passage.as_dict() for passage in chosen.passages]
        data["tokens"], data["total_tokens"] = chosen.tokens, chosen.total_tokens
        return types.CallToolResult(content=[types.TextContent(type="text", text=told)], structured_content=data)

    async def resources(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        """The pages that this client has read, the latest first."""
        return types.ListResourcesResult(resources=list(self._connection(ctx).pages.values())[::-1])

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """The whole text of a page that this client has read."""
        if params.uri not in self._connection(ctx).pages:
            # Others are read by the tool, which has limits and says why it fails.
            raise MCPError(types.INVALID_PARAMS, f"Not read in this session, call {WEB_FETCH.name} first: {params.uri}")
        try:
            document = await ctx.lifespan_context.fetcher.fetch(params.uri)
        except SuyuanError as error:
            raise MCPError(types.INTERNAL_ERROR, failure(error, self._lang, "fetch")) from None
        text = types.TextResourceContents(uri=params.uri, mime_type="text/markdown", text=document.text)
        return types.ReadResourceResult(contents=[text])

    def _connection(self, ctx: Context) -> _Connection:
        """The state of the client that calls: one for stdio, one for each HTTP session or connection."""
        name = "stdio"
        if ctx.request is not None:
            name = ctx.request.headers.get("mcp-session-id") or ctx.request.scope[CLIENT]
        connection = self._connections.pop(name, None) or _Connection(
            SessionSearch(
                ctx.lifespan_context.search_service,
                engines=self._engines,
                reader=ctx.lifespan_context.result_reader,
            )
        )
        self._connections[name] = connection
        while len(self._connections) > MOST_CLIENTS:
            self._connections.popitem(last=False)
        return connection


def make_server(settings: Settings, lang: Lang = "en", engines: str = "") -> Server[AsyncClient]:
    """The MCP server."""
    tools = Tools(settings, lang, engines)

    @asynccontextmanager
    async def lifespan(_: Server[AsyncClient]) -> AsyncIterator[AsyncClient]:
        async with shared_client(settings) as client:
            yield client

    server = Server(
        "suyuan",
        version=__version__,
        title="溯源 Suyuan",
        instructions=_INSTRUCTIONS[lang],
        lifespan=lifespan,
        on_list_tools=tools.list,
        on_call_tool=tools.call,  # type: ignore[arg-type]  # or a task: the SDK types only results of the core
        on_list_resources=tools.resources,
        on_read_resource=tools.read_resource,
    )
    add_tasks(server, lang)
    return server


async def serve_stdio(server: Server[AsyncClient]) -> None:
    """Speak over standard input and output, until the client closes them."""
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _structured(page: SearchPage, sources: tuple[Source, ...], lang: str) -> dict[str, Any]:
    results = [
        {
            "number": s.number,
            "title": s.title,
            "url": s.url,
            "snippet": s.snippet,
            "source": s.domain,
            "published_at": s.published_at,
            **({"cut": s.cut.published(lang)} if s.cut else {}),
            **(result.reading.as_dict(lang) if result.reading else {}),
        }
        for s, result in zip(sources, page.results, strict=False)
    ]
    return {
        "query": page.query.text,
        "engine": page.engine,
        "cached": page.cached,
        "results": results,
        "receipt": receipt(page.attempts, lang),
    }
