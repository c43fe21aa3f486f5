"""Commands that are typed into a chat: ``/search on``, ``/mode agent``, ``/help``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ..core.causes.chat import BAD_COMMAND

_COMMAND = re.compile(r"/([A-Za-z]+)(?:\s+(\S+))?\s*$")
_ON = {"on": True, "开": True, "off": False, "关": False}


@dataclass(frozen=True, slots=True)
class Command:
    """A parsed command; ``help`` lists the commands."""

    name: Literal["search", "mode", "help"]
    value: str | bool = ""


def parse_command(text: str) -> Command | None:
    """Parse ``text``; None where it is a message. An unknown command raises."""
    text = text.strip()
    found = _COMMAND.match(text)
    if not found:
        return None
    name, value = found[1].lower(), (found[2] or "").lower()
    if name == "help" and not value:
        return Command("help")
    if name == "search" and value in _ON:
        return Command("search", _ON[value])
    if name == "mode" and value in ("chat", "agent"):
        return Command("mode", value)
    raise BAD_COMMAND(value=text[:60])
