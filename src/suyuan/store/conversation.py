"""A conversation, a message, and how titles and ids are made."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from ..text.visible import shown_line

Role = Literal["user", "assistant"]
Mode = Literal["chat", "agent"]
State = Literal["done", "running", "stopped", "failed", "interrupted"]

TITLE_LENGTH = 200
GIVEN_TITLE_LENGTH = 60
"""Length of a title that is made from the first question."""

# No punctuation: on a command line, an id with a leading hyphen would be an option.
_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


class ConversationOptions(TypedDict, total=False):
    """What of a conversation can be chosen."""

    title: str
    mode: Mode
    search: bool
    engine: str
    model: str
    lang: str
    focus: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation without its messages."""

    id: str
    title: str
    mode: Mode
    search: bool
    """The search switch of Chat mode; it is kept while the mode is Agent."""
    engine: str
    model: str
    lang: str
    created_at: str
    updated_at: str
    """The time of the last message, or of its end."""
    deleted_at: str | None = None
    person: str = ""
    """The id of the person whose it is; empty where there are no accounts."""
    focus: str = ""
    """The kind of source that is searched; empty for all."""
    pinned_at: str | None = None
    running: str | None = None
    """The answer that is being written, by whatever process, when the conversation was read."""
    passage: str = ""
    """Where it was found: a short passage around the words that were sought."""

    def as_dict(self) -> dict[str, Any]:
        """The conversation as JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Message:
    """A question or an answer. The id of an answer is the id of the run that wrote it."""

    id: str
    conversation: str
    role: Role
    text: str
    """The question, or the Markdown of the answer so far."""
    state: State
    created_at: str
    answer: dict[str, Any] | None = None
    """The finished answer, from :meth:`Answer.as_dict`."""
    position: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The message as JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


def new_id() -> str:
    """A random id of 16 characters (82 bits) that is safe in addresses, file names and command lines."""
    # A single call of the system's generator.
    number = secrets.randbits(128)
    return "".join(_ALPHABET[number // len(_ALPHABET) ** place % len(_ALPHABET)] for place in range(16))


def clean_title(text: str, limit: int = TITLE_LENGTH) -> str:
    """``text`` on one line, without control and invisible characters, and not longer than ``limit``."""
    # A question may be very long.
    line = shown_line(text[: limit * 20])
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
