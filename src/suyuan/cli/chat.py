"""``suyuan chat``: a conversation in the terminal."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..client import AsyncClient, Connect
from ..config.settings import Settings
from ..core.errors import SuyuanError
from ..core.private_file import new_private_file, private_folder
from ..messages.catalog import Texts
from .ask import add_common, begin_conversation, with_length, with_model
from .failure import OK, show_failure
from .startup import check_at_start
from .terminal import Terminal

if TYPE_CHECKING:
    from ..store.conversation import Conversation

_HISTORY_FILE = "chat-history"
_HISTORY_LINES = 1000


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    chat = commands.add_parser("chat", help=t("help.chat"), description=t("help.chat"))
    chat.add_argument("--go-on", metavar="ID", default="", help=t("help.chat_go_on"))
    add_common(chat, t)
    chat.set_defaults(run=run, failed="ask.failed")


def run(args: argparse.Namespace, settings: Settings, t: Texts, connect: Connect = AsyncClient) -> int:
    """Answer each line until Ctrl-D."""
    settings = with_length(with_model(settings, args.model), args.length)
    client = connect(settings)
    with asyncio.Runner() as runner:
        try:
            return _chat(runner, client, args, t)
        finally:
            runner.run(client.close())


def _chat(runner: asyncio.Runner, client: AsyncClient, args: argparse.Namespace, t: Texts) -> int:
    conversation = runner.run(_begin(client, args, t))
    runner.run(check_at_start(client, t))
    out = Terminal(sys.stdout)
    out.line(
        t("chat.hint", model=client.settings.model.label, engine=conversation.engine or client.settings.search.default)
    )
    with _history(client.settings.state_dir):
        while True:
            try:
                line = input(_prompt(runner.run(client.chat.get(conversation.id)), t) if sys.stdin.isatty() else "")
            except KeyboardInterrupt:
                out.line()
                out.line(t("chat.leave"))
                continue
            except EOFError:
                out.line()
                return OK
            if line.strip():
                _answer(runner, client, conversation.id, line, t)


async def _begin(client: AsyncClient, args: argparse.Namespace, t: Texts) -> Conversation:
    if args.go_on:
        return await client.chat.get(args.go_on)
    return await begin_conversation(client, args, t)


def _answer(runner: asyncio.Runner, client: AsyncClient, id: str, line: str, t: Texts) -> None:
    from ..chat.commands import parse_command
    from .answer import print_answer

    out = Terminal(sys.stdout)
    try:
        if command := parse_command(line):
            conversation = runner.run(client.chat.run_command(id, command))
            for text in (t("chat.help") if command.name == "help" else _state(conversation, t)).split("\n"):
                out.line(text)
            return

        async def answer() -> None:
            await print_answer(await client.chat.ask(id, line), t)

        runner.run(answer())
        out.line()
    except SuyuanError as error:
        show_failure(error, t, "ask.failed")


def _prompt(conversation: Conversation, t: Texts) -> str:
    if conversation.mode == "agent":
        return t("chat.prompt_agent")
    return t("chat.prompt_search" if conversation.search else "chat.prompt")


def _state(conversation: Conversation, t: Texts) -> str:
    if conversation.mode == "agent":
        return t("chat.agent")
    return t("chat.search_on" if conversation.search else "chat.search_off")


@contextlib.contextmanager
def _history(folder: Path | None) -> Iterator[None]:
    """Store the typed lines for the arrow keys of the next session."""
    try:
        import readline
    except ImportError:
        yield
        return
    path = folder / _HISTORY_FILE if folder else None
    if path is not None:
        with contextlib.suppress(OSError):
            readline.read_history_file(path)
        readline.set_history_length(_HISTORY_LINES)
    try:
        yield
    finally:
        if path is not None and sys.stdin.isatty():
            with contextlib.suppress(OSError):
                private_folder(path.parent)
                if not path.exists():
                    new_private_file(path)
                readline.write_history_file(path)
                path.chmod(0o600)
