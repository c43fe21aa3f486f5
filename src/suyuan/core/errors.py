"""The one error tree. Every failure of the house is one of these; the codes are the published ones.

SuyuanError
├── InvalidInput        the caller asked for something that cannot be asked
├── ToolNotFound        no tool of that name
└── WebProviderError    an engine failed in a way that has no better name
    ├── Timeout         it took too long
    ├── WebBlocked      it refuses us; detail_code: captcha_required, http_403, http_429, …
    ├── WebParseError   it answered something we cannot read
    ├── NetworkError    it could not be reached
    ├── AuthError       the key is missing or wrong, or the interface is closed
    └── BadGateway      it is broken at its end (5xx)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from .secret import Secret, redact

if TYPE_CHECKING:
    from .receipt import Attempt


class SuyuanError(Exception):
    """A failure with a code, a cause and a cure."""

    code: ClassVar[str] = "SuyuanError"
    default_retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        detail_code: str = "",
        retryable: bool | None = None,
        retry_after: float | None = None,
        engine: str = "",
        translations: Mapping[str, tuple[str, str]] | None = None,
        attempts: tuple[Attempt, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.detail_code = detail_code
        self.retryable = self.default_retryable if retryable is None else retryable
        self.retry_after = retry_after
        self.engine = engine
        self.translations = dict(translations or {})
        self.attempts = attempts

    def say(self, lang: str) -> tuple[str, str]:
        """Return message and cure in ``lang``, or in English where there is no such translation."""
        return self.translations.get(lang, (self.message, self.hint))

    def redacted(self, secrets: Iterable[Secret]) -> Self:
        """Take ``secrets`` out of every text this error carries, and forget what it was raised from."""
        secrets = tuple(secrets)
        self.message = redact(self.message, secrets)
        self.hint = redact(self.hint, secrets)
        self.translations = {k: (redact(m, secrets), redact(c, secrets)) for k, (m, c) in self.translations.items()}
        self.args = (self.message,)
        # A foreign exception in the chain may hold the request with its headers.
        self.__cause__ = self.__context__ = None
        return self

    def as_dict(self, lang: str = "en") -> dict[str, Any]:
        """Return the published shape of an error: code, detail_code, message, cure, retryable."""
        message, hint = self.say(lang)
        return {
            "code": self.code,
            "detail_code": self.detail_code or None,
            "message": message,
            "hint": hint,
            "retryable": self.retryable,
        }


class InvalidInput(SuyuanError):
    """The caller asked for something that cannot be asked."""

    code = "InvalidInput"


class ToolNotFound(SuyuanError):
    """There is no tool of that name."""

    code = "ToolNotFound"


class WebProviderError(SuyuanError):
    """An engine failed in a way that has no better name."""

    code = "WebProviderError"


class Timeout(WebProviderError):
    """An engine, or the whole search, took too long."""

    code = "Timeout"
    default_retryable = True


class WebBlocked(WebProviderError):
    """An engine refuses us: CAPTCHA, 403, 429 or an empty page in place of results."""

    code = "WebBlocked"
    default_retryable = True


class WebParseError(WebProviderError):
    """An engine answered something that cannot be read."""

    code = "WebParseError"


class NetworkError(WebProviderError):
    """An engine could not be reached."""

    code = "NetworkError"
    default_retryable = True


class AuthError(WebProviderError):
    """The key is missing or wrong, or the interface is closed to us."""

    code = "AuthError"


class BadGateway(WebProviderError):
    """An engine is broken at its own end."""

    code = "BadGateway"
    default_retryable = True
