"""``Cause``: one way to fail. All causes are in the modules of ``causes``, their texts in the message catalogues."""

from __future__ import annotations

from dataclasses import dataclass

from ..messages.catalog import Text
from .errors import SuyuanError
from .failure import Failure, Failures, without_secrets
from .secret import redact

_KEPT = (int, float, Text, Failure, Failures)


@dataclass(frozen=True, slots=True)
class Cause:
    """One way to fail; calling it gives the error to raise, with the parameters of its texts."""

    kind: type[SuyuanError]
    key: str
    detail_code: str
    retryable: bool | None = None

    def __call__(self, *, engine: str = "", retry_after: float | None = None, **params: object) -> SuyuanError:
        """Return the error to raise; ``params`` fill the placeholders of its texts."""
        return self.kind(self.failure(engine=engine, retry_after=retry_after, **params))

    def failure(self, *, engine: str = "", retry_after: float | None = None, **params: object) -> Failure:
        """Return the failure alone; no text is rendered here, since most failures are never shown."""
        # Foreign objects are turned into text now: they may hold whole tracebacks. Any text may repeat a secret.
        kept = {name: _kept(value) for name, value in params.items()}
        retryable = self.kind.default_retryable if self.retryable is None else self.retryable
        return Failure(self.kind.code, self.detail_code, self.key, kept, engine, retryable, retry_after)


def _kept(value: object) -> object:
    if not isinstance(value, _KEPT):
        return redact(str(value))
    return without_secrets(value)
