"""What a cause of failure is; the causes themselves stand in the catalogues beside this file."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import SuyuanError


@dataclass(frozen=True, slots=True)
class Cause:
    """One way to fail; calling it gives the error to raise, with the blanks of its texts filled in."""

    kind: type[SuyuanError]
    detail_code: str
    en: str
    zh: str
    hint_en: str
    hint_zh: str
    retryable: bool | None = None

    def __call__(self, *, engine: str = "", retry_after: float | None = None, **blanks: object) -> SuyuanError:
        """The error to raise; ``blanks`` fill the texts."""
        blanks["engine"] = engine
        return self.kind(
            self.en.format(**blanks),
            hint=self.hint_en.format(**blanks),
            detail_code=self.detail_code,
            retryable=self.retryable,
            retry_after=retry_after,
            engine=engine,
            translations={"zh": (self.zh.format(**blanks), self.hint_zh.format(**blanks))},
        )
