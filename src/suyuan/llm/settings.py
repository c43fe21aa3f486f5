"""``ModelSettings``: which model answers, and how it is reached."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..core.secret import Secret

EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """A model and the way to it; without any setting the embedded one."""

    provider: str = EMBEDDED
    """``embedded``, ``openai`` (any compatible server), ``ollama``, ``anthropic`` or ``google``."""
    name: str = ""
    base_url: str = ""
    api_key: Secret = field(default_factory=lambda: Secret(""))
    temperature: float | None = None
    max_tokens: int | None = None
    """Longest answer."""
    context_tokens: int = 32_000
    """What the model can read; older messages are left out beyond that."""
    seconds: float = 120.0
    """Longest silence of the model server."""
    proxy: Secret = field(default_factory=lambda: Secret(""))
    no_proxy: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The name that users see."""
        return self.name or self.provider
