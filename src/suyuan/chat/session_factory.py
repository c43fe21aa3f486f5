"""``SessionFactory``: what a turn needs, from the settings, for a conversation or for a single question."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from ..core.answer_length import AnswerLength
from ..core.causes.chat import BAD_MODE, NO_FUNCTION_CALLS, UNKNOWN_MODEL_CHOICE
from ..core.query import SearchQuery
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
    ) -> None:
        self._search = search
        self._fetch = fetch
        self._settings = settings
        self._recall = recall
        self.default_model = model.label
        self.models = {model.label: model, EMBEDDED: ModelSettings()}
        self._built: dict[ModelSettings, BaseChatModel] = {}
        self._searches: OrderedDict[tuple[str, ...], SessionSearch] = OrderedDict()

    def connect(self, model: ModelSettings) -> None:
        """Let conversations use ``model`` from now on."""
        self.models[model.label] = model

    async def disconnect(self, label: str) -> None:
        """Take a model away; conversations that used it go on with the default one."""
        if label == self.default_model or label not in self.models:
            return
        if built := self._built.pop(self.models.pop(label), None):
            await close_model(built)

    def check(self, mode: str = "chat", model: str = "", engine: str = "", focus: str = "") -> None:
        """Raise where there is no such mode, model or focus, or ``engine`` is no plan; what is empty is the default."""
        if mode not in ("chat", "agent"):
            raise BAD_MODE(value=mode)
        if model and model not in self.models:
            raise UNKNOWN_MODEL_CHOICE(value=model, known=", ".join(self.models))
        if engine:
            self._search.check_plan(engine)
        if focus:
            focus_of(focus, self._search.focuses)

    def searches_by_default(self, model: str = "") -> bool:
        """Whether the search switch of a new conversation is on."""
        if self._settings.search is not None:
            return self._settings.search
        # A model that only quotes has nothing to say without a search.
        return self.models[model or self.default_model].provider == EMBEDDED

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
    ) -> Session:
        """The session for one turn."""
        self.check(mode, model)
        label = model or self.default_model
        made = self._model(label)
        if functions.tools and isinstance(made, Responder):
            raise NO_FUNCTION_CALLS(model=label)
        return Session(
            made,
            session_search or SessionSearch(self._search, engines=engine, focus=focus, within=within),
            self._fetch,
            mode,
            search,
            engine,
            self.models[label],
            self._settings,
            history,
            length=length or self._settings.length,
            recall=self._recall,
            functions=functions,
        )

    def _model(self, label: str) -> BaseChatModel | Responder:
        settings = self.models[label]
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
            del self._searches[key]

    async def close(self) -> None:
        """Close the models that were built."""
        while self._built:
            await close_model(self._built.popitem()[1])


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
            found.append(PastTurn(question.text, data.get("text") or answer.text, sources))
    return tuple(found)
