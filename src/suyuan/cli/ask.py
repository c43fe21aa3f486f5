"""``suyuan ask``: one question, one answer with its sources."""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..client import AsyncClient, Connect
from ..config.settings import Settings
from ..core.answer_length import LENGTHS, AnswerLength
from ..llm.settings import EMBEDDED, ModelSettings
from ..messages.catalog import Texts
from .startup import check_at_start
from .terminal import print_json

if TYPE_CHECKING:
    from ..store.conversation import Conversation


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    ask = commands.add_parser("ask", help=t("help.ask"), description=t("help.ask"))
    ask.add_argument("question", nargs="+", help=t("help.question_words"))
    ask.add_argument("--json", action="store_true", help=t("help.json"))
    add_common(ask, t)
    ask.set_defaults(run=run, failed="ask.failed")


def add_common(command: argparse.ArgumentParser, t: Texts) -> None:
    """Add the options that ``ask`` and ``chat`` share."""
    how = command.add_mutually_exclusive_group()
    how.add_argument("--search", action="store_true", default=None, help=t("help.ask_search"))
    how.add_argument("--no-search", dest="search", action="store_false", help=t("help.ask_no_search"))
    how.add_argument("--agent", action="store_true", help=t("help.ask_agent"))
    command.add_argument("--model", default="", metavar="NAME", help=t("help.ask_model"))
    command.add_argument("--length", choices=LENGTHS, metavar="FORM", help=t("help.ask_length"))
    command.add_argument("-e", "--engine", default="", metavar="PLAN", help=t("help.engine"))


def with_model(settings: Settings, name: str) -> Settings:
    """Return the settings with another model of the same server, or with the embedded one."""
    if not name:
        return settings
    if name == EMBEDDED:
        return replace(settings, model=ModelSettings())
    provider = settings.model.provider if settings.model.provider != EMBEDDED else "openai"
    return replace(settings, model=replace(settings.model, provider=provider, name=name))


def with_length(settings: Settings, length: AnswerLength | None) -> Settings:
    """Return the settings with another length of answers."""
    return replace(settings, chat=replace(settings.chat, length=length)) if length else settings


async def begin_conversation(client: AsyncClient, args: argparse.Namespace, t: Texts) -> Conversation:
    """Begin a conversation as the options say; without one of them with the search switch as the person left it."""
    search = args.search
    if search is None:
        search = await client.chat.read(client.chat.search_switch.setting)
    mode = "agent" if args.agent else "chat"
    return await client.chat.create(mode=mode, search=search, engine=args.engine, lang=t.lang)


def run(args: argparse.Namespace, settings: Settings, t: Texts, connect: Connect = AsyncClient) -> int:
    """Answer one question."""
    client = connect(with_length(with_model(settings, args.model), args.length))
    # Loading the chat takes a second; outside of the event loop Ctrl-C ends it at once.
    _ = client.chat
    return asyncio.run(_ask(client, args, t))


async def _ask(client: AsyncClient, args: argparse.Namespace, t: Texts) -> int:
    from .answer import exit_code, print_answer

    async with client:
        conversation = await begin_conversation(client, args, t)
        if conversation.search or conversation.mode == "agent":
            await check_at_start(client, t)
        run = await client.chat.ask(conversation.id, " ".join(args.question))
        answer = await (run.wait() if args.json else print_answer(run, t))
        if args.json:
            print_json({"run": run.id, "conversation": conversation.id, **answer.as_dict()})
        return exit_code(answer)
