"""``Experience``: how well an engine has answered here, by which ``auto`` orders the engines."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .engine_state import EngineState
    from .runner import EngineRunner

_MAX_ANSWERS = 20.0
"""So many answers count; an older one fades with each new one."""
_HALF_LIFE = 86_400.0
"""Seconds after which half is forgotten of an engine that is not asked, so that it gets another chance."""
_PRIOR = 10.0
"""How many answers the documented order is worth."""
_FIRST, _STEP, _PLACES = 0.85, 0.1, 6
"""What is expected of the first engine of the documented order, and how much less of each that follows.

An engine that refuses once stays before the next one; engines do so for no reason. After twice it does not.
"""
_SLOW_SECONDS, _SLOW_COST = 3.0, 0.15


@dataclass(slots=True)
class Experience:
    """The mean of what an engine's answers were worth, from 0 (refused) to 1 (all about the query)."""

    worth: float = 0.0
    seen: float = 0.0
    at: float = 0.0
    """When it was asked last."""
    clock: Callable[[], float] = time.time

    def learn(self, worth: float) -> None:
        """Take note of one answer."""
        seen = self.strength()
        self.worth += (worth - self.worth) / (seen + 1)
        self.seen, self.at = min(seen + 1, _MAX_ANSWERS), self.clock()

    def strength(self) -> float:
        """How many answers it stands for now."""
        if not self.seen:
            return 0.0
        age = max(0.0, self.clock() - self.at)
        return float(self.seen * 0.5 ** (age / _HALF_LIFE))

    def state(self) -> dict[str, Any]:
        """What to keep on disk."""
        if not self.seen:
            return {}
        return {"worth": round(self.worth, 3), "seen": round(self.seen, 2), "at": round(self.at)}

    @classmethod
    def from_state(cls, state: Any, clock: Callable[[], float] = time.time) -> Experience:
        """Read what :meth:`state` wrote; anything unreadable counts as no experience."""
        try:
            worth, seen, at = (float(state[name]) for name in ("worth", "seen", "at"))
        except (KeyError, TypeError, ValueError, OverflowError):
            return cls(clock=clock)
        # Comparisons with "not a number" are false, so it is no experience either.
        is_in_range = 0 <= worth <= 1 and 0 < seen <= _MAX_ANSWERS
        # A clock that was set back must not make an experience last for ever.
        is_of_the_past = 0 <= at <= clock() + _HALF_LIFE
        if is_in_range and is_of_the_past:
            return cls(worth, seen, at, clock)
        return cls(clock=clock)


def expected(place: int, state: EngineState) -> float:
    """What an answer of the engine at ``place`` of the documented order is likely to be worth."""
    documented = _FIRST - _STEP * min(place, _PLACES)
    seen = state.experience.strength()
    total = _PRIOR * documented + seen * state.experience.worth
    worth = total / (_PRIOR + seen)
    slowness = min(state.latency / _SLOW_SECONDS, 1.0)
    return worth - _SLOW_COST * slowness


def learned_order(runners: Sequence[EngineRunner], auto: Collection[str]) -> list[EngineRunner]:
    """``runners`` with those that ``auto`` chooses ordered by experience; all others keep their places."""
    own = [(place, runner) for place, runner in enumerate(runners) if runner.name in auto]
    best = iter(sorted(own, key=lambda pair: -expected(pair[0], pair[1].state)))
    return [next(best)[1] if runner.name in auto else runner for runner in runners]
