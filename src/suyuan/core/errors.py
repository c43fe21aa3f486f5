"""The one error tree; the codes are the published ones.

SuyuanError
├── InvalidInput        the caller's input is not valid
├── ToolNotFound        no tool of that name
└── WebProviderError    an engine failed in a way that has no better name
    ├── Timeout         it took too long
    ├── WebBlocked      it refuses requests; detail_code: captcha_required, http_403, http_429, …
    ├── WebParseError   its answer cannot be read
    ├── NetworkError    it could not be reached
    ├── AuthError       the key is missing or wrong, or the interface is closed
    └── BadGateway      it is broken at its end (5xx)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from .failure import VERBATIM, Failure
from .secret import Secret, redact

if TYPE_CHECKING:
    from .result import Attempt


class SuyuanError(Exception):
    """A failure that is raised; made from a ``Failure``, or from a message and a hint in one language."""

    code: ClassVar[str] = "SuyuanError"
    """The published code: the name of the class, unless the class says otherwise."""
    default_retryable: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if "code" not in vars(cls):
            cls.code = cls.__name__

    def __init__(
        self,
        message: str | Failure,
        *,
        hint: str = "",
        detail_code: str = "",
        retryable: bool | None = None,
        retry_after: float | None = None,
        engine: str = "",
        attempts: tuple[Attempt, ...] = (),
    ) -> None:
        super().__init__(message)
        if isinstance(message, str):
            kept = self.default_retryable if retryable is None else retryable
            params = {"message": redact(message), "hint": redact(hint)}
            message = Failure(self.code, detail_code, VERBATIM, params, engine, kept, retry_after)
        self.failure = message
        self.attempts = attempts

    @property
    def detail_code(self) -> str:
        """The exact cause, for programs."""
        return self.failure.detail_code

    @property
    def message(self) -> str:
        """What failed and why, in English."""
        return self.failure.message()

    @property
    def hint(self) -> str:
        """What the user can do about it, in English."""
        return self.failure.hint()

    @property
    def retryable(self) -> bool:
        """Whether the same call can succeed later."""
        return self.failure.retryable

    @property
    def retry_after(self) -> float | None:
        """Seconds after which a retry can succeed, where known."""
        return self.failure.retry_after

    @retry_after.setter
    def retry_after(self, seconds: float | None) -> None:
        self.failure = replace(self.failure, retry_after=seconds)

    @property
    def engine(self) -> str:
        """The engine that failed, or an empty text."""
        return self.failure.engine

    @engine.setter
    def engine(self, name: str) -> None:
        self.failure = replace(self.failure, engine=name)

    def say(self, lang: str) -> tuple[str, str]:
        """Return message and hint in ``lang``."""
        return self.failure.say(lang)

    def redacted(self, secrets: Iterable[Secret]) -> Self:
        """Take ``secrets`` out of this error, and forget what it was raised from."""
        self.failure = self.failure.redacted(secrets)
        self.args = (self.failure,)
        # A foreign exception in the chain may hold the request with its headers.
        self.__cause__ = self.__context__ = None
        return self

    def as_dict(self, lang: str = "en") -> dict[str, Any]:
        """The JSON form of the error that programs read."""
        return self.failure.published(lang)

    def __str__(self) -> str:
        return self.message


class InvalidInput(SuyuanError):
    """The caller's input is not valid."""


class ToolNotFound(SuyuanError):
    """There is no tool of that name."""


class WebProviderError(SuyuanError):
    """An engine failed in a way that has no better name."""


class Timeout(WebProviderError):
    """An engine, or the whole search, took too long."""

    default_retryable = True


class WebBlocked(WebProviderError):
    """An engine refuses requests: CAPTCHA, 403, 429 or an empty page in place of results."""

    default_retryable = True


class WebParseError(WebProviderError):
    """The answer of an engine cannot be read."""


class NetworkError(WebProviderError):
    """An engine could not be reached."""

    default_retryable = True


class AuthError(WebProviderError):
    """The key is missing or wrong, or the interface is closed."""


class BadGateway(WebProviderError):
    """An engine is broken at its own end."""

    default_retryable = True
