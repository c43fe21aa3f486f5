"""``Quotas``: what each person may use, most of it in a day, and has used."""

from __future__ import annotations

import time

from starlette.requests import Request

from ..chat.events import Answer
from ..config.settings import PeopleSettings
from ..core.causes.people import PERSON_QUOTA_SPENT
from ..core.person import Person, current_person
from ..store.accounts import Accounts
from ..store.people import People

_DAY = 86_400


class Quotas:
    """Counts in the store, so that all workers count together."""

    def __init__(self, accounts: Accounts, settings: PeopleSettings) -> None:
        self._accounts = accounts
        self._settings = settings

    async def count(self, person: Person, what: str) -> None:
        """Count one more; raises a cause where a quota is spent until the day ends (UTC)."""

        def work(people: People) -> None:
            account = people.by_id(person.id)
            limits = self._settings.limits(account.quotas if account else {})
            used = people.used(person.id) if any(limits.values()) else {}
            concerned = (what,) if what == "searches" else (what, "searches", "tokens", "money")
            for name in concerned:
                if limits[name] and used[name] >= limits[name]:
                    left = _DAY - time.time() % _DAY
                    raise PERSON_QUOTA_SPENT(what=name, limit=limits[name], retry_after=left)
            people.count(person.id, **{what: 1})

        await self._accounts.in_store(work)

    async def documents(self, person: Person) -> float:
        """How many megabytes the documents of a person may take; 0 for no limit."""
        account = await self._accounts.in_store(lambda people: people.by_id(person.id))
        return self._settings.limits(account.quotas if account else {})["documents"]

    async def count_answer(self, answer: Answer) -> None:
        """Count what an answer has used."""
        person, usage = current_person.get(), answer.usage
        if not person.id:
            return
        prices = self._settings.price_input, self._settings.price_output
        money = (usage.input_tokens * prices[0] + usage.output_tokens * prices[1]) / 1_000_000
        more = {"searches": usage.searches, "tokens": usage.input_tokens + usage.output_tokens, "money": money}
        await self._accounts.in_store(lambda people: people.count(person.id, **more))


async def documents_limit(request: Request) -> float:
    """How many bytes the documents of the person who asks may take; 0 for no limit."""
    quotas: Quotas | None = request.app.state.quotas
    return await quotas.documents(current_person.get()) * 1_000_000 if quotas is not None else 0.0


async def count_answer(request: Request) -> None:
    """Count an answer that only the body of ``request`` asks for; raises a cause where the quota is spent."""
    quotas: Quotas | None = request.app.state.quotas
    if quotas is not None:
        await quotas.count(current_person.get(), "answers")
