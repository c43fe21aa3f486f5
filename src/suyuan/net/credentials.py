"""The token of a server: how strong it must be, and the wrong ones, counted for every way to send one."""

from __future__ import annotations

import hmac
import time
from collections import OrderedDict, deque
from collections.abc import Callable, MutableMapping
from ipaddress import IPv6Address, ip_address
from typing import Any

from ..core.causes.web import TOKEN_FOR_NETWORK, TOKEN_WEAK, TOKEN_WRONG, TOO_MANY_TRIES
from ..core.errors import SuyuanError
from ..core.secret import Secret

LEAST_LENGTH = 12
LEAST_DIFFERENT = 8
EXAMPLE = 'export SUYUAN_TOKEN="$(openssl rand -hex 24)"'


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens on ``host``."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def check_token(host: str, token: Secret) -> None:
    """Raise a cause if a server on ``host`` would be open to the network, or its token could be guessed."""
    text = token.reveal()
    if not text:
        if is_loopback(host):
            return
        raise TOKEN_FOR_NETWORK(host=host or "*", example=EXAMPLE)
    if len(text) < LEAST_LENGTH or len(set(text)) < LEAST_DIFFERENT:
        raise TOKEN_WEAK(length=LEAST_LENGTH, different=LEAST_DIFFERENT, example=EXAMPLE)


def client_key(scope: MutableMapping[str, Any]) -> str:
    """What identifies a client: its address, or for IPv6 the network of one subscriber."""
    return client_name(str((scope.get("client") or ("", 0))[0]))


def client_name(host: str) -> str:
    """The name under which a client with the address ``host`` is counted."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None and not address.is_loopback:
        return address.exploded[:19]
    return host


class Credentials:
    """Checks what clients send against the token, and counts what is wrong by client.

    The right token is accepted whatever else came from the same address: a stranger must not be able to lock its owner
    out. The strength of the token makes guessing hopeless; the count refuses the guesses, and tells them apart.
    """

    def __init__(
        self,
        token: Secret,
        most: int = 10,
        seconds: float = 300.0,
        clock: Callable[[], float] = time.monotonic,
        clients: int = 10_000,
    ) -> None:
        self._token = token.reveal().encode()
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._clients = clients
        self._wrong: OrderedDict[str, deque[float]] = OrderedDict()

    def __bool__(self) -> bool:
        """Whether there is a token at all."""
        return bool(self._token)

    def __len__(self) -> int:
        """The number of clients with wrong credentials that are remembered."""
        return len(self._wrong)

    def is_token(self, given: str) -> bool:
        """Whether ``given`` is the token."""
        return bool(self._token) and hmac.compare_digest(given.encode("utf-8", "replace"), self._token)

    def is_header(self, authorization: str) -> bool:
        """Whether an ``Authorization`` header has the token, with or without ``Bearer``."""
        scheme, _, credentials = authorization.partition(" ")
        if scheme.lower() == "bearer":
            return self.is_token(credentials.strip())
        return self.is_token(authorization)

    def refuse(self, client: str) -> SuyuanError:
        """Count a wrong credential of ``client``, and return the error to raise."""
        now = self._clock()
        times = self._wrong.setdefault(client, deque(maxlen=self._most + 1))
        self._wrong.move_to_end(client)
        while len(self._wrong) > self._clients:
            self._wrong.popitem(last=False)
        times.append(now)
        while now - times[0] > self._seconds:
            times.popleft()
        if len(times) <= self._most:
            return TOKEN_WRONG()
        left = self._seconds - (now - times[0])
        return TOO_MANY_TRIES(seconds=left, retry_after=left)
