"""A conversation and its messages, as values; and what a title and an id are."""

from __future__ import annotations

import secrets
import unicodedata
from dataclasses import asdict, dataclass
from typing import Any, Literal

Role = Literal["user", "assistant"]
Mode = Literal["chat", "agent"]
State = Literal["done", "running", "stopped", "failed", "interrupted"]

TITLE_LENGTH = 200
GIVEN_TITLE_LENGTH = 60
"""How much of the first question becomes the title."""

# No signs: an id stands in addresses and behind command line options, where a leading hyphen would be an option.
_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
# Joiners hold an emoji or a Persian word together; every other character without a shape only hides something.
_JOINERS = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation without its messages."""

    id: str
    title: str
    mode: Mode
    search: bool
    """The search switch of Chat mode; it is remembered while the mode is Agent."""
    engine: str
    model: str
    lang: str
    created_at: str
    updated_at: str
    """When the last message came or was finished."""
    deleted_at: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The conversation as JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Message:
    """A question or an answer. The id of an answer is the id of the run that wrote it."""

    id: str
    conversation: str
    role: Role
    text: str
    """What was asked; or the answer's Markdown, as far as it has come."""
    state: State
    created_at: str
    answer: dict[str, Any] | None = None
    """The finished answer, as :meth:`Answer.as_dict` gave it."""
    position: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The message as JSON."""
        return asdict(self)


def new_id() -> str:
    """A random id of 16 characters (82 bits) that is safe in addresses, file names and command lines."""
    # One draw and not sixteen: each asks the system.
    number = secrets.randbits(128)
    return "".join(_ALPHABET[number // len(_ALPHABET) ** place % len(_ALPHABET)] for place in range(16))


def clean_title(text: str, limit: int = TITLE_LENGTH) -> str:
    """``text`` on one line, without control and invisible characters, and not longer than ``limit``."""
    # Far more than can be shown is not looked at: a question may be a whole book.
    line = " ".join("".join(_shown(char) for char in text[: limit * 20]).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _shown(char: str) -> str:
    kind = unicodedata.category(char)
    if char.isspace() or kind in ("Zl", "Zp"):
        return " "
    return "" if kind in ("Cc", "Cf", "Cs") and char not in _JOINERS else char
