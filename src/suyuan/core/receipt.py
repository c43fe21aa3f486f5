"""``Attempt``: the receipt of one engine in a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .failure import Failure

AttemptOutcome = Literal["ok", "empty", "blocked", "timeout", "error", "skipped", "cancelled"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """The receipt of one engine: what it did, how long it took, and why it failed if it did."""

    engine: str
    outcome: AttemptOutcome
    count: int = 0
    latency_ms: int = 0
    failure: Failure | None = None
    unsupported_params: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    request_id: str = ""

    @property
    def code(self) -> str:
        """The code of the failure, or an empty text."""
        return self.failure.code if self.failure else ""

    @property
    def detail_code(self) -> str:
        """The detail code of the failure, or an empty text."""
        return self.failure.detail_code if self.failure else ""
