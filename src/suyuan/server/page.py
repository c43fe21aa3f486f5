"""The HTML pages: conversations, guides, and the stream of an answer."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup

from ..chat.answering import MAX_MESSAGE, check_answer, check_message
from ..client import AsyncClient
from ..core.errors import SuyuanError
from ..demo.questions import QUESTIONS
from ..guides import documents
from ..llm.settings import EMBEDDED
from ..markup.blocks import render
from ..messages.catalog import DEFAULT, catalogue, languages, text
from ..net.credentials import is_loopback
from ..store.conversation import Conversation
from ..text.search_passages import marked
from ..text.search_words import terms
from . import health
from .answer_html import AnswerHtml, environment
from .answer_stream import followed_messages, plain_messages
from .answer_view import AnswerView, kept_view
from .api import client_from, conversation_view, kept_answer
from .draft import checked, draft_settings
from .errors import language_of, status_of
from .notices import open_notices
from .set_aside import ANSWER, CONVERSATION, why_set_aside
from .sse import EventStream
from .static_files import beside, static_files, static_url
from .texts import PageTexts

router = APIRouter(include_in_schema=False)

THEMES = ("auto", "light", "dark")
MODES = ("chat", "agent", "research")
_LISTED = 60


# --- the conversation -----------------------------------------------------------------------------------------------
@router.get("/")
async def new_page(request: Request) -> Response:
    """The page of a new conversation; ``?q=`` is asked, ``mode``, ``engine``, ``model`` and ``focus`` are set."""
    request.app.state.preloader.start()
    request.app.state.layout.warm_up()
    return await asyncio.to_thread(_conversation_page, request, None)


@router.get("/rail")
async def rail(request: Request, text: str = "", here: str = "") -> Response:
    """The list of conversations."""
    found = await client_from(request).chat.read(client_from(request).chat.store.find, text[:200], limit=_LISTED)
    t = PageTexts(language_of(request))
    query = terms(text)
    groups = rail_groups(found, t)
    passages = {each.id: marked(each.passage, query) for each in found if each.passage}
    return render_page(request, "rail.html", groups=groups, passages=passages, conversation={"id": here})


@router.get("/c/{id}")
async def conversation_page(request: Request, id: str, part: str = "") -> Response:
    """The page of a conversation, readable without scripts; ``part=thread`` returns the messages only."""
    request.app.state.preloader.start()
    request.app.state.layout.warm_up()
    conversation = await client_from(request).chat.get(id)
    if part == "thread":
        turns = await asyncio.to_thread(_turns, request, conversation, answer_html(request))
        return render_page(request, "thread.html", turns=turns)
    return await asyncio.to_thread(_conversation_page, request, conversation)


def _conversation_page(request: Request, conversation: Conversation | None) -> Response:
    client, lang = client_from(request), language_of(request)
    chat, t = client.chat, PageTexts(lang)
    # The many engines that wait for a key are for those who have one.
    engines = health.engines(client, without_key=False)
    parts = answer_html(request, engines)
    draft = None if conversation else _asked_settings(request, draft_settings(client, request))
    settings = _shown_settings(client, conversation.as_dict() if conversation else draft or {})
    view = conversation_view(chat, conversation) if conversation else None
    question = "" if conversation else _asked_question(request)
    # Another website may fill in a question but not ask it.
    sends = bool(question) and request.headers.get("sec-fetch-site", "none") in ("none", "same-origin")
    blank = AnswerView("", parts.labels, mode=settings["mode"])
    return render_page(
        request,
        "page.html",
        conversation=conversation,
        running=view and view["running"],
        groups=rail_groups(chat.store.find(limit=_LISTED), t),
        folded=request.cookies.get("rail") == "folded",
        asked=question,
        modes=MODES,
        focuses=focus_titles(client, t),
        blank=Markup(parts.part("whole", blank)),
        turns=_turns(request, conversation, parts) if conversation else [],
        settings=settings,
        engines=[each for each in engines if not each["hidden"] and each["state"] != "no_key"],
        engine_title=parts.engine(settings["engine"]),
        models=list(chat.sessions.models),
        embedded=EMBEDDED,
        examples=_examples(client, lang),
        offer_demo=may_start_demo(request),
        kept_notices=open_notices(client, lang),
        state={"conversation": view, "draft": draft, "send": sends, **_script_state(request, t)},
    )


def _script_state(request: Request, t: PageTexts) -> dict[str, Any]:
    """What the script of every conversation needs."""
    client = client_from(request)
    return {
        "defaults": {"engine": client.search_service.default, "model": client.chat.sessions.default_model},
        "more": beside("more.js"),
        "share": request.app.state.accounts is not None,
        "texts": t.script(),
        "lang": t.lang,
    }


def _examples(client: AsyncClient, lang: str) -> tuple[str, ...]:
    """Questions to start with."""
    if client.settings.demo:
        return QUESTIONS.get(lang, QUESTIONS[DEFAULT])
    t = PageTexts(lang)
    return tuple(t(f"example.{n}") for n in (1, 2, 3))


def _shown_settings(client: AsyncClient, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that the composer shows, with the defaults filled in."""
    return {
        **chosen,
        "engine": chosen["engine"] or client.search_service.default,
        "model": chosen["model"] or client.chat.sessions.default_model,
    }


def _asked_question(request: Request) -> str:
    """The question of the address; what another app shares has a title and an address as well."""
    parts = (request.query_params.get(name, "").strip() for name in ("title", "q", "url"))
    return "\n".join(filter(None, parts))[:MAX_MESSAGE]


def _asked_settings(request: Request, draft: dict[str, Any]) -> dict[str, Any]:
    """The settings of a new conversation, with those of the address."""
    asked: dict[str, Any] = {name: value for name in draft if (value := request.query_params.get(name))}
    if "search" in asked:
        asked["search"] = asked["search"] in ("1", "on", "true")
    try:
        return checked(client_from(request), draft | asked)
    except (ValueError, SuyuanError):
        return draft


def focus_titles(client: AsyncClient, t: PageTexts) -> dict[str, str]:
    """The kinds of sources that can be chosen, with their titles."""
    known = catalogue(t.lang)
    names = (name for name in client.search_service.focuses if name != "web")
    return {name: t(f"focus.{name}") if f"page.focus.{name}" in known else name for name in names}


def rail_groups(found: Sequence[Conversation], t: PageTexts) -> list[tuple[str, list[tuple[Conversation, str]]]]:
    """The conversations by the day of their last message, each with its age."""
    now = datetime.now().astimezone()
    groups: dict[str, list[tuple[Conversation, str]]] = {}
    for each in found:
        at = datetime.fromisoformat(each.updated_at).astimezone()
        days = (now.date() - at.date()).days
        day = "today" if days < 1 else "yesterday" if days < 2 else "week" if days < 7 else "earlier"
        groups.setdefault("pinned" if each.pinned_at else day, []).append((each, _age(now - at, t) if days < 1 else ""))
    return [(t(f"conversations.{name}"), group) for name, group in groups.items()]


def _age(passed: timedelta, t: PageTexts) -> str:
    minutes = max(0, round(passed.total_seconds() / 60))
    if minutes < 1:
        return t("age.now")
    return t("age.minutes", n=minutes) if minutes < 60 else t("age.hours", n=minutes // 60)


def _turns(request: Request, conversation: Conversation, parts: AnswerHtml) -> list[dict[str, Any]]:
    """The questions with their answers."""
    chat = client_from(request).chat
    answers = chat.store.answers(conversation.id)
    plainly = why_set_aside(request, CONVERSATION, conversation.id)
    turns: list[dict[str, Any]] = []
    for message in chat.messages(conversation.id):
        if message.role == "user":
            turns.append({"question": message, "html": "", "evidence": "", "key": message.id})
        elif turns:
            why = plainly or why_set_aside(request, ANSWER, message.id)
            view = kept_view(
                replace(message, answer=None) if why else message,
                [] if why else [event for _, event in chat.events(message.id)],
                parts.labels,
                conversation.mode,
                turns[-1]["key"],
                answers.get(turns[-1]["key"], ()),
            )
            if why:
                view.blocks = view.as_written(why)
            else:
                request.app.state.layout.show_in_thread(view)
            state = "unsaved" if chat.is_unsaved(message.id) else message.state
            turns[-1] |= {
                "html": Markup(parts.part("whole", view)),
                "evidence": Markup(parts.part("aside", view)),
                "key": f"{message.id}-{state}-{len(view.versions)}",
            }
    return turns


@router.post("/ask")
async def ask(request: Request) -> Response:
    """Ask by a plain form, for browsers without scripts."""
    form = await form_fields(request)
    chat, question = client_from(request).chat, form.get("text", "")
    await request.app.state.preloader.wait()
    check_message(question)
    if form.get("mode") == "research":
        job = await client_from(request).research_service.create(question, {"wait_for_plan": True})
        return RedirectResponse(f"/research/{job.id}", 303)
    settings = _form_settings(client_from(request), form)
    if settings["mode"] == "chat":
        await chat.keep_switch(settings["search"])
    # Before there is a conversation for it.
    await check_answer(searches=settings["mode"] == "agent" or settings["search"])
    if id := form.get("conversation", ""):
        now = await chat.get(id)
        changed = {name: value for name, value in settings.items() if value != getattr(now, name)}
        if settings["mode"] == "agent":
            changed.pop("search", None)
        if changed:
            await chat.change(id, **changed)
    else:
        id = (await chat.create(**settings, lang=language_of(request))).id
    request.app.state.metrics.follow(await chat.ask(id, question))
    return RedirectResponse(f"/c/{id}", 303)


def _form_settings(client: AsyncClient, form: Mapping[str, str]) -> dict[str, Any]:
    """The settings of the form; the defaults are left open, as on the page."""
    names = {"engine": client.search_service.default, "model": client.chat.sessions.default_model, "focus": ""}
    chosen = {name: form[name] for name, usual in names.items() if form.get(name, usual) not in (usual, "+")}
    return checked(client, {"mode": form.get("mode", "chat"), "search": "search" in form, **chosen})


# --- the stream -----------------------------------------------------------------------------------------------------
@router.get("/stream/{run}")
async def stream(request: Request, run: str) -> Response:
    """An answer as HTML while it is written; a client that reconnects first gets all there is."""
    chat, parts = client_from(request).chat, answer_html(request)
    if why := await asyncio.to_thread(why_set_aside, request, ANSWER, run):
        return EventStream(plain_messages(await kept_answer(chat, run), parts, why))
    found, answers = await chat.follow(run), dict[str, list[str]]()
    try:
        kept = await kept_answer(chat, run)
        answers = await chat.read(chat.store.answers, kept.conversation)
    except SuyuanError:
        # An answer can be followed while the store is away.
        if found is None:
            raise
    asked = next(((question, own) for question, own in answers.items() if run in own), ("", []))
    return EventStream(followed_messages(chat, found, run, parts, request.app.state.layout, *asked))


@router.get("/export/{run}")
async def export_answer(request: Request, run: str, form: str = "md") -> Response:
    """The conversation of an answer as a file."""
    kept = await kept_answer(client_from(request).chat, run)
    return RedirectResponse(f"/api/conversations/{kept.conversation}/export?{urlencode({'form': form})}", 303)


# --- guides -----------------------------------------------------------------------------------------------------------
@router.get("/guide/{name}")
async def guide_page(request: Request, name: str) -> Response:
    """A guide, in the language of the request."""
    asked = request.query_params.get("lang", "")
    lang = asked if asked in languages() else language_of(request)
    try:
        guide = documents.guide(name, lang)
    except (KeyError, OSError):
        t = PageTexts(lang)
        message, hint = t("guide.none.title"), t("guide.none.hint")
        return render_page(request, "error.html", 404, message=message, hint=hint, guides=documents.NAMES)
    blocks = await asyncio.to_thread(render, guide, {}, page=True)
    return render_page(
        request,
        "guide.html",
        html=Markup("".join(blocks)),
        name=name,
        guides=documents.NAMES,
        title=guide.partition("\n")[0].lstrip("# "),
        lang=lang,
    )


def preload() -> None:
    """Read the templates and static files, so that the first page does not wait for them."""
    for name in environment().list_templates():
        environment().get_template(name)
    static_files()


# --- shared by all pages ----------------------------------------------------------------------------------------------
async def form_fields(request: Request) -> dict[str, str]:
    """The fields of a plain form."""
    return dict(parse_qsl((await request.body()).decode("utf-8", "replace")))


def error_page(request: Request, error: SuyuanError, status: int | None) -> Response:
    """A failure as a page."""
    message, hint = error.say(language_of(request))
    return render_page(request, "error.html", status or status_of(error), message=message, hint=hint)


def render_page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """A page of ours from its template, in the language of the user."""
    lang = values.pop("lang", None) or language_of(request)
    theme = request.cookies.get("theme", "auto")
    shared = {
        "t": PageTexts(lang),
        "lang": lang,
        "languages": {each: text(each, "language.name") for each in languages()},
        "theme": theme if theme in THEMES else "auto",
        "themes": THEMES,
        "static": static_url,
        "demo": client_from(request).settings.demo,
    }
    html = environment().get_template(template).render(**shared | values).encode("utf-8", "replace")
    headers = {"Cache-Control": "no-store", "Vary": "Cookie, Accept-Language", "Content-Language": lang}
    if "gzip" in request.headers.get("accept-encoding", ""):
        html, headers["Content-Encoding"] = gzip.compress(html, 6), "gzip"
    return HTMLResponse(html, status, headers=headers)


def may_start_demo(request: Request) -> bool:
    """Whether the page may start a demo: for people on this machine only, since the demo has an address of its own."""
    state = request.app.state
    here = is_loopback(state.origin.host) and not state.origin.public_url
    return here and hasattr(state, "demo_server") and not state.client.settings.demo


def answer_html(request: Request, engines: Sequence[Mapping[str, Any]] | None = None) -> AnswerHtml:
    """What renders answers in the language of the user."""
    client = client_from(request)
    known = engines or health.engines(client, without_key=False)
    titles = {engine["name"]: str(engine["title"]) for engine in known}
    return AnswerHtml(language_of(request), titles, prints=client.network.print_problem() is None)
