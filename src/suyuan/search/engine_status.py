"""``EngineStatus``: whether an engine can be asked now, and what it lacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..core.errors import SuyuanError
from .runner import EngineRunner

State = Literal["ready", "no_browser", "no_key", "circuit_open", "broken"]


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """What every view of the engines shows of one."""

    name: str
    title: str
    state: State
    address: str = ""
    key_variable: str = ""
    """The variable of the key that it needs; empty for none."""
    cooldown: float = 0.0
    """The seconds until it is asked again."""
    hidden: bool = False
    """Whether people are not offered it."""
    problem: SuyuanError | None = None
    """Why it cannot be loaded, or why there is no browser."""

    @property
    def ready(self) -> bool:
        """Whether it would be asked now."""
        return self.state == "ready"


def status_of(runner: EngineRunner, browser_problem: SuyuanError | None) -> EngineStatus:
    """The status of an engine; ``browser_problem`` matters only to one that needs a browser."""
    engine, cooldown = runner.engine, runner.breaker.cooldown_left()
    address = "" if engine.local else engine.base_url
    problem = browser_problem if engine.needs_browser else None
    state: State = "circuit_open" if cooldown else "ready"
    if problem:
        state = "no_browser"
    elif not engine.configured:
        state = "no_key"
    return EngineStatus(
        runner.name,
        engine.title,
        state,
        address,
        engine.api_key_env,
        cooldown,
        engine.hidden,
        problem,
    )
