"""``SessionFactory``: what a turn needs, from the settings, for a conversation or for a single question."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..core.answer_length import AnswerLength
from ..core.causes.chat import BAD_MODE, MESSAGE_TOO_LONG, NO_FUNCTION_CALLS, UNKNOWN_MODEL_CHOICE
from ..core.errors import SuyuanError
from ..core.own_address import names_document
from ..core.person import require
from ..core.query import SearchQuery
from ..core.result import LIBRARY
from ..embedded.responder import Responder
from ..llm.build import build_model, close_model
from ..llm.settings import EMBEDDED, ModelSettings
from ..search.focus import focus_of
from ..search.service import SearchService
from ..store.conversation import Conversation, Message, Mode
from ..tools.session import SessionSearch
from .functions import NO_FUNCTIONS, Functions
from .recall import Recall
from .session import Fetch, PastTurn, Session
from .settings import ChatSettings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

# Conversations whose search cache is kept.
_MAX_CONVERSATIONS = 200
MAX_HISTORY = 200_000
"""So many characters of a conversation are looked at, the newest ones; many more than models read."""


class SessionFactory:
    """Makes sessions; models are built when they are first used, and shared."""

    def __init__(
        self,
        search: SearchService,
        fetch: Fetch,
        *,
        model: ModelSettings,
        settings: ChatSettings,
        recall: Recall | None = None,
        connected: Callable[[], Mapping[str, ModelSettings]] = dict,
    ) -> None:
        self._search = search
        self._fetch = fetch
        self._settings = settings
        self._recall = recall
        self.default_model = model.label
        self._configured = {model.label: model, EMBEDDED: ModelSettings()}
        self._connected = connected
        self._built: dict[ModelSettings, BaseChatModel] = {}
        self._searches: OrderedDict[tuple[str, ...], SessionSearch] = OrderedDict()

    @property
    def models(self) -> dict[str, ModelSettings]:
        """The models that can be chosen now; what was connected on the page comes before the configuration."""
        return {**self._configured, **self._connected()}

    async def close_unused(self) -> None:
        """Close models that nobody can choose any more; conversations that used them go on with the default one."""
        models = self.models.values()
        for settings in [each for each in self._built if each not in models]:
            await close_model(self._built.pop(settings))

    def check(self, mode: str = "chat", model: str = "", engine: str = "", focus: str = "") -> None:
        """Raise where there is no such mode, model or focus, or ``engine`` is no plan; what is empty is the default."""
        if mode not in ("chat", "agent"):
            raise BAD_MODE(value=mode)
        if model and model not in (models := self.models):
            raise UNKNOWN_MODEL_CHOICE(value=model, known=", ".join(models))
        if engine:
            self._search.check_plan(engine)
        if focus:
            focus_of(focus, self._search.focuses)

    @property
    def search_configured(self) -> bool | None:
        """Whether new conversations search, where the settings say so."""
        return self._settings.search

    def create(
        self,
        history: tuple[PastTurn, ...] = (),
        *,
        mode: Mode,
        search: bool,
        engine: str = "",
        model: str = "",
        focus: str = "",
        length: AnswerLength | None = None,
        session_search: SessionSearch | None = None,
        functions: Functions = NO_FUNCTIONS,
        within: SearchQuery | None = None,
        instructions: str = "",
        private: bool = False,
    ) -> Session:
        """The session for one turn."""
        require("chat")
        if search or mode == "agent":
            require("search")
        self.check(mode, model)
        search_of = session_search or SessionSearch(self._search, engines=engine, focus=focus, within=within)
        label = model or self.default_model
        settings = self.models[label]
        made = self._model(settings)
        if functions.tools and isinstance(made, Responder):
            raise NO_FUNCTION_CALLS(model=label)
        returned = sum(len(call.output or "") for calls in functions.rounds for call in calls)
        if returned > MAX_HISTORY:
            raise MESSAGE_TOO_LONG(length=returned, limit=MAX_HISTORY)
        told = instructions if len(instructions) <= MAX_HISTORY else ""
        looked_at = _newest(history, MAX_HISTORY - len(told))
        return Session(
            made,
            search_of,
            self._fetch,
            mode,
            search,
            engine,
            settings,
            self._settings,
            _told_apart(looked_at, search_of),
            length=length or self._settings.length,
            recall=self._recall,
            functions=functions,
            instructions=told,
            private=private,
            shortened=len(told) < len(instructions) or len(looked_at) < len(history),
        )

    def _model(self, settings: ModelSettings) -> BaseChatModel | Responder:
        if settings.provider == EMBEDDED:
            return Responder()
        if settings not in self._built:
            self._built[settings] = build_model(settings)
        return self._built[settings]

    def of_conversation(
        self, conversation: Conversation, messages: list[Message], length: AnswerLength | None = None
    ) -> Session:
        """The session for the next turn of a conversation."""
        return self.create(
            past_turns(messages),
            mode=conversation.mode,
            search=conversation.search,
            engine=conversation.engine,
            # A model that is no longer configured does not end the conversation.
            model=conversation.model if conversation.model in self.models else "",
            focus=conversation.focus,
            length=length,
            session_search=self._conversation_search(conversation),
        )

    def _conversation_search(self, conversation: Conversation) -> SessionSearch | None:
        """Agent mode caches its searches as long as the conversation is used; Chat mode searches every message."""
        if conversation.mode != "agent":
            return None
        key = (conversation.id, conversation.engine, conversation.focus)
        made = SessionSearch(self._search, engines=conversation.engine, focus=conversation.focus)
        kept = self._searches.setdefault(key, made)
        self._searches.move_to_end(key)
        while len(self._searches) > _MAX_CONVERSATIONS:
            self._searches.popitem(last=False)
        return kept

    def forget(self, conversation: str) -> None:
        """Drop the search cache of a conversation that has ended."""
        for key in [key for key in self._searches if key[0] == conversation]:
            self._searches.pop(key).close()

    async def close(self) -> None:
        """Close the models that were built."""
        while self._built:
            await close_model(self._built.popitem()[1])


def _newest(history: tuple[PastTurn, ...], room: int) -> tuple[PastTurn, ...]:
    """The newest exchanges that are so many characters long together."""
    for at in range(len(history) - 1, -1, -1):
        room -= len(history[at].question) + len(history[at].answer) + len(history[at].returned)
        if room < 0:
            return history[at + 1 :]
    return history


def _told_apart(history: tuple[PastTurn, ...], search: SessionSearch) -> tuple[PastTurn, ...]:
    """The history, in which each answer counts as private or not."""
    if all(exchange.private is not None for exchange in history):
        return history
    found = _may_find_documents(search)
    return tuple(
        replace(each, private=found or _names_document(each)) if each.private is None else each for each in history
    )


def _names_document(exchange: PastTurn) -> bool:
    """Whether a question or its answer names a document of the user, which may have been read."""
    return names_document((exchange.question, exchange.answer, exchange.sources, exchange.returned))


def _may_find_documents(search: SessionSearch) -> bool:
    """Whether a conversation with this search can find own documents of the user."""
    try:
        return LIBRARY in search.plan_for(SearchQuery("?")).asked
    except SuyuanError:
        # What cannot be searched now may have been before.
        return True


def past_turns(messages: list[Message]) -> tuple[PastTurn, ...]:
    """The earlier questions with their answers; a question without an answer is left out."""
    found = []
    for question, answer in zip(messages, messages[1:], strict=False):
        if question.role == "user" and answer.role == "assistant" and answer.answer:
            data = answer.answer
            sources = tuple(
                (source["title"], source["url"])
                for source in data.get("sources", ())
                if source["number"] in data.get("cited", ())
            )
            # Answers of older releases do not tell; what they found does.
            own = any(source.get("engine") == LIBRARY for source in data.get("sources", ()))
            private = True if own else data.get("private")
            found.append(PastTurn(question.text, data.get("text") or answer.text, sources, private=private))
    return tuple(found)
