"""``ChatService``: conversations with their settings, and the answers that are under way in them."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ..core.causes.chat import (
    ANSWER_UNDER_WAY,
    BAD_MODE,
    EMPTY_MESSAGE,
    MESSAGE_TOO_LONG,
    NO_CONVERSATION,
    NO_MESSAGE,
    SWITCH_LOCKED,
    UNKNOWN_MODEL_CHOICE,
)
from ..core.sync_bridge import SyncBridge
from ..llm.build import build_model, close_model
from ..llm.settings import EMBEDDED, ModelSettings
from ..search.service import SearchService
from ..store.conversation import Conversation, Message, Mode, new_id
from ..store.conversations import Store
from ..tools.session import SessionSearch
from .agent_turn import agent_work
from .chat_turn import chat_work
from .commands import Command
from .runs import Run
from .session import Exchange, Fetch, Session
from .settings import ChatSettings
from .turn import Turn

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

log = logging.getLogger("suyuan.chat")
T = TypeVar("T")

LONGEST_MESSAGE = 20_000
# Conversations whose search cache is remembered, and how long a finished run can be followed from its events.
_SESSIONS = 200
_FOLLOWED = 120.0
_QUEUE = 64


@dataclass(frozen=True, slots=True)
class Change:
    """Something about a conversation that other windows should know."""

    kind: str
    """``settings``, ``run.started``, ``run.finished`` or ``deleted``."""
    conversation: Conversation
    run: str = ""


class ChatService:
    """All conversations of one store."""

    def __init__(
        self,
        store: Store,
        search: SearchService,
        fetch: Fetch,
        *,
        model: ModelSettings,
        settings: ChatSettings,
        bridge: SyncBridge,
        models: Mapping[str, ModelSettings] | None = None,
    ) -> None:
        self.store = store
        self._search = search
        self._fetch = fetch
        self._settings = settings
        self._bridge = bridge
        self.default_model = model.label
        embedded = ModelSettings()
        self.models: dict[str, ModelSettings] = {model.label: model, embedded.label: embedded, **(models or {})}
        self._built: dict[str, BaseChatModel] = {}
        self._searches: OrderedDict[tuple[str, str], SessionSearch] = OrderedDict()
        self._runs: dict[str, Run] = {}
        self._beginning: set[str] = set()
        self._watchers: dict[str, set[asyncio.Queue[Change]]] = {}
        # Nothing waits for the disk on the event loop. SQLite has one writer: threads would only wait for each other.
        self._pens = ThreadPoolExecutor(store.writers, "suyuan-store")

    # --- conversations ------------------------------------------------------------------------------------------------
    async def create(
        self, *, mode: str = "chat", search: bool | None = None, engine: str = "", model: str = "", lang: str = "zh"
    ) -> Conversation:
        """A new conversation; what is not said is as configured."""
        self._check(mode, model)
        if search is None:
            # A model that only quotes has nothing to say without a search.
            by_model = self.models[model or self.default_model].provider == EMBEDDED
            search = by_model if self._settings.search is None else self._settings.search
        known: Mode = "agent" if mode == "agent" else "chat"
        return await self._write(self.store.create, mode=known, search=search, engine=engine, model=model, lang=lang)

    async def get(self, id: str) -> Conversation:
        """The conversation of that id."""
        found = await asyncio.to_thread(self.store.get, id)
        if found is None or found.deleted_at:
            raise NO_CONVERSATION(id=id[:40])
        return found

    async def change(self, id: str, **fields: Any) -> Conversation:
        """Change mode, switch, engine, model, language or title. In Agent mode the switch is locked, here as on the page."""
        before = await self.get(id)
        mode = fields.get("mode") or before.mode
        self._check(mode, fields.get("model") or "")
        if fields.get("search") is not None and mode == "agent":
            raise SWITCH_LOCKED()
        if engine := fields.get("engine"):
            self._search.check_plan(engine)
        after = await self._write(
            self.store.change, id, **{name: value for name, value in fields.items() if value is not None}
        )
        self._tell(Change("settings", after))
        return after

    async def obey(self, id: str, command: Command) -> Conversation:
        """Do what a command typed into the chat says."""
        if command.name == "help":
            return await self.get(id)
        return await self.change(id, **{command.name: command.value})

    async def delete(self, id: str) -> None:
        """Delete a conversation; it can be restored for a while."""
        conversation = await self.get(id)
        for run in list(self._runs.values()):
            if run.conversation == id:
                run.stop()
        await self._write(self.store.delete, id)
        self._tell(Change("deleted", conversation))

    async def restore(self, id: str) -> Conversation:
        """Bring a deleted conversation back."""
        await self._write(self.store.restore, id)
        return await self.get(id)

    async def _write(self, work: Callable[..., T], *args: Any, **named: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pens, partial(work, *args, **named))

    def _check(self, mode: str, model: str) -> None:
        if mode not in ("chat", "agent"):
            raise BAD_MODE(value=mode)
        if model and model not in self.models:
            raise UNKNOWN_MODEL_CHOICE(value=model, known=", ".join(self.models))

    # --- answers ------------------------------------------------------------------------------------------------------
    async def ask(self, id: str, text: str, *, instead_of: str = "") -> Run:
        """Begin to answer ``text``; ``instead_of`` names an earlier question, which goes with everything after it."""
        conversation = await self.get(id)
        if not text.strip():
            raise EMPTY_MESSAGE()
        if len(text) > LONGEST_MESSAGE:
            raise MESSAGE_TOO_LONG(length=len(text), limit=LONGEST_MESSAGE)
        if self.running(id) or id in self._beginning:
            raise ANSWER_UNDER_WAY()
        # Taken before the next wait, so that two windows cannot both begin.
        self._beginning.add(id)
        try:
            return await self._begun(conversation, text, instead_of)
        finally:
            self._beginning.discard(id)

    async def _begun(self, conversation: Conversation, text: str, instead_of: str) -> Run:
        id, run_id = conversation.id, new_id()
        history = await asyncio.to_thread(self.store.messages, id)
        if instead_of:
            place = next((at for at, message in enumerate(history) if message.id == instead_of), None)
            if place is None:
                raise NO_MESSAGE(id=instead_of[:40])
            await self._write(self.store.cut_from, id, instead_of)
            history = history[:place]
        turn = Turn(self._session(conversation, history), text, run_id)
        begun = await self._write(self.store.begin_turn, id, text, run_id)
        run = self._runs[run_id] = Run(
            turn, agent_work if conversation.mode == "agent" else chat_work, id, self.store, self._pens
        )
        run.start(self._ended)
        self._tell(Change("run.started", begun, run_id))
        return run

    async def retry(self, id: str, answer: str) -> Run:
        """Answer the question before ``answer`` once more; the old answer goes."""
        question: Message | None = None
        for message in await asyncio.to_thread(self.store.messages, id):
            if message.id == answer:
                break
            if message.role == "user":
                question = message
        else:
            question = None
        if question is None:
            raise NO_MESSAGE(id=answer[:40])
        return await self.ask(id, question.text, instead_of=question.id)

    def run(self, run_id: str) -> Run | None:
        """An answer that is under way or has just ended."""
        return self._runs.get(run_id)

    def running(self, id: str) -> Run | None:
        """The answer that is under way in a conversation."""
        return next((run for run in self._runs.values() if run.conversation == id and not run.finished), None)

    async def _ended(self, run: Run) -> None:
        asyncio.get_running_loop().call_later(_FOLLOWED, self._runs.pop, run.id, None)
        conversation = await asyncio.to_thread(self.store.get, run.conversation)
        if conversation:
            self._tell(Change("run.finished", conversation, run.id))

    def _session(self, conversation: Conversation, messages: list[Message]) -> Session:
        label = conversation.model if conversation.model in self.models else self.default_model
        return Session(
            self._model(label),
            self._session_search(conversation),
            self._fetch,
            conversation.mode,
            conversation.search,
            conversation.engine,
            self.models[label],
            self._settings,
            exchanges(messages),
            self._bridge,
        )

    def session_for(
        self, history: tuple[Exchange, ...], *, mode: Mode, search: bool, engine: str = "", model: str = ""
    ) -> Session:
        """What a turn needs that belongs to no conversation: nothing of it is kept."""
        self._check(mode, model)
        label = model or self.default_model
        return Session(
            self._model(label),
            SessionSearch(self._search, engines=engine),
            self._fetch,
            mode,
            search,
            engine,
            self.models[label],
            self._settings,
            history,
            self._bridge,
        )

    def _session_search(self, conversation: Conversation) -> SessionSearch:
        """Agent mode remembers its searches as long as the conversation is used; Chat mode searches every message."""
        fresh = SessionSearch(self._search, engines=conversation.engine)
        if conversation.mode != "agent":
            return fresh
        key = (conversation.id, conversation.engine)
        kept = self._searches.setdefault(key, fresh)
        self._searches.move_to_end(key)
        while len(self._searches) > _SESSIONS:
            self._searches.popitem(last=False)
        return kept

    def _model(self, label: str) -> BaseChatModel:
        if label not in self._built:
            self._built[label] = build_model(self.models[label])
        return self._built[label]

    # --- other windows ------------------------------------------------------------------------------------------------
    async def watch(self, id: str) -> AsyncIterator[Change]:
        """What changes in a conversation, as it changes."""
        queue: asyncio.Queue[Change] = asyncio.Queue(_QUEUE)
        watchers = self._watchers.setdefault(id, set())
        watchers.add(queue)
        try:
            while True:
                yield await queue.get()
        finally:
            watchers.discard(queue)
            if not watchers:
                self._watchers.pop(id, None)

    def _tell(self, change: Change) -> None:
        for queue in self._watchers.get(change.conversation.id, ()):
            if queue.full():
                # A window that does not read gets the newest only: each change carries the whole state.
                queue.get_nowait()
            queue.put_nowait(change)

    async def close(self) -> None:
        """Stop what is under way, keep it, and close the models and the store."""
        runs = [run for run in self._runs.values() if not run.finished]
        for run in runs:
            run.stop()
        for run in runs:
            await run.wait()
        for model in self._built.values():
            await close_model(model)
        self._built.clear()
        await asyncio.to_thread(self._pens.shutdown)
        self.store.close()


def exchanges(messages: list[Message]) -> tuple[Exchange, ...]:
    """The earlier questions with their answers; a question that got none is left out."""
    found = []
    for question, answer in zip(messages, messages[1:], strict=False):
        if question.role == "user" and answer.role == "assistant" and answer.answer:
            told = answer.answer
            sources = tuple(
                (source["title"], source["url"])
                for source in told.get("sources", ())
                if source["number"] in told.get("cited", ())
            )
            found.append(Exchange(question.text, told.get("text") or answer.text, sources))
    return tuple(found)
