"""``Attempt``: the receipt of one engine in a search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AttemptOutcome = Literal["ok", "empty", "blocked", "timeout", "error", "skipped", "cancelled"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """The receipt for one engine: what it did, how long it took, and if it failed, why and what helps."""

    engine: str
    outcome: AttemptOutcome
    count: int = 0
    latency_ms: int = 0
    code: str = ""
    detail_code: str = ""
    message: str = ""
    hint: str = ""
    message_zh: str = ""
    hint_zh: str = ""
    retryable: bool = False
    unsupported_params: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    request_id: str = ""
