"""``Job``: a research job with its state, and the protocols behind which jobs are stored and queued."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ..store.research import Step, StoredJob, StoredStep

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


class JobStore(Protocol):
    """Where jobs and their steps are kept; when a method returns, what it wrote outlives the process."""

    def create(self, question: str, request: Mapping[str, Any], person: str = "") -> StoredJob:
        """Create a job."""

    def get(self, id: str) -> StoredJob:
        """One job."""

    def find(self, *, person: str = "", limit: int = 50, offset: int = 0) -> list[StoredJob]:
        """The jobs, the newest first."""

    def claim(self, id: str, state: str, *, of: Iterable[str]) -> bool:
        """Take a job for this process."""

    def change(self, id: str, step: Step | None = None, **values: Any) -> None:
        """Change a job and store a step, both or neither."""

    def interrupt(self, id: str) -> None:
        """Mark a job as interrupted, unless it has ended."""

    def beat(self, id: str) -> bool:
        """Give a sign of life; return whether the job shall stop."""

    def remove(self, id: str) -> None:
        """Remove a job."""

    def sweep(self) -> int:
        """Mark the jobs of dead processes as interrupted."""

    def keep(self, id: str, steps: Iterable[Step]) -> list[StoredStep]:
        """Store steps."""

    def steps(self, id: str, after: int = -1) -> list[StoredStep]:
        """The steps of a job."""

    def forget(self, id: str, keys: Iterable[str]) -> None:
        """Remove steps, which will be done again."""

    def close(self) -> None:
        """Close the store."""


class JobQueue(Protocol):
    """Hands jobs to the workers; in this process by default, between machines where a team runs several."""

    async def put(self, job: str) -> None:
        """Add a job."""

    async def get(self) -> str:
        """Wait for the next job and take it."""
