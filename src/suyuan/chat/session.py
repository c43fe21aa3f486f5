"""``Session``: what a turn needs to know about its conversation."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from ..core.answer_length import AnswerLength
from ..core.document import Document
from ..core.query import SearchQuery
from ..embedded.follow_up import Said
from ..embedded.responder import Responder
from ..llm.settings import ModelSettings
from ..store.conversation import Mode
from ..tools.session import SessionSearch
from .functions import Functions
from .recall import Recall
from .settings import ChatSettings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

Fetch = Callable[[str], Coroutine[Any, Any, Document]]


@dataclass(frozen=True, slots=True)
class PastTurn(Said):
    """An earlier question of the conversation and its answer."""

    sources: tuple[tuple[str, str], ...] = ()
    """Title and address of what the answer was based on."""
    returned: str = ""
    """What functions of the caller returned for the question: the model sees it, and it is not the user's word."""
    private: bool | None = None
    """Whether the answer may repeat own documents of the user. Where nobody knows (None), it may if the conversation
    searches them."""


class AskParams(TypedDict, total=False):
    """The optional keywords of a single question, typed once for every function that takes them."""

    mode: Mode
    search: bool
    engines: str
    model: str
    history: Sequence[PastTurn]
    length: AnswerLength
    within: SearchQuery


@dataclass(slots=True)
class Session:
    """What a turn needs; new for every turn, except for the search, whose cache belongs to the conversation."""

    model: BaseChatModel | Responder
    search: SessionSearch
    fetch: Fetch
    mode: Mode
    searching: bool
    """The switch of Chat mode."""
    engine: str
    model_settings: ModelSettings
    settings: ChatSettings
    history: tuple[PastTurn, ...]
    length: AnswerLength
    recall: Recall | None
    """What is asked when no engine could answer."""
    functions: Functions
    """What the caller lets the model call."""
    instructions: str = ""
    """What the caller tells the model before the conversation; not the user's word."""
    private: bool = False
    """Whether what the caller sent names own documents of the user, anywhere."""
    shortened: bool = False
    """Whether the conversation was longer than what is looked at."""

    @property
    def chat_model(self) -> BaseChatModel:
        """The language model of a session that has one."""
        if isinstance(self.model, Responder):
            raise TypeError("a responder is no language model")
        return self.model
