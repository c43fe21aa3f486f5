"""``Allowance``: what the person who asks may use today. It is asked and told where something is used.

The code below the server finds it in the context of the request, as it does the person; where nothing is limited, it
does nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from .person import Counted


@dataclass(frozen=True, slots=True)
class Reserved:
    """What is set aside for one request to a model, until it is known what that has used."""

    person: str = ""
    day: str = ""
    """The day that it is counted for, also where the request ends on the next one."""
    read: int = 0
    written: int = 0


@dataclass(slots=True)
class ModelUse:
    """The tokens that one request to a model has used."""

    read: int = 0
    written: int = 0


class Allowance(Protocol):
    """The quotas of the person in the context, and what they have used."""

    async def take(self, what: Counted, *needs: Counted) -> None:
        """Count one more; raises a cause where that, or what it ``needs``, is used up."""
        ...

    async def check(self, *what: Counted) -> None:
        """Raise a cause where one of these is used up."""
        ...

    async def reserve(self, read: int) -> Reserved:
        """Set aside what a request of ``read`` tokens may use; raises a cause where tokens or money are used up."""
        ...

    async def settle(self, reserved: Reserved, read: int, written: int) -> None:
        """Count what the request has read and written, in place of what was set aside for it."""
        ...


class Unlimited:
    """Nothing is limited, and nothing is counted."""

    async def take(self, what: Counted, *needs: Counted) -> None:
        """Anything may be used."""

    async def check(self, *what: Counted) -> None:
        """Nothing is used up."""

    async def reserve(self, read: int) -> Reserved:
        """Nothing has to be set aside."""
        return Reserved()

    async def settle(self, reserved: Reserved, read: int, written: int) -> None:
        """Nobody asks."""


_UNLIMITED = Unlimited()
current_allowance: ContextVar[Allowance] = ContextVar("suyuan_allowance", default=_UNLIMITED)

FOR_A_MODEL: tuple[Counted, ...] = ("tokens", "money")
"""What must be left before a model is asked."""
FOR_A_JOB: tuple[Counted, ...] = ("searches", *FOR_A_MODEL)
"""What must be left before something is begun that searches and asks a model."""


@asynccontextmanager
async def asking_a_model(read: int) -> AsyncIterator[ModelUse]:
    """Around one request of ``read`` tokens: what it may use is set aside before, and what it says it used is counted.

    One that fails has used nothing; one that is stopped has been read.
    """
    allowance = current_allowance.get()
    reserved = await allowance.reserve(read)
    use = ModelUse()
    try:
        yield use
    except asyncio.CancelledError:
        use.read = use.read or read
        raise
    finally:
        await allowance.settle(reserved, use.read, use.written)
