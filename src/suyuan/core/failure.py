"""``Failure``: why something failed, as a value that every view renders in the language of its reader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..messages.catalog import Text, catalogue, text
from .secret import Secret, redact

_ENDS = (".", "!", "?", "。", "！", "？", "…")
_HAN = re.compile("[\u4e00-\u9fff]")

VERBATIM = "failure.verbatim"
"""The key of failures that carry their own message and hint in one language only."""


class FailureText(str):
    """The message of a failure within another text, which can also show ``{name.hint}``.

    A text that goes on after the hint shows ``{name.hint_sentence}``, since many hints end with a command.
    """

    hint: str = ""

    @property
    def hint_sentence(self) -> str:
        """The hint with a full stop at its end."""
        ended = _ended(self.hint)
        if not ended or ended.endswith(_ENDS):
            return ended
        return ended + "."

    @classmethod
    def of(cls, message: str, hint: str) -> FailureText:
        """Join a message and its hint."""
        joined = cls(message)
        joined.hint = hint
        return joined


@dataclass(frozen=True, slots=True)
class Failures:
    """Several failures as one parameter: shows all their messages, and as hint that of the last."""

    all: tuple[Failure, ...]

    def localized(self, lang: str) -> FailureText:
        """Return the messages in ``lang``."""
        messages = text(lang, "failure.separator").join(failure.message(lang) for failure in self.all)
        hint = self.all[-1].hint(lang) if self.all else ""
        return FailureText.of(messages, hint)


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure: its codes, the key and the parameters of its texts, and whether a retry can help."""

    code: str
    detail_code: str = ""
    key: str = VERBATIM
    """The catalogue has its texts under ``{key}.message`` and ``{key}.hint``."""
    params: Mapping[str, object] = field(default_factory=dict)
    engine: str = ""
    retryable: bool = False
    retry_after: float | None = None
    """Seconds after which a retry can succeed, where known."""

    def message(self, lang: str = "en") -> str:
        """Return what failed and why, in ``lang``."""
        return self._text("message", lang)

    def hint(self, lang: str = "en") -> str:
        """Return what the user can do about it, in ``lang``."""
        return self._text("hint", lang)

    def say(self, lang: str = "en") -> tuple[str, str]:
        """Return message and hint in ``lang``."""
        return self.message(lang), self.hint(lang)

    def localized(self, lang: str) -> FailureText:
        """Return the message in ``lang``, as a parameter of another text."""
        return FailureText.of(*self.say(lang))

    def _text(self, part: str, lang: str) -> str:
        key = f"{self.key}.{part}"
        template = catalogue(lang)[key]
        shown = text(lang, key, **self.params, engine=self.engine)
        # A text that ends with a word of its own is shown to the letter.
        return shown if _HAN.match(template[-1:]) else _ended(shown)

    def redacted(self, secrets: Iterable[Secret]) -> Failure:
        """Return the failure with every secret taken out of its parameters."""
        known = tuple(secrets)
        return replace(self, params={name: without_secrets(value, known) for name, value in self.params.items()})

    def published(self, lang: str = "en") -> dict[str, Any]:
        """The JSON form of an error that programs read."""
        message, hint = self.say(lang)
        return {
            "code": self.code,
            "detail_code": self.detail_code or None,
            "message": message,
            "hint": hint,
            "retryable": self.retryable,
            "retry_after": self.retry_after,
        }

    def as_dict(self, lang: str = "en") -> dict[str, Any]:
        """The published form with key and parameters, from which it can be rendered again in any language."""
        params = {name: _as_json(value) for name, value in self.params.items()}
        return {**self.published(lang), "key": self.key, "params": params, "engine": self.engine}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Failure:
        """Read what ``as_dict`` has written; texts that no longer exist are replaced by the stored ones."""
        stored = {"message": str(data.get("message") or ""), "hint": str(data.get("hint") or "")}
        params = {str(name): _from_json(value) for name, value in (data.get("params") or {}).items()}
        failure = cls(
            str(data.get("code") or ""),
            str(data.get("detail_code") or ""),
            str(data.get("key") or VERBATIM),
            params,
            str(data.get("engine") or ""),
            bool(data.get("retryable")),
            data.get("retry_after"),
        )
        try:
            failure.say()
        except (LookupError, ValueError, TypeError, AttributeError):
            return replace(failure, key=VERBATIM, params=stored)
        return failure


def without_secrets(value: object, secrets: tuple[Secret, ...] = ()) -> Any:
    """Return a parameter, a text or a failure without any secret that is known, or one of ``secrets``."""
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, Failure):
        return value.redacted(secrets)
    if isinstance(value, Failures):
        return Failures(tuple(failure.redacted(secrets) for failure in value.all))
    if isinstance(value, Text):
        return Text(value.key, {name: without_secrets(inner, secrets) for name, inner in value.params.items()})
    return value


def _ended(sentence: str) -> str:
    """A Chinese text with its full stop, also where it ends with a command, an address or somebody else's words."""
    if sentence.endswith(_ENDS) or not _HAN.search(sentence):
        return sentence
    return f"{sentence.rstrip()}。"


def _as_json(value: object) -> object:
    if isinstance(value, Failure):
        return value.as_dict()
    if isinstance(value, Failures):
        return [failure.as_dict() for failure in value.all]
    if isinstance(value, Text):
        return {"key": value.key, "params": {name: _as_json(inner) for name, inner in value.params.items()}}
    return value


def _from_json(value: Any) -> object:
    if isinstance(value, list):
        return Failures(tuple(Failure.from_dict(item) for item in value))
    if isinstance(value, dict) and "code" in value:
        return Failure.from_dict(value)
    if isinstance(value, dict):
        return Text(str(value.get("key")), {name: _from_json(inner) for name, inner in value["params"].items()})
    return value
