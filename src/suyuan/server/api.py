"""The JSON API: conversations, answers, search, pages, and the state of the server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from ..chat.answering import check_answer, check_message
from ..chat.commands import parse_command
from ..chat.remote_runs import RemoteRun
from ..chat.runs import Run
from ..chat.service import Change, ChatService
from ..client import AsyncClient
from ..core.causes.store import STORE_GONE
from ..core.causes.web import NO_RUN
from ..core.file_names import attachment, file_stem
from ..core.person import require
from ..core.query import SearchQuery
from ..core.views import items_view, receipt
from ..doctor.debug_bundle import bundle
from ..pages.passages import select
from ..research.forms import FORMS
from ..store.conversation import Conversation, Message
from . import schemas as s
from .answer_stream import POLL_INTERVAL
from .errors import language_of
from .health import Health, engines
from .metrics import Metrics
from .orjson_response import OrjsonResponse
from .sse import EventStream, message, while_connected

FAILURES: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": s.ErrorOut, "description": "The request cannot be fulfilled."},
    "5XX": {"model": s.ErrorOut, "description": "An engine, a page or a model failed."},
}
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"description": "Server-sent events.", "content": {"text/event-stream": {}}}
}
_NO_EXTRAS: dict[str, list[Any]] = {"answers": [], "infoboxes": [], "suggestions": [], "corrections": []}
ExportForm = Literal["md", "html", "json", "bib", "pdf"]

router = APIRouter(prefix="/api", responses=FAILURES)
web = APIRouter(prefix="/api", responses=FAILURES)
"""Before the others: routes are compared one after the other, and a search takes less time than that of many."""
monitoring = APIRouter()


def client_from(request: Request) -> AsyncClient:
    """The client that the server works with."""
    client: AsyncClient = request.app.state.client
    return client


def _chat(request: Request) -> ChatService:
    return client_from(request).chat


def _metrics(request: Request) -> Metrics:
    metrics: Metrics = request.app.state.metrics
    return metrics


def conversation_view(chat: ChatService, conversation: Conversation) -> dict[str, Any]:
    """A conversation, and the answer that is being written in it."""
    return {**conversation.as_dict(), "running": chat.running_id(conversation)}


# --- conversations ----------------------------------------------------------------------------------------------------
@router.post("/conversations", status_code=201, response_model=s.ConversationOut, tags=["conversations"])
async def create_conversation(request: Request, body: s.NewConversation) -> dict[str, Any]:
    """Create a conversation, perhaps with its first question."""
    request.app.state.preloader.start()
    chat = _chat(request)
    if body.engine:
        client_from(request).search_service.check_plan(body.engine)
    if body.text:
        check_message(body.text)
        # Before there is a conversation for it.
        search = chat.search_switch.without_person() if body.search is None else body.search
        await check_answer(searches=body.mode == "agent" or search)
        await request.app.state.preloader.wait()
    fields = body.model_dump(exclude={"text", "lang"})
    made = await chat.create(**fields, lang=body.lang or language_of(request))
    if body.text:
        _metrics(request).follow(await chat.ask(made.id, body.text))
        made = await chat.get(made.id)
    return conversation_view(chat, made)


@router.get("/conversations", response_model=s.ConversationList, tags=["conversations"])
async def list_conversations(
    request: Request,
    text: Annotated[str, Query(max_length=200, description="Words in the title or the messages.")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    deleted: bool = False,
) -> dict[str, Any]:
    """The conversations, newest first."""
    chat = _chat(request)
    found = await chat.read(chat.store.find, text, limit=limit + 1, offset=offset, deleted=deleted)
    return {"conversations": [conversation_view(chat, each) for each in found[:limit]], "more": len(found) > limit}


@router.get("/conversations/{id}", response_model=s.ConversationOut, tags=["conversations"])
async def get_conversation(request: Request, id: str) -> dict[str, Any]:
    """One conversation."""
    return conversation_view(_chat(request), await _chat(request).get(id))


@router.patch("/conversations/{id}", response_model=s.ConversationOut, tags=["conversations"])
async def change_conversation(request: Request, id: str, body: s.ConversationChange) -> dict[str, Any]:
    """Change mode, search switch, engine, focus, model, language, title or pin, from the next message on."""
    chat = _chat(request)
    return conversation_view(chat, await chat.change(id, **body.model_dump(exclude_none=True)))


@router.delete("/conversations/{id}", status_code=204, tags=["conversations"])
async def delete_conversation(request: Request, id: str) -> Response:
    """Delete a conversation; it can be restored for a while."""
    await _chat(request).delete(id)
    return Response(status_code=204)


@router.post("/conversations/{id}/restore", response_model=s.ConversationOut, tags=["conversations"])
async def restore_conversation(request: Request, id: str) -> dict[str, Any]:
    """Restore a deleted conversation."""
    chat = _chat(request)
    return conversation_view(chat, await chat.restore(id))


@router.get("/conversations/{id}/messages", response_model=s.MessageList, tags=["conversations"])
async def list_messages(request: Request, id: str) -> dict[str, Any]:
    """All messages of a conversation."""
    chat = _chat(request)
    await chat.get(id)
    found = await chat.read(chat.messages, id)
    return {"messages": [{**each.as_dict(), "unsaved": chat.is_unsaved(each.id)} for each in found]}


@router.get("/conversations/{id}/changes", responses=EVENTS, response_class=Response, tags=["conversations"])
async def watch_conversation(request: Request, id: str) -> Response:
    """Follow the changes of a conversation: events ``change`` with ``kind``, ``conversation`` and ``run``.

    The first event is the present state.
    """
    await _chat(request).get(id)
    return EventStream(_changes(_chat(request), id))


async def _changes(chat: ChatService, id: str) -> AsyncIterator[bytes]:
    # Watching begins before the state is read, so that no change is missed in between.
    with chat.watching(id) as changes:
        now = await chat.get(id)
        change = Change("settings", now, chat.running_id(now) or "")
        while True:
            shown = conversation_view(chat, change.conversation)
            yield message({"kind": change.kind, "conversation": shown, "run": change.run}, event="change")
            if change.kind == "deleted":
                return
            change = await changes.get()


@router.get("/conversations/{id}/export", response_class=Response, tags=["conversations"])
async def export_conversation(request: Request, id: str, form: ExportForm = "md") -> Response:
    """The conversation as a file; ``bib`` has the cited sources, ``pdf`` is printed by the server's browser."""
    chat, lang = _chat(request), language_of(request)
    conversation = await chat.get(id)
    messages = await chat.read(chat.messages, id)
    text = await request.app.state.exports.export(conversation, messages, "html" if form == "pdf" else form, lang)
    return Response(
        await client_from(request).network.print_pdf(text) if form == "pdf" else text,
        media_type=FORMS[form],
        headers={"Content-Disposition": attachment(f"{file_stem(conversation.title)}.{form}")},
    )


# --- answers ----------------------------------------------------------------------------------------------------------
@router.post(
    "/conversations/{id}/messages",
    status_code=202,
    response_model=s.RunStarted,
    responses={200: {"model": s.CommandDone, "description": "The text was a command, and it was executed."}},
    tags=["answers"],
)
async def send_message(request: Request, id: str, body: s.NewMessage) -> Response:
    """Ask a question; the answer is written whether or not a client follows it."""
    await request.app.state.preloader.wait()
    chat = _chat(request)
    if command := parse_command(body.text):
        changed = await chat.run_command(id, command)
        return JSONResponse({"command": command.name, "conversation": conversation_view(chat, changed)})
    return _started(request, await chat.ask(id, body.text, instead_of=body.instead_of, length=body.length))


@router.post("/conversations/{id}/retry", status_code=202, response_model=s.RunStarted, tags=["answers"])
async def retry_answer(request: Request, id: str, body: s.Retry) -> Response:
    """Answer a question again; the old answer stays as an earlier version."""
    await request.app.state.preloader.wait()
    return _started(request, await _chat(request).retry(id, body.answer, query=body.query))


@router.post("/conversations/{id}/version", status_code=204, tags=["answers"])
async def choose_version(request: Request, id: str, body: s.Version) -> Response:
    """Make an earlier version of an answer the one that counts."""
    await _chat(request).choose_version(id, body.answer)
    return Response(status_code=204)


def _started(request: Request, run: Run) -> Response:
    _metrics(request).follow(run)
    return JSONResponse({"run": run.id}, 202)


@router.get("/runs/{run}/events", responses=EVENTS, response_class=Response, tags=["answers"])
async def follow_run(request: Request, run: str) -> Response:
    """The events of an answer; ``Last-Event-ID`` (or ``?after=``) continues after that event."""
    chat, after = _chat(request), last_seen(request)
    if found := await chat.follow(run):
        return EventStream(_live(found, after))
    await kept_answer(chat, run)
    return EventStream(_kept(chat, run, after))


async def kept_answer(chat: ChatService, run: str) -> Message:
    """The answer of a run as it is in the store; raises a cause where there is none."""
    kept = await chat.read(chat.store.message, run)
    if kept is None or kept.role != "assistant":
        raise NO_RUN(id=run[:40])
    return kept


def last_seen(request: Request) -> int:
    """The number of the last event that a client has seen; -1 for none."""
    value = request.headers.get("last-event-id") or request.query_params.get("after", "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else -1


async def _live(run: Run | RemoteRun, after: int) -> AsyncIterator[bytes]:
    number = after
    async for number, event in run.follow(after):
        yield message(event.as_dict(), event=event.kind, id=number)
    if isinstance(run, RemoteRun) and run.interrupted is not None:
        yield message({"kind": "interrupted", "text": run.interrupted}, event="interrupted", id=number + 1)


async def _kept(chat: ChatService, run: str, after: int) -> AsyncIterator[bytes]:
    """A run that this process does not write: its stored events, as long as another writes them, then its end."""
    number = after
    while True:
        await chat.read(chat.sweep)
        kept = await chat.read(chat.store.message, run)
        events = await chat.read(chat.store.events, run, number)
        for number, event in events:
            yield message(event, event=event["kind"], id=number)
        if kept is None or kept.state != "running":
            break
        await asyncio.sleep(POLL_INTERVAL)
    # An interrupted run has no answer; the text that it had written is sent instead.
    end = (kept.answer if kept else None) or {"kind": "interrupted", "text": kept.text if kept else ""}
    yield message(end, event=end["kind"], id=number + 1)


@router.post("/runs/{run}/stop", response_model=s.RunStopped, tags=["answers"])
async def stop_run(request: Request, run: str) -> dict[str, Any]:
    """Stop an answer, with its model, searches and sockets; the text so far is kept."""
    chat = _chat(request)
    if chat.run(run) is None:
        await kept_answer(chat, run)
    return {"run": run, "stopped": await chat.stop(run)}


@router.get("/runs/{run}/debug", response_class=Response, tags=["answers"])
async def debug_run(request: Request, run: str) -> Response:
    """Everything that is known about an answer, without secrets, as a file for a bug report."""
    client = request.app.state.client
    data = await asyncio.to_thread(bundle, client, run)
    text = json.dumps(data, ensure_ascii=False, indent=2)
    return Response(text, media_type=FORMS["json"], headers={"Content-Disposition": attachment(f"suyuan-{run}.json")})


# --- search and pages -------------------------------------------------------------------------------------------------
@web.post("/search", response_model=s.SearchOut, tags=["web"])
async def search(request: Request, body: s.SearchIn) -> Response:
    """Search the web; if no engine answers, the error comes with the receipt."""
    fields: dict[str, Any] = body.model_dump(exclude={"query", "engines", "depth", "max_tokens"})
    query = SearchQuery(body.query, **fields)
    searching = client_from(request).search(query, engines=body.engines, depth=body.depth, max_tokens=body.max_tokens)
    page = await while_connected(request, _metrics(request).counted(searching))
    lang = language_of(request)
    # A response of our own, since checking each field of it would take as long as the search.
    return OrjsonResponse({**_NO_EXTRAS, **items_view(page, lang), "receipt": receipt(page.attempts, lang)})


@web.post("/fetch", tags=["web"])
async def fetch(request: Request, body: s.FetchIn) -> dict[str, Any]:
    """Read a page: its main text, or the passages that are relevant to a question."""
    document = await while_connected(
        request, client_from(request).fetcher.fetch(body.url, fresh=body.fresh, render=body.render)
    )
    data = document.as_dict(language_of(request))
    if body.question:
        chosen = await asyncio.to_thread(select, document.text, body.question, body.tokens)
        data["passages"] = [passage.as_dict() for passage in chosen.passages]
        data["tokens"], data["total_tokens"] = chosen.tokens, chosen.total_tokens
    return data


# --- the state of the server ------------------------------------------------------------------------------------------
@router.get("/engines", response_model=s.EngineList, tags=["status"])
async def list_engines(request: Request) -> dict[str, Any]:
    """The engines, and whether they are ready."""
    return {"default": client_from(request).search_service.default, "engines": engines(client_from(request))}


@router.get("/models", response_model=s.ModelList, tags=["status"])
async def list_models(request: Request) -> dict[str, Any]:
    """The models that can be chosen."""
    chat = _chat(request)
    models = [{"name": name, "provider": settings.provider} for name, settings in chat.sessions.models.items()]
    return {"default": chat.sessions.default_model, "models": models}


@router.get("/health", response_model=s.HealthOut, tags=["status"])
async def get_health(request: Request) -> dict[str, Any]:
    """The last known state of the server and its search engines, and its age, without waiting for a check."""
    health: Health = request.app.state.health
    return health.report(language_of(request))


@monitoring.get("/healthz", include_in_schema=False)
async def healthz(request: Request) -> PlainTextResponse:
    """Say that the server answers, and with 503 that it can store nothing, since its file is gone."""
    if client_from(request).store_is_gone:
        return PlainTextResponse(STORE_GONE.detail_code, 503)
    return PlainTextResponse("OK")


@monitoring.get("/metrics", include_in_schema=False)
async def metrics(request: Request) -> Response:
    """The metrics, for Prometheus."""
    require("admin")
    body, content_type = _metrics(request).render(request.headers.get("accept", ""))
    return Response(body, media_type=content_type)
