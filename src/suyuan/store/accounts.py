"""``Accounts``: who somebody is, by name and password, by a login, or by an API token."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from ..core.causes.people import (
    API_TOKEN_WRONG,
    BAD_NAME,
    BAD_SCOPE,
    LAST_ADMIN,
    LOGIN_NEEDED,
    LOGIN_TOO_OFTEN,
    LOGIN_WRONG,
    NO_ACCOUNT_HERE,
    PASSWORD_WEAK,
)
from ..core.errors import InvalidInput
from ..core.person import DEFAULT_SCOPES, SCOPES, Person, Role
from ..live.tries import Tries
from .logins import Logins, digest_of
from .people import Account, People, TokenRow

if TYPE_CHECKING:
    from argon2 import PasswordHasher

T = TypeVar("T")

TOKEN_PREFIX = "suyuan_"
LEAST_PASSWORD = 8
_LONGEST_PASSWORD = 1000
_LONGEST_NAME = 100
_ROTATED_AFTER = 86_400.0
# What is known of a token is looked up again after this long: one that was ended elsewhere ends here too.
_KNOWN_SECONDS = 5.0
_KNOWN = 10_000
_USE_NOTED_SECONDS = 60.0
_WINDOW_SECONDS = 900.0
_BY_ACCOUNT, _BY_ADDRESS = 10, 30
# Names in these have letters of an alphabet as well, and none of theirs looks like one.
_BESIDE_OTHERS = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"})
_NAME = re.compile(r"[^\W_][\w.@+-]{0,63}")


class Accounts:
    """The people of one server."""

    def __init__(
        self, people: Callable[[], People], tries: Tries | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._people = people
        self._tries = tries or Tries()
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, Any]] = OrderedDict()
        self._noted: dict[str, float] = {}
        # A hash takes memory and time on purpose: a few at once, and the others wait.
        self._threads = ThreadPoolExecutor(2, "suyuan-passwords")
        self._store_threads = ThreadPoolExecutor(4, "suyuan-people")
        self.logins = Logins(self.in_store, clock=clock)
        """The browsers in which people are logged in."""

    @property
    def people(self) -> People:
        """The accounts in the store; waits for the disk."""
        return self._people()

    async def in_store(self, work: Callable[[People], T]) -> T:
        """Do ``work`` that waits for the database, for the person who asks."""
        context = copy_context()
        return await asyncio.get_running_loop().run_in_executor(
            self._store_threads, lambda: context.run(work, self.people)
        )

    # --- by password --------------------------------------------------------------------------------------------------
    async def log_in(self, name: str, password: str, address: str) -> Account:
        """The account with this name and password; raises a cause, which does not tell which of them is wrong.

        Tries are counted before the password is looked at: many at once would all be looked at otherwise. An address
        from which somebody has logged in before has a count of its own, so that strangers elsewhere lock nobody out.
        """
        name = clean_name(name)
        known = await self.in_store(lambda people: people.has_logged_in(name, address))
        account_tries, address_tries = f"account {name} {address if known else ''}", f"address {address}"
        await self._count(address_tries, _BY_ADDRESS)
        await self._count(account_tries, _BY_ACCOUNT)
        account = await self.in_store(lambda people: people.by_name(name))
        hashed = account.password if account and not account.disabled_at else ""
        # A name that nobody has takes as long as one that somebody has.
        right = await asyncio.get_running_loop().run_in_executor(self._threads, _verify, hashed, password)
        await self.in_store(lambda people: people.note(name, "login" if right else "login failed", "", address))
        if not right or account is None:
            raise LOGIN_WRONG()
        await self._tries.forget(account_tries)
        await self._tries.count(address_tries, _WINDOW_SECONDS, -1)
        return account

    async def _count_wrong(self, address: str | None) -> None:
        if address is not None:
            await self._count(f"token {address}", _BY_ADDRESS)

    async def _count(self, tries: str, most: int) -> None:
        """Count one more try; raises a cause where there were too many."""
        number, left = await self._tries.count(tries, _WINDOW_SECONDS)
        if number > most:
            raise LOGIN_TOO_OFTEN(seconds=left, retry_after=left)

    # --- by somebody else's word ------------------------------------------------------------------------------------
    async def of_proxy(self, name: str, add: bool) -> Person:
        """Who has this name, by the word of a proxy; ``add`` gives new people an account."""
        cleaned = clean_name(name, check=True)
        found = await self._lookup("proxy " + cleaned, lambda people: people.by_name(cleaned))
        if found is None and add:
            found = await self.in_store(lambda people: _added(people, cleaned))
            self._known.pop("proxy " + cleaned, None)
        if found is None or found.disabled_at:
            raise NO_ACCOUNT_HERE(name=cleaned)
        return _person(found, frozenset(SCOPES))

    async def of_subject(self, subject: str, name: str, add: bool, address: str) -> Account:
        """Whom an OpenID provider knows as ``subject``; the first time, the account with this name and no password."""
        cleaned = clean_name(name)

        def work(people: People) -> Account | None:
            found = people.by_subject(subject)
            if found is None:
                # An account with a password is somebody's, whatever name the provider gives to whom.
                waiting = people.by_name(cleaned) or (_added(people, name) if add else None)
                found = people.bind(waiting.id, subject) if waiting and not waiting.password else None
            if found is not None and not found.disabled_at:
                people.note(found.name, "login", "OpenID", address)
                return found
            people.note(cleaned, "login failed", "OpenID", address)
            return None

        account = await self.in_store(work)
        if account is None:
            raise NO_ACCOUNT_HERE(name=cleaned)
        return account

    # --- by cookie ----------------------------------------------------------------------------------------------------
    async def of_login(self, value: str, address: str | None = None) -> tuple[Person, bool]:
        """Who is logged in by this cookie, and whether it is time for a new one; raises a cause where it is nobody.

        That counts as a try of ``address``; without one, what was right before is only looked at again.
        """
        login = await self.logins.find(value)
        account = await self._lookup("id " + login.person, lambda people: people.by_id(login.person)) if login else None
        if login is None or account is None or account.disabled_at:
            await self._count_wrong(address)
            raise LOGIN_NEEDED()
        return _person(account, frozenset(SCOPES)), self._clock() - login.begun > _ROTATED_AFTER

    # --- by token -----------------------------------------------------------------------------------------------------
    async def of_token(self, token: str, address: str | None = None) -> Person:
        """Whose token this is; raises a cause where it is nobody's, which counts as for a cookie."""
        digest = digest_of(token)
        found = await self._lookup("token " + digest, lambda people: people.token(digest))
        if found is None:
            await self._count_wrong(address)
            raise API_TOKEN_WRONG()
        account, row = found
        if self._clock() - self._noted.get(row.id, 0.0) > _USE_NOTED_SECONDS:
            self._noted[row.id] = self._clock()
            await self.in_store(lambda people: people.note_use(row.id))
        return _person(account, frozenset(row.scopes), row.expires, row.id)

    def forget_known(self) -> None:
        """Look everything up again: something was changed."""
        self._known.clear()
        self.logins.forget_known()

    async def _lookup(self, key: str, work: Callable[[People], T]) -> T:
        known = self._known.get(key)
        if known is not None and time.monotonic() < known[0]:
            return known[1]  # type: ignore[no-any-return]
        found = await self.in_store(work)
        self._known[key] = (time.monotonic() + _KNOWN_SECONDS, found)
        self._known.move_to_end(key)
        while len(self._known) > _KNOWN:
            self._known.popitem(last=False)
        return found


# --- what the command line and the API both do ------------------------------------------------------------------------
def add_account(
    people: People, name: str, password: str, role: Role | None = None, *, by_password: bool = True
) -> Account:
    """Create an account; one without a password is for somebody who logs in elsewhere."""
    return people.add(clean_name(name, check=True), hash_password(password) if by_password else "", role)


def _added(people: People, name: str) -> Account:
    cleaned = clean_name(name, check=True)
    try:
        return people.add(cleaned, "", "member")
    except InvalidInput:
        # Another worker was first.
        return people.named(cleaned)


def set_password(people: People, account: Account, password: str) -> None:
    """Give an account another password; all its logins end."""
    people.change(account.id, password=hash_password(password))


def make_token(
    people: People,
    account: Account,
    scopes: tuple[str, ...],
    label: str = "",
    days: float | None = None,
    maker: Person | None = None,
) -> tuple[str, TokenRow]:
    """A new API token, shown once, here; it ends after ``days``, and with the token that its ``maker`` used."""
    for scope in scopes:
        if scope not in SCOPES or (scope == "admin" and account.role != "admin"):
            raise BAD_SCOPE(scope=scope[:40], known=", ".join(SCOPES if account.role == "admin" else DEFAULT_SCOPES))
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    ends = [time.time() + days * 86_400] if days else []
    if maker is not None and maker.expires:
        ends.append(maker.expires)
    made_by = maker.token if maker is not None else ""
    chosen = tuple(dict.fromkeys(scopes))
    return token, people.add_token(account.id, digest_of(token), chosen, label[:100], min(ends, default=None), made_by)


def check_admins(people: People, account: Account) -> None:
    """Raise a cause if ``account`` is the only administrator: somebody must be able to let others in."""
    others = [each for each in people.all() if each.role == "admin" and not each.disabled_at and each.id != account.id]
    if account.role == "admin" and not others:
        raise LAST_ADMIN(name=account.name)


def clean_name(name: str, *, check: bool = False) -> str:
    """A name as it is kept: in one form, in lower case."""
    cleaned = unicodedata.normalize("NFKC", name[:_LONGEST_NAME].strip()).casefold()[:_LONGEST_NAME]
    if check and (not _NAME.fullmatch(cleaned) or len(_alphabets(cleaned)) > 1):
        raise BAD_NAME(name=name[:60])
    return cleaned


def _alphabets(name: str) -> set[str]:
    """The alphabets of a name, of which one is enough: letters of another look like those of this one."""
    scripts = {unicodedata.name(char, "").partition(" ")[0] for char in name if char.isalpha()}
    return scripts - _BESIDE_OTHERS


def hash_password(password: str) -> str:
    """The argon2id hash of a password; raises a cause for one that is too short."""
    if not LEAST_PASSWORD <= len(password) <= _LONGEST_PASSWORD:
        raise PASSWORD_WEAK(length=LEAST_PASSWORD)
    return _hasher().hash(_text(password))


def _verify(hashed: str, password: str) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        return _hasher().verify(hashed or _nobody(), _text(password[:_LONGEST_PASSWORD])) and bool(hashed)
    except (VerificationError, InvalidHashError):
        return False


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    # OWASP's second choice: 19 MiB and two passes.
    return PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)


@cache
def _nobody() -> str:
    return _hasher().hash(secrets.token_hex(16))


def _text(password: str) -> str:
    return unicodedata.normalize("NFKC", password).encode("utf-8", "replace").decode("utf-8")


def _person(account: Account, scopes: frozenset[str], expires: float | None = None, token: str = "") -> Person:
    return Person(account.id, account.name, account.role, scopes, expires, token)
