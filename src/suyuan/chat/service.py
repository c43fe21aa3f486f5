"""``ChatService``: conversations and the answers that are being written in them."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..core.answer_length import AnswerLength
from ..core.at_work import NotedThreads
from ..core.causes.chat import ANSWER_UNDER_WAY, NO_CONVERSATION, NO_MESSAGE, SWITCH_LOCKED
from ..core.causes.store import STORE_SLOW
from ..core.errors import SuyuanError
from ..core.person import EVERYBODY, current_person, require
from ..core.tasks import TaskSet, in_thread
from ..store.conversation import Conversation, Message, Mode, new_id
from ..store.conversations import Store
from ..text.visible import shown_text
from .answering import begin_answer, check_message
from .commands import Command
from .publishing import publish
from .remote_runs import RemoteRun
from .runs import Run
from .search_switch import SearchSwitch
from .session_factory import SessionFactory
from .turn import Turn
from .unsaved import UnsavedAnswers

if TYPE_CHECKING:
    from ..live.live import Live

log = logging.getLogger("suyuan.chat")
T = TypeVar("T")
Begin = Callable[[Conversation, list[Message], str], Awaitable[tuple[Turn, Conversation]]]
"""Stores the start of an answer, given the conversation, the messages so far and the id of the answer."""

# How long a finished run can be followed from its events.
_FOLLOWED = 120.0
# So many bytes of finished runs are kept for that; the store has them all.
_MOST_FOLLOWED = 64_000_000
_QUEUE = 64
# How long the end of an answer waits for a store that does not respond, and how long a request does.
_STORE_SECONDS = 3.0
_PATIENCE_SECONDS = 10.0
_READERS = 8


@dataclass(frozen=True, slots=True)
class Change:
    """A change that other windows of the conversation should show."""

    kind: str
    """``settings``, ``run.started``, ``run.finished``, ``run.saved`` (after it could not be saved) or ``deleted``."""
    conversation: Conversation
    run: str = ""


class ChatService:
    """All conversations of one store."""

    def __init__(
        self, store: Store, sessions: SessionFactory, unsaved_folder: Path | None = None, live: Live | None = None
    ) -> None:
        self.store = store
        self.sessions = sessions
        self.search_switch = SearchSwitch(store.choices, sessions.search_configured)
        self._live = live
        """What is shared with other workers; None where this one is alone."""
        self._remote: dict[str, RemoteRun] = {}
        self._background = TaskSet()
        self._unsaved = UnsavedAnswers(store, unsaved_folder, self._saved)
        self._unsaved.recover()
        self._runs: dict[str, Run] = {}
        self._latest_runs: dict[str, Run] = {}
        """The last of them in each conversation."""
        self._followed: dict[str, Run] = {}
        """Those that have ended and can still be followed, the oldest first."""
        self._beginning: set[str] = set()
        self._watchers: dict[str, set[asyncio.Queue[Change]]] = {}
        # Nothing waits for the disk on the event loop.
        self._writers = store.writer()
        # Threads of its own: a database that does not respond must not stop what else needs threads.
        self._readers = NotedThreads(_READERS, "suyuan-store-reader")
        if live is not None:
            live.notifications.on("stop", self._told_to_stop)
            live.notifications.on("change", self._told_of_change)

    # --- conversations ------------------------------------------------------------------------------------------------
    async def create(
        self, *, mode: str = "chat", search: bool | None = None, model: str = "", focus: str = "", **other: str
    ) -> Conversation:
        """Create a conversation, perhaps with an engine and a language; what is not given is as configured."""
        self.sessions.check(mode, model, focus=focus)
        if search is None:
            search = self.search_switch.without_person()
        known: Mode = "agent" if mode == "agent" else "chat"
        return await self._write(self.store.create, mode=known, search=search, model=model, focus=focus, **other)

    async def get(self, id: str) -> Conversation:
        """The conversation of that id."""
        return _present(await self.read(self.store.get, id), id)

    async def change(self, id: str, **fields: Any) -> Conversation:
        """Change mode, switch, engine, focus, model, language, title or pin; in Agent mode the switch is locked."""
        before = await self.get(id)
        mode = fields.get("mode") or before.mode
        self.sessions.check(mode, *(fields.get(name) or "" for name in ("model", "engine", "focus")))
        if fields.get("search") is not None and mode == "agent":
            raise SWITCH_LOCKED()
        after = await self._write(
            self.store.change, id, **{name: value for name, value in fields.items() if value is not None}
        )
        self._tell(Change("settings", after))
        return after

    async def run_command(self, id: str, command: Command) -> Conversation:
        """Run a command that was typed into the chat."""
        if command.name == "help":
            return await self.get(id)
        changed = await self.change(id, **{command.name: command.value})
        if command.name == "search":
            await self.keep_switch(changed.search)
        return changed

    async def keep_switch(self, on: bool) -> None:
        """Begin the next conversations of this person with the search switch as they left it."""
        await self._write(self.search_switch.keep, on)

    async def delete(self, id: str) -> None:
        """Delete a conversation; it can be restored for a while."""
        conversation = await self.get(id)
        if conversation.running:
            await self.stop(conversation.running)
        await self._write(self.store.delete, id)
        self.sessions.forget(id)
        self._tell(Change("deleted", conversation))

    async def restore(self, id: str) -> Conversation:
        """Restore a deleted conversation."""
        await self._write(self.store.restore, id)
        return await self.get(id)

    def messages(self, id: str) -> list[Message]:
        """The messages of a conversation, with the answers that the store could not take yet; waits for the disk."""
        return [self._with_answer(message) for message in self.store.messages(id)]

    def events(self, run: str) -> list[tuple[int, dict[str, Any]]]:
        """The stored events of an answer, or those of one that the store could not take yet; waits for the disk."""
        unsaved = self._unsaved.get(run)
        return unsaved.all_events() if unsaved else self.store.events(run)

    def is_unsaved(self, run: str) -> bool:
        """Whether the store could not take this answer yet."""
        return self._unsaved.get(run) is not None

    def _with_answer(self, message: Message) -> Message:
        run = self._unsaved.get(message.id)
        if run is None or run.answer is None:
            return message
        return replace(message, **{**run.outcome(), "answer": run.answer.as_dict()})

    async def read(self, work: Callable[..., T], *args: Any, **named: Any) -> T:
        """Do ``work`` that waits for the database in a thread; raises a cause where that takes too long."""
        return await self._in_thread(self._readers, partial(work, *args, **named))

    async def _write(self, work: Callable[..., T], *args: Any, **named: Any) -> T:
        return await self._in_thread(self._writers, partial(work, *args, **named))

    async def _in_thread(self, threads: Executor, work: Callable[[], T]) -> T:
        # With the context of the caller, which knows whose request this is.
        future = asyncio.get_running_loop().run_in_executor(threads, contextvars.copy_context().run, work)
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                return await future
        except TimeoutError:
            raise STORE_SLOW(seconds=_PATIENCE_SECONDS) from None

    # --- answers ------------------------------------------------------------------------------------------------------
    async def ask(self, id: str, text: str, *, instead_of: str = "", length: AnswerLength | None = None) -> Run:
        """Start to answer ``text``; ``instead_of`` is an earlier question, removed with everything after it."""
        text = shown_text(text)
        check_message(text)

        async def begin(known: Conversation, history: list[Message], run_id: str) -> tuple[Turn, Conversation]:
            if instead_of:
                place = next((at for at, message in enumerate(history) if message.id == instead_of), None)
                if place is None:
                    raise NO_MESSAGE(id=instead_of[:40])
                history = history[:place]
            # Before anything is removed: the model may lack its key.
            turn = Turn(self.sessions.of_conversation(known, history, length), text, run_id)
            await begin_answer(searches=turn.searches)
            return turn, await self._write(self.store.begin_turn, id, text, run_id, instead_of)

        return await self._start(id, begin)

    async def retry(self, id: str, answer: str, *, query: str = "") -> Run:
        """Answer the question before ``answer`` again, perhaps with another search; the old answer stays as a version.

        Everything after it is removed.
        """

        async def begin(known: Conversation, history: list[Message], run_id: str) -> tuple[Turn, Conversation]:
            place = next((at for at, message in enumerate(history) if message.id == answer), 0)
            if not place or history[place - 1].role != "user":
                raise NO_MESSAGE(id=answer[:40])
            session = self.sessions.of_conversation(known, history[: place - 1])
            turn = Turn(session, history[place - 1].text, run_id, query=query.strip())
            await begin_answer(searches=turn.searches)
            return turn, await self._write(self.store.begin_version, id, answer, run_id)

        return await self._start(id, begin)

    async def choose_version(self, id: str, answer: str) -> None:
        """Make an earlier version of an answer the one that counts."""
        conversation = await self.get(id)
        if self.running(id):
            raise ANSWER_UNDER_WAY()
        await self._write(self.store.choose_version, id, answer)
        self._tell(Change("run.saved", conversation, answer))

    async def _start(self, id: str, begin: Begin) -> Run:
        if self.running(id) or id in self._beginning:
            # Of a conversation of somebody else not even this is told.
            await self.get(id)
            raise ANSWER_UNDER_WAY()
        # Before the next await, so that two windows cannot both start.
        self._beginning.add(id)
        try:
            return await self._begun(id, begin)
        finally:
            self._beginning.discard(id)

    async def _begun(self, id: str, begin: Begin) -> Run:
        if len(self._unsaved):
            await self._unsaved.save()
        conversation, history = await self.read(lambda: (self.store.get(id), self.messages(id)))
        known = _present(conversation, id)
        run_id = new_id()
        turn, begun = await begin(known, history, run_id)
        run = Run(turn, id, self.store, self._writers, self._unsaved.add)
        self._runs[run_id] = self._latest_runs[id] = run
        run.start(partial(self._ended, begun))
        if self._live is not None:
            self._background.start(publish(run, self._live.streams))
        self._tell(Change("run.started", begun, run_id))
        return run

    def run(self, run_id: str) -> Run | None:
        """An answer that is being written or has just ended."""
        run, person = self._runs.get(run_id), require("chat")
        return run if run is not None and (person is EVERYBODY or run.person == person.id) else None

    def running(self, id: str) -> Run | None:
        """The answer that is being written in a conversation."""
        run = self._latest_runs.get(id)
        return run if run is not None and not run.finished else None

    def running_id(self, conversation: Conversation) -> str | None:
        """The answer that is being written in a conversation, here or by another process."""
        if run := self.running(conversation.id):
            return run.id
        # One that has ended here may be waiting for the store.
        return None if conversation.running in self._runs else conversation.running

    async def follow(self, run_id: str) -> Run | RemoteRun | None:
        """The events of an answer that is being written, here or by another worker; None where the store has all."""
        if found := self.run(run_id):
            return found
        if self._live is None:
            return None
        message = await self.read(self.store.message, run_id)
        if message is None or message.state != "running":
            return None
        remote = self._remote.get(run_id)
        if remote is None:
            remote = self._remote[run_id] = RemoteRun(run_id, self._live.streams, self._stored(run_id))
            asyncio.get_running_loop().call_later(_FOLLOWED, self._forget_remote, run_id)
        return remote if await remote.load() else None

    def _forget_remote(self, run_id: str) -> None:
        if self._remote[run_id].reading:
            asyncio.get_running_loop().call_later(_FOLLOWED, self._forget_remote, run_id)
        else:
            del self._remote[run_id]

    def _stored(self, run_id: str) -> Callable[[int], Any]:
        def look(after: int) -> tuple[Message | None, list[tuple[int, dict[str, Any]]]]:
            self.sweep()
            message = self.store.message(run_id)
            return message, self.store.events(run_id, after) if message and message.state != "running" else []

        return partial(self.read, look)

    async def stop(self, run_id: str) -> bool:
        """Stop an answer wherever it is written; return whether it was being written."""
        if run := self.run(run_id):
            running = not run.finished
            run.stop()
            return running
        # Stored, since a message alone may be lost; the writer looks when it saves the text.
        wanted = await self._write(self.store.want_stop, run_id)
        if wanted and self._live is not None:
            await self._live.notifications.send("stop", run=run_id)
        return wanted

    def sweep(self) -> int:
        """Mark the answers of dead processes; waits for the disk."""
        return self.store.sweep([run.id for run in self._runs.values() if not run.finished])

    async def _told_to_stop(self, message: Mapping[str, Any]) -> None:
        if run := self._runs.get(str(message["run"])):
            run.stop()

    async def _told_of_change(self, message: Mapping[str, Any]) -> None:
        id = str(message["conversation"])
        # The message is about anybody's conversation; who watches it has been let in before.
        if id in self._watchers and (conversation := await self.read(_as_everybody, self.store.get, id)):
            self._tell_here(Change(str(message["change"]), conversation, str(message["run"])))

    async def _ended(self, begun: Conversation, run: Run) -> None:
        if not self.is_unsaved(run.id):
            self._forget_later(run)
        if run.conversation in self._watchers or self._live is not None:
            self._tell(Change("run.finished", await self._latest(begun), run.id))

    async def _saved(self, run: Run) -> None:
        """Tell the windows that an answer is saved at last."""
        self._forget_later(run)
        if conversation := await self.read(_as_everybody, self.store.get, run.conversation):
            self._tell(Change("run.saved", conversation, run.id))

    def _forget_later(self, run: Run) -> None:
        self._followed[run.id] = run
        size = sum(each.size for each in self._followed.values())
        for oldest in list(self._followed.values())[:-1]:
            if size > _MOST_FOLLOWED:
                size -= oldest.size
                self._forget(oldest)
        asyncio.get_running_loop().call_later(_FOLLOWED, self._forget, run)

    def _forget(self, run: Run) -> None:
        self._followed.pop(run.id, None)
        self._runs.pop(run.id, None)
        if self._latest_runs.get(run.conversation) is run:
            del self._latest_runs[run.conversation]

    async def _latest(self, known: Conversation) -> Conversation:
        """The conversation as the store has it, or as it was ``known`` where the store is away."""
        try:
            async with asyncio.timeout(_STORE_SECONDS):
                return await self.read(self.store.get, known.id) or known
        except (SuyuanError, TimeoutError):
            return known

    # --- other windows ------------------------------------------------------------------------------------------------
    @contextmanager
    def watching(self, id: str) -> Iterator[asyncio.Queue[Change]]:
        """The changes of a conversation from now on, as they happen."""
        queue: asyncio.Queue[Change] = asyncio.Queue(_QUEUE)
        watchers = self._watchers.setdefault(id, set())
        watchers.add(queue)
        try:
            yield queue
        finally:
            watchers.discard(queue)
            if not watchers:
                self._watchers.pop(id, None)

    def _tell(self, change: Change) -> None:
        self._tell_here(change)
        if self._live is not None:
            fields = {"change": change.kind, "conversation": change.conversation.id, "run": change.run}
            self._background.start(self._live.notifications.send("change", **fields))

    def _tell_here(self, change: Change) -> None:
        for queue in self._watchers.get(change.conversation.id, ()):
            if queue.full():
                # A window that does not read gets the newest only: each change carries the whole state.
                queue.get_nowait()
            queue.put_nowait(change)

    async def close(self) -> None:
        """Stop and save the running answers, and close the store."""
        runs = [run for run in self._runs.values() if not run.finished]
        for run in runs:
            run.stop()
        for run in runs:
            await run.wait()
        await self._unsaved.close()
        for remote in self._remote.values():
            await remote.close()
        if self._background:
            # The last events, for those who follow elsewhere.
            await asyncio.wait(self._background, timeout=_STORE_SECONDS)
            for task in self._background:
                task.cancel()
        await in_thread(self._writers.shutdown)
        await in_thread(self._readers.shutdown)
        self.store.close()


def _present(found: Conversation | None, id: str) -> Conversation:
    """``found``, unless there is no such conversation any more."""
    if found is None or found.deleted_at:
        raise NO_CONVERSATION(id=id[:40])
    return found


def _as_everybody(work: Callable[..., T], *args: Any) -> T:
    """Do ``work`` that is not done for one person; in a thread, whose context ends with it."""
    current_person.set(EVERYBODY)
    return work(*args)
