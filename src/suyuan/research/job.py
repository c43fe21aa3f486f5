"""The states of a research job, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["queued", "planning", "awaiting_plan", "running", "interrupted", "done", "failed", "cancelled"]
ENDED = ("done", "failed", "cancelled")
RESUMABLE = ("interrupted", "failed", "queued", "awaiting_plan")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is: what it has done of what it may do."""

    searches: int = 0
    found: int = 0
    read: int = 0
    unread: int = 0
    used: int = 0
    tokens: int = 0
    seconds: float = 0.0
    money: float = 0.0
