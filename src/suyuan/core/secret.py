"""A secret that cannot be printed by accident, and the one place that takes secrets out of a text."""

from __future__ import annotations

from collections.abc import Iterable

MASK = "***"


class Secret:
    """A key or password: shows as ``***`` everywhere except through :meth:`reveal`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the secret itself, for the moment of sending."""
        return self._value

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


def redact(text: str, secrets: Iterable[Secret]) -> str:
    """Return ``text`` with every secret in it replaced by ``***``."""
    for secret in secrets:
        value = secret.reveal()
        # Very short values are placeholders ("x"); replacing them would only garble the text.
        if len(value) >= 4:
            text = text.replace(value, MASK)
    return text
