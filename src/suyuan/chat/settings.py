"""``ChatSettings`` and ``AgentLimits``: how conversations begin, and how far an agent may go."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """The limits at which an agent must answer with what it has."""

    searches: int = 6
    fetches: int = 6
    seconds: float = 120.0
    tokens: int = 100_000


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """How conversations begin, and what goes into a prompt."""

    search: bool | None = None
    """Whether the search switch of a new conversation is on; None: on where the model needs it."""
    results: int = 5
    snippet_length: int = 200
    limits: AgentLimits = field(default_factory=AgentLimits)
