"""``Person``: who asks, and what they may do. The code below the server finds it in the context of the request.

A scope is asked for where something is done, by :func:`require`, whatever way has led there: where the web is searched
(``search``), where a page is read (``read``), where what is somebody's own is read or changed and where an answer is
written (``chat``), where the server is administered (``admin``).
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal

from .causes.people import ADMIN_ONLY, SCOPE_MISSING

Role = Literal["admin", "member"]
Scope = Literal["search", "read", "chat", "admin"]
SCOPES: tuple[Scope, ...] = ("search", "read", "chat", "admin")
DEFAULT_SCOPES: tuple[Scope, ...] = ("search", "read", "chat")
Counted = Literal["searches", "answers", "tokens", "money"]
COUNTED: tuple[Counted, ...] = ("searches", "answers", "tokens", "money")
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
    token: str = ""
    """The id of that token; empty for a request that came without one."""

    def may(self, scope: str) -> bool:
        """Whether this request may do what ``scope`` stands for."""
        if scope == "admin" and self.role != "admin":
            return False
        return scope in self.scopes


NOBODY = Person("", "", "admin")
"""The only person of a server without accounts."""

EVERYBODY = Person("*", "", "admin")
"""For work that concerns all people, such as what one worker tells another."""

current_person: ContextVar[Person] = ContextVar("suyuan_person", default=NOBODY)


def require(*scopes: Scope) -> Person:
    """The person who asks; raises a cause where this request may not do what ``scopes`` stand for."""
    person = current_person.get()
    for scope in scopes:
        if person.may(scope):
            continue
        # Whoever has the scope lacks the role.
        raise ADMIN_ONLY() if scope in person.scopes else SCOPE_MISSING(scope=scope)
    return person


def owner() -> str:
    """Whose things are read or changed: the id of the person who asks, who needs the scope ``chat`` for that."""
    return require("chat").id
