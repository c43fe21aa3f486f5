"""``Quotas``: what each person may use, most of it in a day, and has used."""

from __future__ import annotations

import asyncio
import time

from starlette.requests import Request

from ..config.settings import PeopleSettings
from ..core.allowance import FOR_A_MODEL, Reserved
from ..core.causes.people import PERSON_QUOTA_SPENT
from ..core.person import Counted, current_person
from ..store.accounts import Accounts
from ..store.people import People

_DAY = 86_400
_ANSWER_TOKENS = 500
"""What is set aside for the answer of a model: about a page. Longer ones are counted when they have ended."""


class Quotas:
    """The allowance of the person in the context, in the store, so that all workers count together."""

    def __init__(self, accounts: Accounts, settings: PeopleSettings) -> None:
        self._accounts = accounts
        self._settings = settings

    async def take(self, what: Counted, *needs: Counted) -> None:
        """Count one more; raises a cause where a quota of it or of what it needs is spent until the day ends (UTC)."""
        person = current_person.get()
        if person.id:
            concerned = (what, *needs)
            await self._accounts.in_store(lambda people: self._take(people, person.id, {what: 1}, concerned))

    def _take(
        self, people: People, person: str, more: dict[Counted, float], concerned: tuple[Counted, ...], day: str = ""
    ) -> None:
        limits = self._limits(people, person)
        if spent := people.take(person, more, {name: limits[name] for name in concerned}, day):
            raise self._spent(spent, limits)

    async def check(self, *what: Counted) -> None:
        """Raise a cause where one of these quotas is spent."""
        person = current_person.get()
        if person.id:
            await self._accounts.in_store(lambda people: self._check(people, person.id, what))

    def _check(self, people: People, person: str, what: tuple[Counted, ...]) -> None:
        limits = self._limits(people, person)
        limited = [name for name in what if limits[name]]
        used = people.used(person) if limited else {}
        for name in limited:
            if used[name] >= limits[name]:
                raise self._spent(name, limits)

    async def reserve(self, read: int) -> Reserved:
        """Set aside what a request of ``read`` tokens may use; raises a cause where tokens or money are spent.

        Of many at once only so many begin as there is room for; the last one may need more than is left.
        """
        person = current_person.get()
        if not person.id:
            return Reserved()
        return await self._accounts.in_store(lambda people: self._reserve(people, person.id, read))

    def _reserve(self, people: People, person: str, read: int) -> Reserved:
        reserved = Reserved(person, people.today(), read, _ANSWER_TOKENS)
        more = self._cost(reserved.read, reserved.written)
        self._take(people, person, more, FOR_A_MODEL, reserved.day)
        return reserved

    async def settle(self, reserved: Reserved, read: int, written: int) -> None:
        """Count what a request has used in place of what was set aside, on the day for which that was done."""
        if not reserved.person:
            return
        more = self._cost(read - reserved.read, written - reserved.written)
        counted = self._accounts.in_store(lambda people: people.count(reserved.person, more, reserved.day))
        # An answer that is stopped meanwhile gives back what it does not need all the same.
        await asyncio.shield(counted)

    def _cost(self, read: int, written: int) -> dict[Counted, float]:
        """The tokens and their price."""
        price = read * self._settings.price_input + written * self._settings.price_output
        return {"tokens": read + written, "money": price / 1_000_000}

    async def documents(self) -> float:
        """How many megabytes the documents of the person who asks may take; 0 for no limit."""
        person = current_person.get()
        return (await self._accounts.in_store(lambda people: self._limits(people, person.id)))["documents"]

    def _limits(self, people: People, person: str) -> dict[str, float]:
        account = people.by_id(person)
        return self._settings.limits(account.quotas if account else {})

    def _spent(self, what: str, limits: dict[str, float]) -> Exception:
        return PERSON_QUOTA_SPENT(what=what, limit=limits[what], retry_after=_DAY - time.time() % _DAY)


async def documents_limit(request: Request) -> float:
    """How many bytes the documents of the person who asks may take; 0 for no limit."""
    quotas: Quotas | None = request.app.state.quotas
    return await quotas.documents() * 1_000_000 if quotas is not None else 0.0
