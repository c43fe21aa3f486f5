"""``Person``: who asks. The code below the server finds it in the context of the request, and in no argument."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

Role = Literal["admin", "member"]
Scope = Literal["search", "read", "chat", "admin"]
SCOPES: tuple[Scope, ...] = ("search", "read", "chat", "admin")
DEFAULT_SCOPES: tuple[Scope, ...] = ("search", "read", "chat")
COUNTED = ("searches", "answers", "tokens", "money")
"""What is counted for each person and day."""
QUOTAS = (*COUNTED, "documents")
"""What can be limited: that, and the megabytes of the documents that a person has sent."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person with an account."""

    id: str
    name: str
    role: Role = "member"
    scopes: frozenset[str] = frozenset(SCOPES)
    """What this request may do: everything that the role allows, or what an API token was made for."""
    expires: float | None = None
    """When the API token ends that the request came with, in seconds since 1970."""

    def may(self, scope: str) -> bool:
        """Whether this request may do what ``scope`` stands for."""
        return scope in self.scopes and (scope != "admin" or self.role == "admin")


NOBODY = Person("", "", "admin")
"""The only person of a server without accounts."""

EVERYBODY = Person("*", "", "admin")
"""For work that concerns all people, such as what one worker tells another."""

current_person: ContextVar[Person] = ContextVar("suyuan_person", default=NOBODY)
