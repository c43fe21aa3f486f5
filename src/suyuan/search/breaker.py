"""``Breaker``: a circuit breaker for one engine.

A single refusal only moves the engine to the end of the queue for a moment (a *soft* cooldown): engines refuse single
requests for no reason. When it refuses again and again, or says itself how long to wait, it is not asked at all until
that time has passed (the breaker is *open*), and then by a single trial request.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_SOFT_SECONDS = (1.0, 4.0, 15.0, 30.0)
_HARD_SECONDS = 60.0
_MAX_SECONDS = 3600.0
_MAX_TIMEOUT_SECONDS = 300.0
_MAX_EXPONENT = 10
_MAX_COUNT = 1000
"""More refusals or absences in a row change nothing."""
_KEPT = ("refusals", "timeouts", "until", "hard", "reason")
"""What other processes learn."""


@dataclass(slots=True)
class Breaker:
    """The health of one engine as seen through one exit."""

    refusals: int = 0
    """How often it refused since its last answer."""
    timeouts: int = 0
    """How often it did not answer in time since its last answer."""
    until: float = 0.0
    hard: bool = False
    reason: str = ""
    clock: Callable[[], float] = time.time
    _on_trial: bool = False
    changed: Callable[[], None] | None = None
    """Called when what is known has changed."""

    def cooldown_left(self) -> float:
        """The seconds until the cooldown is over."""
        return max(0.0, self.until - self.clock())

    @property
    def cooling_down(self) -> bool:
        """Whether it is asked last, or not at all."""
        return self.cooldown_left() > 0

    @property
    def open(self) -> bool:
        """Whether it must not be asked: a hard cooldown, or the trial request after one is still running."""
        return self.hard and (self.cooling_down or self._on_trial)

    def begin(self) -> None:
        """Note that a request starts; after a hard cooldown it is the trial, and others wait for its outcome."""
        if self.hard:
            self._on_trial = True

    def succeeded(self) -> None:
        """Note an answer: the breaker is closed again."""
        known = bool(self.refusals or self.timeouts or self.until)
        self.refusals = self.timeouts = 0
        self.until, self.hard, self.reason, self._on_trial = 0.0, False, "", False
        if known:
            self._tell()

    def refused(self, reason: str, retry_after: float | None = None) -> None:
        """Note a refusal; ``retry_after`` is what the engine itself asked for."""
        self.refusals = min(self.refusals + 1, _MAX_COUNT)
        self._on_trial = False
        if retry_after is not None:
            self._cool_down(min(retry_after, _MAX_SECONDS), hard=True, reason=reason)
        elif self.refusals <= len(_SOFT_SECONDS):
            self._cool_down(_SOFT_SECONDS[self.refusals - 1], hard=False, reason=reason)
        else:
            seconds = _doubled(_HARD_SECONDS, self.refusals - len(_SOFT_SECONDS) - 1)
            self._cool_down(min(seconds, _MAX_SECONDS), hard=True, reason=reason)
        self._tell()

    def timed_out(self, reason: str) -> None:
        """Note that it did not answer in time, or could not be reached."""
        self.timeouts = min(self.timeouts + 1, _MAX_COUNT)
        self._on_trial = False
        # Once may be chance. From the second time on, the others go first, so that nobody waits for it.
        if self.timeouts >= 2:
            self._cool_down(min(_doubled(10.0, self.timeouts - 2), _MAX_TIMEOUT_SECONDS), hard=False, reason=reason)
        self._tell()

    def cancelled(self) -> None:
        """Note that the request ended without an outcome."""
        self._on_trial = False

    def _cool_down(self, seconds: float, *, hard: bool, reason: str) -> None:
        until = self.clock() + seconds
        # A longer cooldown that has already begun is not cut short by a late answer.
        if until >= self.until:
            self.until, self.hard, self.reason = until, hard, reason

    def adopt(self, state: Any) -> None:
        """Adopt the state of another worker."""
        other = Breaker.from_state(state, self.clock)
        for name in _KEPT:
            setattr(self, name, getattr(other, name))

    def _tell(self) -> None:
        if self.changed is not None:
            self.changed()

    def state(self) -> dict[str, Any]:
        """What to keep on disk, so that the next process does not ask an engine that has just refused."""
        return {name: getattr(self, name) for name in _KEPT}

    @classmethod
    def from_state(cls, state: Any, clock: Callable[[], float] = time.time) -> Breaker:
        """Read what :meth:`state` wrote, also in 0.1 with fewer names; anything unreadable counts as healthy."""
        try:
            breaker = cls(
                _count(state["refusals"]), _count(state.get("timeouts", 0)), float(state["until"]),
                state["hard"] is True, str(state.get("reason", ""))[:80], clock,
            )  # fmt: skip
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
            return cls(clock=clock)
        # A clock that was set back must not make a cooldown endless; "not a number" is not a time either.
        return breaker if 0 <= breaker.until <= clock() + _MAX_SECONDS else cls(clock=clock)


def _count(value: Any) -> int:
    return min(max(0, int(value)), _MAX_COUNT)


def _doubled(seconds: float, times: int) -> float:
    """``seconds`` doubled so many times, within what a float can hold."""
    return float(seconds * 2 ** min(times, _MAX_EXPONENT))
