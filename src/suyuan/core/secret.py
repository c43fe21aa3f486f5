"""A secret that cannot be printed by accident, and the one place that takes secrets out of a text."""

from __future__ import annotations

import json
import re
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus, unquote
from weakref import WeakValueDictionary

MASK = "***"

# Shorter values are placeholders ("x", "none"): replacing them would only garble the text.
_SHORT = 4
_SHORT_UNASKED = 8
_USERINFO = re.compile(r"[a-z][a-z0-9+.-]*://([^/?#@\s]+)@", re.I)
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.I)
_SCHEME = re.compile(r"(basic|bearer)\s+(\S+)", re.I)


class Secret:
    """A key or password: shows as ``***`` everywhere except through :meth:`reveal`."""

    __slots__ = ("__weakref__", "_parts", "_value")

    def __init__(self, value: str) -> None:
        self._value = value
        self._parts: dict[str, tuple[str, ...]] | None = None
        if len(value) >= _SHORT:
            _KNOWN[id(self)] = self

    def reveal(self) -> str:
        """Return the secret itself, for the moment of sending."""
        return self._value

    def forms(self, shortest: int = _SHORT) -> Iterator[str]:
        """Every way in which the secret, or the password in it, can appear in a text."""
        if self._parts is None:
            self._parts = {part: tuple(_forms(part)) for part in _secret_parts(self._value)}
        for part, forms in self._parts.items():
            if len(part) >= shortest:
                yield from forms

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return f"Secret({MASK if self._value else ''})"

    def __str__(self) -> str:
        return MASK if self._value else ""

    def __reduce__(self) -> tuple[type, tuple[str]]:
        # A pickled settings object must not carry the key to disk or to another process.
        return (Secret, ("",))


# By identity, since equal secrets may end at different times.
_KNOWN: WeakValueDictionary[int, Secret] = WeakValueDictionary()


def redact(text: str, secrets: Iterable[Secret] = ()) -> str:
    """Return ``text`` with every secret that this process knows replaced by ``***``, however it is encoded.

    Any service can repeat a request, or what another service sent to it. ``secrets`` may be shorter than others.
    """
    # A short one is found as it is; encoded, it would be found in other words.
    forms = {secret.reveal() for secret in secrets if len(secret.reveal()) >= _SHORT}
    for secret in list(_KNOWN.values()):
        forms.update(secret.forms(_SHORT_UNASKED))
    # The longest first: a secret that another one begins with would leave the rest of it.
    for form in sorted((form for form in forms if form in text), key=len, reverse=True):
        text = text.replace(form, MASK)
    return text


def _secret_parts(value: str) -> Iterator[str]:
    """What is secret in ``value``: of an address only the password in it, of a header also what it encodes."""
    if _URL.match(value):
        if found := _USERINFO.match(value):
            yield value
            yield from _user_and_password(unquote(found[1]))
        return
    yield value
    if found := _SCHEME.fullmatch(value.strip()):
        yield found[2]
        try:
            yield from _user_and_password(a2b_base64(found[2], strict_mode=True).decode())
        except ValueError:
            return


def _user_and_password(userinfo: str) -> Iterator[str]:
    yield userinfo
    if password := userinfo.partition(":")[2]:
        yield password


def _forms(value: str) -> Iterator[str]:
    """``value`` as it is, and as JSON, HTML, a URL, Python and base64 write it."""
    # Imported here, as every start of the program would wait for it.
    import html

    escaped = json.dumps(value)[1:-1]
    forms = {
        value,
        escaped,
        json.dumps(value, ensure_ascii=False)[1:-1],
        escaped.replace("/", "\\/"),
        re.sub("[&<>'+]", lambda char: f"\\u{ord(char[0]):04x}", escaped),
        json.dumps(escaped)[1:-1],
        html.escape(value),
        html.escape(value, quote=False),
        repr(value)[1:-1],
        *_base64(value.encode()),
    }
    for encoded in (quote(value), quote(value, safe=""), quote_plus(value)):
        lower = re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), encoded)
        forms |= {encoded, lower, quote(encoded, safe="")}
    return iter(forms)


def _base64(value: bytes) -> Iterator[str]:
    """What of ``value`` is the same in base64 whatever stands before and after it, such as a user name."""
    for before in range(3):
        start, end = -(-before * 8 // 6), (before + len(value)) * 8 // 6
        code = b2a_base64(bytes(before) + value, newline=False).decode()[start:end]
        if len(code) >= _SHORT_UNASKED:
            yield code
            yield code.replace("+", "-").replace("/", "_")
