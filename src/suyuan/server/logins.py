"""``Logins``: the browsers that are logged in. A cookie is a random number; the store has only a hash of it."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from ..core.errors import SuyuanError
from ..core.secret import Secret

log = logging.getLogger("suyuan.server")

COOKIE = "suyuan_login"
DAYS = 30
_SECONDS = DAYS * 86_400
_REMEMBERED = 10_000
_LONGEST = 100


class LoginStore(Protocol):
    """Where logins outlive the server; the store implements it."""

    def keep_login(self, digest: str, expires: float) -> None:
        """Store a login."""

    def login_expires(self, digest: str) -> float | None:
        """The time at which a login ends; None if there is none."""


class Logins:
    """The logins of one server, remembered in memory and kept in its store."""

    def __init__(self, token: Secret, store: Callable[[], LoginStore], clock: Callable[[], float] = time.time) -> None:
        self._key = token.reveal().encode()
        self._store = store
        self._clock = clock
        self._known: OrderedDict[str, float] = OrderedDict()

    async def begin(self) -> str:
        """Log a browser in, and return the value of its cookie."""
        value = secrets.token_urlsafe(32)
        digest, expires = self._digest(value), self._clock() + _SECONDS
        self._remember(digest, expires)
        try:
            await asyncio.to_thread(lambda: self._store().keep_login(digest, expires))
        except SuyuanError as error:
            log.warning("a login could not be stored, and ends with this process: %s", error.message)
        return value

    async def is_known(self, value: str) -> bool:
        """Whether ``value`` is the cookie of a browser that is logged in; raises a cause where the store is away."""
        if len(value) > _LONGEST:
            return False
        digest = self._digest(value)
        expires = self._known.get(digest)
        if expires is None:
            expires = await asyncio.to_thread(lambda: self._store().login_expires(digest))
            if expires is None:
                return False
            self._remember(digest, expires)
        return self._clock() < expires

    def _digest(self, value: str) -> str:
        """With the token as key: another token ends all logins, and the store alone proves nothing."""
        return hmac.new(self._key, value.encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def _remember(self, digest: str, expires: float) -> None:
        self._known[digest] = expires
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
