"""``Job``: a research job with its state, and the protocol behind which jobs are stored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
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

    @property
    def shared(self) -> bool:
        """Whether what one process leaves another takes."""

    def create(self, question: str, request: Mapping[str, Any], person: str = "") -> StoredJob:
        """Create a job."""

    def get(self, id: str) -> StoredJob:
        """One job."""

    def find(self, *, person: str = "", limit: int = 50, offset: int = 0) -> list[StoredJob]:
        """The jobs, the newest first."""

    def waiting(self) -> str | None:
        """The job that is next."""

    def claim(self, id: str, state: str) -> bool:
        """Take a job that waits for this process."""

    def change(self, id: str, step: Step | None = None, *, own: bool = False, **values: Any) -> None:
        """Change a job and store a step, both or neither; ``own`` raises ``JobTaken`` where it is another's."""

    def release(self, id: str) -> None:
        """Leave a job of this process."""

    def beat(self, id: str, progress: Mapping[str, Any] | None = None) -> bool:
        """Give a sign of life; return whether the job shall stop."""

    def remove(self, id: str) -> None:
        """Remove a job."""

    def sweep(self, own: Collection[str] = ()) -> int:
        """Leave the jobs of dead processes; ``own`` are those at work here."""

    def keep(self, id: str, steps: Iterable[Step], *, own: bool = False) -> list[StoredStep]:
        """Store steps; ``own`` raises ``JobTaken`` where the job is another's."""

    def steps(self, id: str, after: int = -1) -> list[StoredStep]:
        """The steps of a job."""

    def forget(self, id: str, keys: Iterable[str]) -> None:
        """Remove steps, which will be done again."""

    def close(self) -> None:
        """Close the store."""
