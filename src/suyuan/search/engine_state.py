"""``EngineState``: what this process has learned about an engine; every client in the process shares it."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ..core.errors import SuyuanError
from ..core.file_lock import file_lock
from ..core.private_file import write_private
from .breaker import Breaker
from .experience import Experience
from .rate_limit import RateLimiter

UNKNOWN_LATENCY = 0.75
_MAX_LATENCY = 120.0
_FILE = "engines.json"
_MAX_FILE = 1_000_000
_MAX_ENGINES = 500


@dataclass(slots=True)
class EngineState:
    """Breaker, rate limit and latency of one engine, at one address, through one exit."""

    breaker: Breaker = field(default_factory=Breaker)
    limiter: RateLimiter = field(default_factory=lambda: RateLimiter(None))
    latency: float = UNKNOWN_LATENCY
    """A moving average of how long it takes to answer, in seconds."""
    measured: bool = False
    """Whether the latency was learned, by this process or an earlier one."""
    experience: Experience = field(default_factory=Experience)
    """How well it has answered."""
    probed: tuple[float, SuyuanError | None] | None = None
    """The last health check: until when it counts, and what it found."""
    healthy: float = float("-inf")
    """When it last passed a health check."""

    def learn_latency(self, seconds: float) -> None:
        """Take note that an answer took so long, or that none had come after so long."""
        seconds = min(max(seconds, 0.0), _MAX_LATENCY)
        self.latency += (0.2 if self.measured else 1.0) * (seconds - self.latency)
        self.measured = True

    def kept(self) -> dict[str, Any]:
        """What to keep on disk for the next process."""
        latency = {"latency": round(self.latency, 3)} if self.measured else {}
        return {**self.breaker.state(), **latency, **self.experience.state()}

    @classmethod
    def from_kept(cls, kept: Any, limiter: RateLimiter) -> EngineState:
        """Read what :meth:`kept` returned; anything unreadable counts as not known."""
        state = cls(Breaker.from_state(kept), limiter, experience=Experience.from_state(kept))
        latency = kept.get("latency") if isinstance(kept, dict) else None
        if isinstance(latency, float | int) and 0 <= latency <= _MAX_LATENCY:
            state.latency, state.measured = float(latency), True
        return state


@dataclass(frozen=True, slots=True)
class StateKey:
    """What makes two engines the same for the server that answers: name, address, exit and rate."""

    name: str
    base_url: str
    exit: str
    per_minute: float | None
    burst: int

    @property
    def label(self) -> str:
        """The name in the state file."""
        return f"{self.name}@{self.exit}"


_states: dict[StateKey, EngineState] = {}
_lock = threading.Lock()


def shared_state(key: StateKey, kept: Mapping[str, Any]) -> EngineState:
    """The state of an engine in this process; ``kept`` is what an earlier process wrote."""
    with _lock:
        if key not in _states:
            _states[key] = EngineState.from_kept(kept.get(key.label), RateLimiter(key.per_minute, key.burst))
        return _states[key]


def forget_states() -> None:
    """Start anew, as a new process would."""
    with _lock:
        _states.clear()


def load_states(folder: Path | None) -> dict[str, Any]:
    """What an earlier process learned; a file or an entry that cannot be read counts as empty."""
    if folder is None:
        return {}
    try:
        with (folder / _FILE).open(encoding="utf-8") as file:
            data = json.loads(file.read(_MAX_FILE))
    except (OSError, ValueError, RecursionError):
        return {}
    entries = islice(data.items(), _MAX_ENGINES) if isinstance(data, dict) else ()
    # Written anew by what was understood of them, so that garbage does not stay in the file.
    return {name[:200]: EngineState.from_kept(kept, RateLimiter(None)).kept() for name, kept in entries}


def save_states(folder: Path | None, states: Mapping[str, Any]) -> None:
    """Add what is known about engines to what others have kept; a folder that cannot be written to is no failure."""
    if folder is None:
        return
    target = folder / _FILE
    if not target.exists() and not any(map(_is_worth_keeping, states.values())):
        return
    with contextlib.suppress(OSError), file_lock(target.with_name(f".{_FILE}.lock")):
        together = {**load_states(folder), **states}
        worth = {name: state for name, state in together.items() if _is_worth_keeping(state)}
        # What is lost is learned again.
        write_private(target, json.dumps(worth), durable=False)


def _is_worth_keeping(state: Mapping[str, Any]) -> bool:
    if state.get("until"):
        return True
    return "latency" in state or "seen" in state
