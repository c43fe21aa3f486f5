"""``People``: accounts, API tokens, logins, shared links, what was used, and who did what, in the store's database."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from ..core.causes.people import NAME_TAKEN, NO_SUCH_PERSON
from ..core.person import COUNTED, Counted, Role
from .conversation import new_id
from .database import Database
from .removal_clock import RemovalClock
from .tables import (
    addresses,
    audit,
    choices,
    conversations,
    events,
    logins,
    messages,
    pages,
    people,
    research,
    research_steps,
    shares,
    tokens,
    usage,
)
from .values import plain, stamp


@dataclass(frozen=True, slots=True)
class Account:
    """A person as the store knows it."""

    id: str
    name: str
    role: Role
    password: str
    """The hash, or nothing for one who cannot log in by password."""
    quotas: Mapping[str, float]
    created_at: str
    disabled_at: str | None = None

    def view(self) -> dict[str, Any]:
        """What may be shown."""
        return {
            "id": self.id,
            "name": self.name,
            "role": self.role,
            "quotas": dict(self.quotas),
            "created_at": self.created_at,
            "disabled": self.disabled_at is not None,
        }


@dataclass(frozen=True, slots=True)
class TokenRow:
    """An API token without the token itself."""

    id: str
    person: str
    label: str
    scopes: tuple[str, ...]
    created_at: str
    expires: float | None
    used_at: str | None
    made_by: str | None = None
    """The token by which it was made, with which it ends."""

    def view(self) -> dict[str, Any]:
        """What may be shown."""
        expires = stamp(self.expires) if self.expires else None
        return {
            "id": self.id,
            "label": self.label,
            "scopes": list(self.scopes),
            "created_at": self.created_at,
            "expires_at": expires,
            "used_at": self.used_at,
            "made_by": self.made_by,
        }


@dataclass(frozen=True, slots=True)
class Login:
    """A browser that is logged in."""

    person: str
    """Whose it is; empty for one that has sent the token of the server."""
    expires: float
    begun: float


@dataclass(frozen=True, slots=True)
class Share:
    """A link by which anybody can read a conversation as it was."""

    id: str
    conversation: str
    created_at: str
    until: str
    expires: float | None

    def view(self) -> dict[str, Any]:
        """What may be shown."""
        expires = stamp(self.expires) if self.expires else None
        return {
            "id": self.id, "conversation": self.conversation, "created_at": self.created_at, "expires_at": expires
        }  # fmt: skip


class People:
    """All accounts of one database."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._removal_clock = RemovalClock(database, clock)

    # --- accounts -----------------------------------------------------------------------------------------------------
    def add(self, name: str, password: str, role: Role | None = None) -> Account:
        """Create an account; the first one is an administrator's, who gets the conversations that nobody has."""
        with self._database.write() as connection:
            first = connection.execute(select(func.count()).select_from(people)).scalar() == 0
            made = Account(new_id(), name, role or ("admin" if first else "member"), password, {}, self._now())
            row = {"id": made.id, "name": name, "role": made.role, "password": password, "quotas": "{}"}
            try:
                with connection.begin_nested():
                    connection.execute(insert(people).values(**row, created_at=made.created_at))
            except IntegrityError:
                raise NAME_TAKEN(name=name) from None
            if first and made.role == "admin":
                connection.execute(update(conversations).where(conversations.c.person == "").values(person=made.id))
        return made

    def by_name(self, name: str) -> Account | None:
        """The account with this name."""
        return self._one(people.c.name == plain(name))

    def by_id(self, id: str) -> Account | None:
        """The account with this id."""
        return self._one(people.c.id == id)

    def by_subject(self, subject: str) -> Account | None:
        """The account of one whom an OpenID provider knows by this name."""
        return self._one(people.c.subject == subject)

    def bind(self, id: str, subject: str) -> Account | None:
        """Give an account to one whom an OpenID provider knows; None where it is another's already."""
        free = update(people).where(people.c.id == id, people.c.subject.is_(None))
        bound = self._database.change(free.values(subject=subject))
        return self.by_id(id) if bound else None

    def named(self, name: str) -> Account:
        """The account with this name; raises a cause if there is none."""
        if (found := self.by_name(name)) is None:
            raise NO_SUCH_PERSON(name=name[:60])
        return found

    def all(self) -> list[Account]:
        """All accounts, by name."""
        return [_account(row) for row in self._database.rows(select(people).order_by(people.c.name))]

    def change(self, id: str, **values: Any) -> None:
        """Change ``role``, ``password``, ``quotas`` or ``disabled``; a new password and a closed account end logins."""
        if "quotas" in values:
            values["quotas"] = json.dumps(values["quotas"])
        if "disabled" in values:
            values["disabled_at"] = self._now() if values.pop("disabled") else None
        with self._database.write() as connection:
            connection.execute(update(people).where(people.c.id == id).values(**values))
            if "password" in values or values.get("disabled_at"):
                connection.execute(delete(logins).where(logins.c.person == id))

    def remove(self, id: str) -> dict[str, int]:
        """Remove an account with everything that is its own, and return what was removed."""
        with self._database.write() as connection:
            own = conversations.c.person == id
            gone = {"conversations": connection.execute(delete(conversations).where(own)).rowcount}
            owned = (
                ("research", research), ("logins", logins), ("tokens", tokens), ("usage", usage),
                ("choices", choices),
                ("pages", pages), ("addresses", addresses),
            )  # fmt: skip
            for name, table in owned:
                gone[name] = connection.execute(delete(table).where(table.c.person == id)).rowcount
            connection.execute(delete(people).where(people.c.id == id))
        self._database.erase()
        return gone

    def export(self, account: Account) -> dict[str, Any]:
        """Everything that is kept about a person, without hashes."""
        own = conversations.c.person == account.id
        with self._database.read() as connection:
            talks = [dict(row._mapping) for row in connection.execute(select(conversations).where(own))]
            for talk in talks:
                said = select(messages).where(messages.c.conversation == talk["id"]).order_by(messages.c.position)
                talk["messages"] = [_message_view(row) for row in connection.execute(said)]
                for message in talk["messages"]:
                    query = select(events.c.seq, events.c.event).where(events.c.run == message["id"])
                    rows = connection.execute(query.order_by(events.c.seq))
                    message["events"] = [[seq, json.loads(event)] for seq, event in rows]
            jobs = [
                _job_view(connection, row)
                for row in connection.execute(select(research).where(research.c.person == account.id))
            ]
            left = connection.execute(select(choices.c.search).where(choices.c.person == account.id)).all()
        chosen = {"search": bool(left[0].search)} if left else {}
        return {**self.record(account), "choices": chosen, "conversations": talks, "research": jobs}

    def record(self, account: Account) -> dict[str, Any]:
        """What an administrator may know of a person: nothing that the person has written, asked or read."""
        used = self._database.rows(select(usage).where(usage.c.person == account.id))
        done = self._database.rows(select(audit).where(audit.c.person == account.name).order_by(audit.c.at))
        return {
            "account": account.view(),
            "tokens": [token.view() for token in self.tokens(account.id)],
            "usage": [dict(row._mapping) for row in used],
            "audit": [dict(row._mapping) for row in done],
        }

    # --- API tokens ---------------------------------------------------------------------------------------------------
    def add_token(
        self,
        person: str,
        digest: str,
        scopes: tuple[str, ...],
        label: str = "",
        expires: float | None = None,
        made_by: str = "",
    ) -> TokenRow:
        """Keep a token by its hash."""
        made = TokenRow(new_id(), person, label, scopes, self._now(), expires, None, made_by or None)
        row = {"id": made.id, "person": person, "digest": digest, "label": label, "scopes": " ".join(scopes)}
        ends = {"expires": expires, "made_by": made.made_by}
        self._database.change(insert(tokens).values(**row, created_at=made.created_at, **ends))
        return made

    def token(self, digest: str) -> tuple[Account, TokenRow] | None:
        """The token with this hash and whose it is, unless it has expired or the account is closed."""
        row = self._database.row(select(tokens).where(tokens.c.digest == digest))
        owner = self.by_id(row.person) if row else None
        if row is None or owner is None or owner.disabled_at or self._is_over(row.expires):
            return None
        # One may be made in the moment in which its maker is revoked.
        maker = select(tokens.c.id).where(tokens.c.id == row.made_by)
        is_orphan = row.made_by is not None and self._database.row(maker) is None
        return None if is_orphan else (owner, _token(row))

    def tokens(self, person: str, maker: str = "") -> list[TokenRow]:
        """The tokens of a person; with a ``maker`` that token, those that it has made, and those that these have."""
        query = select(tokens).where(tokens.c.person == person).order_by(tokens.c.created_at)
        found = [_token(row) for row in self._database.rows(query)]
        if not maker:
            return found
        family = {maker}
        # A token is younger than its maker, but not by the clock.
        for _ in found:
            younger = {each.id for each in found if each.made_by in family}
            if younger <= family:
                break
            family |= younger
        return [each for each in found if each.id in family]

    def note_use(self, token: str) -> None:
        """Note that a token was used now."""
        self._database.change(update(tokens).where(tokens.c.id == token).values(used_at=self._now()))

    def remove_token(self, person: str, token: str) -> bool:
        """Revoke a token of a person, with those that were made by it; return whether there was one."""
        token = plain(token)
        ended = [each.id for each in self.tokens(person, token)] if token else []
        return self._database.change(delete(tokens).where(tokens.c.id.in_(ended))) > 0

    # --- logins -------------------------------------------------------------------------------------------------------
    def keep_login(self, digest: str, login: Login) -> None:
        """Store a login by a hash of its cookie."""
        row = {"digest": digest, "person": login.person, "expires": login.expires, "begun": login.begun}
        self._database.change(insert(logins).values(**row))

    def login(self, digest: str) -> Login | None:
        """The login with this hash, unless it is over."""
        row = self._database.row(select(logins).where(logins.c.digest == digest))
        return None if row is None or self._is_over(row.expires) else Login(row.person, row.expires, row.begun)

    def end_login(self, digest: str, after_seconds: float = 0.0) -> None:
        """End a login, now or in a moment."""
        same = logins.c.digest == digest
        if not after_seconds:
            self._database.change(delete(logins).where(same))
            return
        end = self._clock() + after_seconds
        # Never later than it would end anyway, whatever a clock shows that is wrong.
        self._database.change(update(logins).where(same, logins.c.expires > end).values(expires=end))

    # --- shared links -------------------------------------------------------------------------------------------------
    def add_share(self, conversation: str, digest: str, expires: float | None) -> Share:
        """Keep a link to a conversation as it is now, by its hash."""
        now = self._now()
        made = Share(new_id(), conversation, now, now, expires)
        row = {"id": made.id, "digest": digest, "conversation": conversation, "created_at": now, "until": now}
        self._database.change(insert(shares).values(**row, expires=expires))
        return made

    def share(self, digest: str) -> Share | None:
        """The link with this hash, unless it has expired or the account of whoever made it is closed."""
        owned = select(shares).join(conversations).outerjoin(people, people.c.id == conversations.c.person)
        row = self._database.row(owned.where(shares.c.digest == digest, people.c.disabled_at.is_(None)))
        return None if row is None or self._is_over(row.expires) else _share(row)

    def shares(self, conversation: str) -> list[Share]:
        """The links to a conversation."""
        query = select(shares).where(shares.c.conversation == conversation).order_by(shares.c.created_at)
        return [_share(row) for row in self._database.rows(query)]

    def shares_of(self, person: str) -> list[tuple[Share, str]]:
        """The links to all conversations of a person that still lead somewhere, with the titles, newest first."""
        own = (conversations.c.person == person, conversations.c.deleted_at.is_(None))
        lasting = or_(shares.c.expires.is_(None), shares.c.expires > self._clock())
        query = select(shares, conversations.c.title).join(conversations).where(*own, lasting)
        return [(_share(row), row.title) for row in self._database.rows(query.order_by(shares.c.created_at.desc()))]

    def remove_share(self, conversation: str, share: str) -> bool:
        """Revoke a link; return whether there was one."""
        same = (shares.c.id == plain(share), shares.c.conversation == conversation)
        return self._database.change(delete(shares).where(*same)) > 0

    # --- what was used ------------------------------------------------------------------------------------------------
    def count(self, person: str, more: Mapping[Counted, float], day: str = "") -> None:
        """Add to what a person has used on a day, today unless one is named."""
        added = {name: usage.c[name] + value for name, value in more.items()}
        with self._database.write() as connection:
            same = self._day_of(connection, person, day or self.today())
            connection.execute(update(usage).where(*same).values(**added))

    def take(self, person: str, more: Mapping[Counted, float], limits: Mapping[Counted, float], day: str = "") -> str:
        """Add ``more``, unless one of the ``limits`` is reached: that is named, and nothing counted.

        A limit of 0 is none. However many ask at the same time, at all workers, none is counted once one is reached.
        """
        added = {name: usage.c[name] + value for name, value in more.items()}
        with self._database.write() as connection:
            same = self._day_of(connection, person, day or self.today())
            row = connection.execute(select(usage).where(*same).with_for_update()).one()
            reached = next((name for name, limit in limits.items() if limit and getattr(row, name) >= limit), "")
            if not reached:
                connection.execute(update(usage).where(*same).values(**added))
        return reached

    def _day_of(self, connection: Connection, person: str, day: str) -> tuple[ColumnElement[bool], ...]:
        """The condition of a person's line of a day, which is there from now on."""
        same = (usage.c.person == person, usage.c.day == day)
        if connection.execute(select(usage.c.person).where(*same)).first() is None:
            # Where another worker was first, its line is the one.
            with suppress(IntegrityError), connection.begin_nested():
                connection.execute(insert(usage).values(person=person, day=day, **dict.fromkeys(COUNTED, 0)))
        return same

    def today(self) -> str:
        """The day for which is counted now (UTC)."""
        return self._now()[:10]

    def used(self, person: str) -> dict[str, float]:
        """What a person has used today."""
        same = (usage.c.person == person, usage.c.day == self.today())
        row = self._database.row(select(usage).where(*same))
        return {name: float(getattr(row, name)) if row else 0.0 for name in COUNTED}

    # --- who did what -------------------------------------------------------------------------------------------------
    def note(self, person: str, action: str, what: str = "", address: str = "") -> None:
        """Write a line of the audit log."""
        row = {"id": new_id(), "at": self._now(), "person": plain(person)[:100], "action": action}
        self._database.change(insert(audit).values(**row, what=plain(what)[:200], address=address[:60]))

    def noted(self, limit: int = 200, person: str = "") -> list[dict[str, Any]]:
        """The latest lines of the audit log, newest first."""
        query = select(audit).order_by(audit.c.at.desc()).limit(limit)
        if person:
            query = query.where(audit.c.person == plain(person))
        lines = self._database.rows(query)
        return [{name: value for name, value in line._mapping.items() if name != "id"} for line in lines]

    def has_logged_in(self, person: str, address: str) -> bool:
        """Whether somebody has logged in from this address, as far as the audit log goes back."""
        same = (audit.c.person == plain(person), audit.c.action == "login", audit.c.address == address[:60])
        return self._database.value(select(audit.c.id).where(*same).limit(1)) is not None

    def purge(self, audit_days: float) -> None:
        """Remove what is over: logins, links, old lines of the audit log; nothing where the clock may be wrong."""
        now = self._removal_clock.now()
        if now is None:
            return
        with self._database.write() as connection:
            connection.execute(delete(logins).where(logins.c.expires <= now))
            connection.execute(delete(shares).where(shares.c.expires <= now))
            connection.execute(delete(audit).where(audit.c.at <= stamp(now - audit_days * 86_400)))

    def _is_over(self, expires: float | None) -> bool:
        return bool(expires) and expires <= self._clock()  # type: ignore[operator]

    def _one(self, same: Any) -> Account | None:
        row = self._database.row(select(people).where(same))
        return None if row is None else _account(row)

    def _now(self) -> str:
        return stamp(self._clock())


def _account(row: Row[Any]) -> Account:
    return Account(
        row.id, row.name, row.role, row.password, json.loads(row.quotas or "{}"), row.created_at, row.disabled_at
    )


def _token(row: Row[Any]) -> TokenRow:
    return TokenRow(
        row.id, row.person, row.label, tuple(row.scopes.split()), row.created_at, row.expires, row.used_at,
        row.made_by,
    )  # fmt: skip


def _share(row: Row[Any]) -> Share:
    return Share(row.id, row.conversation, row.created_at, row.until, row.expires)


def _message_view(row: Row[Any]) -> dict[str, Any]:
    names = ("id", "role", "text", "state", "created_at", "position")
    answer = json.loads(row.answer) if row.answer else None
    return {**{name: getattr(row, name) for name in names}, "answer": answer}


def _job_view(connection: Connection, row: Row[Any]) -> dict[str, Any]:
    names = ("id", "question", "state", "created_at", "updated_at")
    parts = {
        name: json.loads(value) if (value := getattr(row, name)) else None for name in ("request", "plan", "result")
    }
    own = select(research_steps).where(research_steps.c.job == row.id).order_by(research_steps.c.seq)
    steps = [{"kind": step.kind, "at": step.at, "data": json.loads(step.data)} for step in connection.execute(own)]
    return {**{name: getattr(row, name) for name in names}, **parts, "steps": steps}
