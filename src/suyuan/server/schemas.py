"""Requests and responses of the JSON API, with examples; ``/api/openapi.json`` is made from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ..core.answer_length import AnswerLength
from ..core.page_reading import Depth
from ..core.setting import http_url
from ..messages.catalog import languages


def _with_texts(lang: str) -> str:
    if lang not in languages():
        raise ValueError(f"must be one of {', '.join(languages())}")
    return lang


Lang = Annotated[
    str, AfterValidator(_with_texts), Field(json_schema_extra=lambda schema: schema.update(enum=list(languages())))
]
Mode = Literal["chat", "agent"]
BaseUrl = Annotated[str, AfterValidator(lambda given: http_url().check(given) if given else ""), Field(max_length=500)]
"""The address of a service, as a setting has it."""
ApiKey = Annotated[str, Field(max_length=500, pattern=r"^[\x21-\x7e]*$")]
"""A key that a header can hold."""


def example(**values: Any) -> ConfigDict:
    """The configuration of a request: nothing but its fields, of which these are an example."""
    return ConfigDict(json_schema_extra={"examples": [values]}, extra="forbid")


class NewConversation(BaseModel):
    """The settings of a new conversation; what is missing is as configured."""

    model_config = example(mode="chat", search=True, lang="en")
    mode: Mode = "chat"
    search: bool | None = Field(None, description="The search switch of Chat mode; off unless `chat.search` is on.")
    engine: str = Field(
        "", max_length=200, description="Engine or plan: auto, NAME, A,B (B when A fails), A+B (merged)."
    )
    model: str = Field("", max_length=200)
    lang: Lang | None = None
    focus: str = Field("", max_length=60, description="Kind of source, as in a search.")
    text: str = Field("", description="The first question; it is being answered when the request returns.")


class ConversationChange(BaseModel):
    """The settings to change; in Agent mode the search switch is locked (409)."""

    model_config = example(search=True)
    title: str | None = Field(None, max_length=1000)
    mode: Mode | None = None
    search: bool | None = None
    engine: str | None = Field(None, max_length=200)
    model: str | None = Field(None, max_length=200)
    lang: Lang | None = None
    focus: str | None = Field(None, max_length=60)
    pinned: bool | None = Field(None, description="Whether it is listed before the others.")


class ConversationOut(BaseModel):
    """A conversation without its messages."""

    id: str
    title: str
    mode: Mode
    search: bool
    engine: str
    model: str
    lang: str
    created_at: str
    updated_at: str
    deleted_at: str | None = None
    focus: str = ""
    pinned_at: str | None = None
    running: str | None = Field(None, description="The answer that is being written, if there is one.")
    passage: str = Field(
        "",
        description="In a list that was asked for by words: where a message has them; empty where only the title has.",
    )


class ConversationList(BaseModel):
    """Conversations, newest first."""

    conversations: list[ConversationOut]
    more: bool = Field(description="Whether there are more conversations.")


class MessageOut(BaseModel):
    """A question or an answer; the id of an answer is the id of its run."""

    id: str
    conversation: str
    role: Literal["user", "assistant"]
    text: str
    state: Literal["done", "running", "stopped", "failed", "interrupted"]
    created_at: str
    answer: dict[str, Any] | None = None
    position: int = 0
    unsaved: bool = Field(False, description="Whether the store could not take the answer yet: it is kept in memory.")


class MessageList(BaseModel):
    """All messages of a conversation, in order."""

    messages: list[MessageOut]


class NewMessage(BaseModel):
    """A question, or a command such as ``/search on``."""

    model_config = example(text="What is new in Python 3.14?")
    text: str
    instead_of: str = Field(
        "", max_length=64, description="An earlier question that this one replaces, with everything after it."
    )
    length: AnswerLength | None = Field(None, description="Length and form; by default that of the settings.")


class Retry(BaseModel):
    """The answer to be written again; the old one stays as an earlier version."""

    model_config = example(answer="0f3k2m9x8w7v6u5t")
    answer: str = Field(max_length=64)
    query: str = Field("", max_length=500, description="What to search in place of the question, in Chat mode.")


class Version(BaseModel):
    """The version of an answer that counts from now on."""

    model_config = example(answer="0f3k2m9x8w7v6u5t")
    answer: str = Field(max_length=64)


class RunStarted(BaseModel):
    """An answer is being written; ``/api/runs/{run}/events`` follows it."""

    run: str


class CommandDone(BaseModel):
    """A command was executed."""

    command: Literal["search", "mode", "help"]
    conversation: ConversationOut


class RunStopped(BaseModel):
    """Whether the answer was still being written."""

    run: str
    stopped: bool


class SearchIn(BaseModel):
    """A search."""

    model_config = example(query="python 3.14 release date", count=5, freshness="year")
    query: str
    count: int = 10
    lang: str = ""
    country: str = ""
    freshness: str = ""
    allowed_domains: Annotated[list[str], Field(max_length=50, fail_fast=True)] = []
    blocked_domains: Annotated[list[str], Field(max_length=50, fail_fast=True)] = []
    need_summary: bool = False
    budget_ms: int | None = None
    safe: int = Field(0, description="Adult content is left out: 1 moderate, 2 strict; 0 as the engine does by itself.")
    page: int = Field(1, description="Further pages come only from engines that have them.")
    focus: str = Field(
        "",
        max_length=60,
        description="Kind of source: web, news, academic, code, discussions, encyclopedia, china, or your own.",
    )
    engines: str = Field(
        "", max_length=200, description="Engine or plan: auto, NAME, A,B (B when A fails), A+B (merged)."
    )
    depth: Depth = Field(
        "results",
        description="passages: the first pages are read, and items have the passages that answer; pages: whole pages.",
    )
    max_tokens: int | None = Field(
        None, description="Length of all that is read together; 2,000 for passages, 20,000 for pages."
    )


class SearchOut(BaseModel):
    """Results, and the receipt: what each engine did."""

    items: list[dict[str, Any]]
    provider_meta: dict[str, Any]
    errors: list[dict[str, Any]]
    receipt: list[dict[str, Any]]
    answers: list[dict[str, Any]] = Field([], description="Direct answers of engines that give them.")
    infoboxes: list[dict[str, Any]] = []
    suggestions: list[str] = Field([], description="Other queries that may help.")
    corrections: list[str] = Field([], description="Other spellings of the query.")


class FetchIn(BaseModel):
    """A page to read."""

    model_config = example(url="https://docs.python.org/3/", question="What is new?")
    url: str = Field(max_length=4000)
    question: str = Field(
        "", max_length=2000, description="Return only the passages that are relevant to this question."
    )
    tokens: int = Field(2000, ge=50, le=100_000)
    fresh: bool = False
    render: bool = False


class EngineList(BaseModel):
    """All engines, and the default."""

    default: str
    engines: list[dict[str, Any]]


class ModelOut(BaseModel):
    """A model that can be chosen."""

    name: str
    provider: str


class ModelList(BaseModel):
    """All models, and the default."""

    default: str
    models: list[ModelOut]


class HealthOut(BaseModel):
    """The last known state of the server."""

    status: Literal["ok"]
    version: str
    model: dict[str, str]
    engine: str
    searxng: dict[str, Any]
    engines: list[dict[str, Any]]
    notice: dict[str, Any] | None
    notices: list[dict[str, Any]]


class ErrorBody(BaseModel):
    """A failure: its codes, what failed and why, and what to do about it."""

    code: str
    detail_code: str | None
    message: str
    hint: str
    retryable: bool
    retry_after: float | None = Field(None, description="Seconds after which a retry can succeed, where known.")


class ErrorOut(BaseModel):
    """Every failure has this shape; a failed search adds its receipt."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "error": {
                        "code": "InvalidInput",
                        "detail_code": "switch_locked",
                        "message": "In Agent mode the AI decides when to search.",
                        "hint": "Change to Chat mode (/mode chat) to use the switch; its previous state is restored.",
                        "retryable": False,
                        "retry_after": None,
                    }
                }
            ]
        }
    )
    error: ErrorBody
