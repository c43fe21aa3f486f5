"""``Logins``: the browsers that are logged in. A cookie is a random number; the store has only a hash of it."""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from ..core.errors import SuyuanError
from ..core.secret import Secret
from .people import Login, People

log = logging.getLogger("suyuan.store")

InStore = Callable[[Callable[[People], Any]], Awaitable[Any]]
"""Does work that waits for the database, in a thread."""
NewCookie = tuple[str, float]
"""The value of a cookie, and for how many seconds it counts."""

_SECONDS = 30 * 86_400.0
# The old cookie of a login is taken for a moment longer: requests with it may be under way.
_GRACE_SECONDS = 60.0
# What is known of a login is looked up again after this long: one that was ended elsewhere ends here too.
_KNOWN_SECONDS = 5.0
_KNOWN = 10_000


class Logins:
    """The logins of one server: of its people, or of browsers that have sent its token and are nobody's."""

    def __init__(self, in_store: InStore, token: Secret | None = None, clock: Callable[[], float] = time.time) -> None:
        self._in_store = in_store
        self._key = token.reveal().encode() if token else b""
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, Login]] = OrderedDict()
        self._unstored: set[str] = set()
        """Those that only this process knows."""

    async def begin(self, person: str = "") -> NewCookie:
        """Log a browser in."""
        value, now = secrets.token_urlsafe(32), self._clock()
        digest, login = digest_of(value, self._key), Login(person, now + _SECONDS, now)
        self._remember(digest, login)
        try:
            await self._in_store(lambda people: people.keep_login(digest, login))
        except SuyuanError as error:
            if person:
                raise
            log.warning("a login could not be stored, and ends with this process: %s", error.message)
            self._unstored.add(digest)
        return value, _SECONDS

    async def find(self, value: str) -> Login | None:
        """The login with this cookie, unless it is over; raises a cause where the store is away."""
        digest = digest_of(value, self._key)
        until, login = self._known.get(digest, (0.0, None))
        if self._clock() >= until and digest not in self._unstored:
            login = await self._looked_up(digest, login)
        return None if login is None or self._clock() >= login.expires else login

    async def _looked_up(self, digest: str, known: Login | None) -> Login | None:
        try:
            login: Login | None = await self._in_store(lambda people: people.login(digest))
        except SuyuanError:
            # Where there are no people, nothing that is shown needs the store to be there.
            if known is None or known.person:
                raise
            login = known
        if login is None:
            self._known.pop(digest, None)
        else:
            self._remember(digest, login)
        return login

    async def renew(self, value: str) -> NewCookie | None:
        """A new cookie in place of an old one, which is taken for a moment longer."""
        digest = digest_of(value, self._key)
        login = await self._in_store(lambda people: people.login(digest))
        if login is None:
            return None
        await self.end(value, _GRACE_SECONDS)
        return await self.begin(login.person)

    async def end(self, value: str, after_seconds: float = 0.0) -> None:
        """Log a browser out, now or in a moment."""
        digest = digest_of(value, self._key)
        self._known.pop(digest, None)
        self._unstored.discard(digest)
        await self._in_store(lambda people: people.end_login(digest, after_seconds))

    def forget_known(self) -> None:
        """Look everything up again: something was changed."""
        self._known.clear()

    def _remember(self, digest: str, login: Login) -> None:
        self._known[digest] = self._clock() + _KNOWN_SECONDS, login
        self._known.move_to_end(digest)
        while len(self._known) > _KNOWN:
            self._unstored.discard(self._known.popitem(last=False)[0])


def digest_of(value: str, key: bytes = b"") -> str:
    """The hash under which a token, a cookie or a link is kept; each is random, so that a fast hash is enough.

    With the token of a server as ``key``, another token ends all logins, and the store alone proves nothing.
    """
    given = value.encode("utf-8", "replace")
    return hmac.new(key, given, hashlib.sha256).hexdigest() if key else hashlib.sha256(given).hexdigest()
