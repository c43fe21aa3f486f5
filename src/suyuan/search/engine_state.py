"""``EngineState``: what this process has learned about an engine; every client in the process shares it."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.errors import SuyuanError
from .breaker import Breaker
from .rate_limit import RateLimiter

_FILE = "engines.json"


@dataclass(slots=True)
class EngineState:
    """Breaker, rate limit and latency of one engine, at one address, through one exit."""

    breaker: Breaker = field(default_factory=Breaker)
    limiter: RateLimiter = field(default_factory=lambda: RateLimiter(None))
    latency: float = 0.75
    """A moving average of how long it takes to answer, in seconds."""
    probed: tuple[float, SuyuanError | None] | None = None
    """The last health check: until when it counts, and what it found."""


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
            breaker = Breaker.from_state(kept.get(key.label) or {})
            _states[key] = EngineState(breaker, RateLimiter(key.per_minute, key.burst))
        return _states[key]


def forget_states() -> None:
    """Start anew, as a new process would."""
    with _lock:
        _states.clear()


def load_states(folder: Path | None) -> dict[str, Any]:
    """What an earlier process learned; a file that cannot be read counts as empty."""
    if folder is None:
        return {}
    try:
        data = json.loads((folder / _FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def save_states(folder: Path | None, states: Mapping[str, Any]) -> None:
    """Write the engines that are in a cooldown; a folder that cannot be written to is no failure."""
    if folder is None:
        return
    worth = {name: state for name, state in states.items() if isinstance(state, dict) and state.get("until")}
    target = folder / _FILE
    if not worth and not target.exists():
        return
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        draft = target.with_suffix(f".{os.getpid()}.tmp")
        draft.write_text(json.dumps(worth), encoding="utf-8")
        draft.replace(target)
