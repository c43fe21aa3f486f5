"""``setting``: a dataclass field that declares its path in ``config.json``, its variable, its range and its meaning.

The loader, ``suyuan config show``, the JSON Schema and the documentation are all derived from this declaration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from ..messages.catalog import Text
from .secret import MASK, Secret

T = TypeVar("T")

_METADATA_KEY = "setting"


class InvalidValue(ValueError):
    """A value that a setting does not accept; ``reason`` is a text below ``config.why``."""

    def __init__(self, reason: str, **params: object) -> None:
        super().__init__(reason)
        self.reason = Text(f"config.why.{reason}", params)


@dataclass(frozen=True, slots=True)
class ValueKind:
    """The values a setting accepts: ``check`` returns the value to use or raises ``InvalidValue``."""

    check: Callable[[Any], Any]
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Setting:
    """The declaration of one setting."""

    path: str
    """The path in ``config.json``, such as ``server.port``."""
    kind: ValueKind
    description: str
    env: str = ""
    """The environment variable."""
    default: Any = None
    env_scale: float = 1.0
    """One unit of the variable in units of the setting, such as 0.001 for milliseconds to seconds."""
    file_first: bool = False
    """Whether ``config.json`` comes before the environment, as it does for API keys."""
    empty_text: str = ""
    """The text shown for an empty value; without one, an empty default is not shown at all."""
    guards: bool = False
    """Whether it decides who may do what, or where everything is kept: a server does not start with its default where
    another value was meant."""

    @property
    def secret(self) -> bool:
        """Whether the value must never be shown."""
        return isinstance(self.default, Secret)

    def under(self, path_prefix: str, env_prefix: str) -> Setting:
        """The same setting with both prefixes, for example those of one engine."""
        if not path_prefix:
            return self
        return replace(self, path=path_prefix + self.path, env=env_prefix + self.env)

    def show(self, value: Any) -> str:
        """The text for ``value`` that may appear on a screen; empty for an empty value."""
        if value in (None, "", ()) or value == Secret(""):
            return self.empty_text
        if self.secret:
            return MASK
        if isinstance(value, bool):
            return str(value).lower()
        return ", ".join(value) if isinstance(value, tuple) else str(value)


def setting(
    path: str,
    default: T,
    kind: ValueKind,
    description: str,
    *,
    env: str = "",
    env_scale: float = 1.0,
    file_first: bool = False,
    empty_text: str = "",
    guards: bool = False,
) -> T:
    """Declare a dataclass field as a setting; a ``Secret`` as default makes it secret."""
    declared = Setting(path, kind, description, env, default, env_scale, file_first, empty_text, guards)
    return field(default=default, metadata={_METADATA_KEY: declared})


def declaration(of: Any) -> Setting | None:
    """The declaration that a dataclass field carries, if any."""
    return cast("Setting | None", of.metadata.get(_METADATA_KEY))


def declarations(settings: type) -> Iterator[Setting]:
    """All settings declared in a settings class and in the settings classes of its fields."""
    for item in fields(settings):
        if declared := declaration(item):
            yield declared
        elif is_dataclass(item.default_factory):
            yield from declarations(cast(type, item.default_factory))


def number(low: float, high: float) -> ValueKind:
    """A number from ``low`` to ``high``."""

    def check(value: Any) -> float:
        return _number_in_range(value, low, high, "number")

    return ValueKind(check, {"type": "number", "minimum": low, "maximum": high})


def whole(low: int, high: int) -> ValueKind:
    """A whole number from ``low`` to ``high``."""

    def check(value: Any) -> int:
        number = _number_in_range(value, low, high, "whole_number")
        if not number.is_integer():
            raise InvalidValue("whole_number", low=low, high=high)
        return int(number)

    return ValueKind(check, {"type": "integer", "minimum": low, "maximum": high})


def _number_in_range(value: Any, low: float, high: float, reason: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    # A comparison with "not a number" is false.
    if isinstance(value, bool) or not low <= number <= high:
        raise InvalidValue(reason, low=low, high=high)
    return number


def text() -> ValueKind:
    """A non-empty text."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or not value.strip():
            raise InvalidValue("empty")
        return value.strip()

    return ValueKind(check, {"type": "string", "minLength": 1})


def http_url() -> ValueKind:
    """An http or https URL, without its final slash."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or not _is_http_url(value.strip()):
            raise InvalidValue("address", scheme="http")
        return value.strip().rstrip("/")

    return ValueKind(check, {"type": "string", "pattern": r"^(http|https)://[^\s/]+"})


def _is_http_url(url: str) -> bool:
    if not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        # The port is checked when it is read.
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def flag() -> ValueKind:
    """True or false, also spelled yes, no, on, off, 1 or 0."""

    def check(value: Any) -> bool:
        spelled = str(value).strip().lower()
        if spelled not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
            raise InvalidValue("flag")
        return spelled in ("1", "true", "yes", "on")

    return ValueKind(check, {"type": "boolean"})


def choice(*names: str) -> ValueKind:
    """One of ``names``."""

    def check(value: Any) -> str:
        if not isinstance(value, str) or value.strip().lower() not in names:
            raise InvalidValue("choice", known=", ".join(names))
        return value.strip().lower()

    return ValueKind(check, {"type": "string", "enum": list(names)})


def names(always: tuple[str, ...] = (), check_each: Callable[[str], object] = str) -> ValueKind:
    """A list of texts, in a variable separated by commas, each one checked; those in ``always`` are added."""

    def check(value: Any) -> tuple[str, ...]:
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
            raise InvalidValue("list")
        items = [part.strip() for part in parts if part.strip()]
        for item in items:
            try:
                check_each(item)
            except ValueError:
                raise InvalidValue("item", item=item) from None
        return (*always, *items)

    return ValueKind(check, {"type": "array", "items": {"type": "string"}})
