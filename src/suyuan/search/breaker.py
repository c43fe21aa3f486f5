"""Letting an engine rest that refuses us or does not answer.

A single refusal only moves the engine to the end of the queue for a moment (a *soft* rest): engines refuse single
requests for no reason. When it refuses again and again, or says itself how long to wait, it is not asked at all
until that time has passed (a *hard* rest), and then by one request, the probe.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_SOFT = (1.0, 4.0, 15.0, 30.0)
_HARD = 60.0
_LONGEST = 3600.0


@dataclass(slots=True)
class Breaker:
    """The health of one engine as seen through one exit."""

    refusals: int = 0
    """How often it refused since its last answer."""
    absences: int = 0
    """How often it did not answer in time since its last answer."""
    until: float = 0.0
    hard: bool = False
    why: str = ""
    clock: Callable[[], float] = time.time
    _probing: bool = False

    def rest_left(self) -> float:
        """The seconds that it still rests."""
        return max(0.0, self.until - self.clock())

    @property
    def resting(self) -> bool:
        """Whether it is at the end of the queue, or not asked at all."""
        return self.rest_left() > 0

    @property
    def open(self) -> bool:
        """Whether it must not be asked: a hard rest, or the probe after one is still under way."""
        return self.hard and (self.resting or self._probing)

    def begin(self) -> None:
        """Note that a request starts; after a hard rest it is the probe, and others wait for its outcome."""
        if self.hard:
            self._probing = True

    def answered(self) -> None:
        """Note an answer: all is forgiven."""
        self.refusals = self.absences = 0
        self.until, self.hard, self.why, self._probing = 0.0, False, "", False

    def refused(self, why: str, retry_after: float | None = None) -> None:
        """Note a refusal; ``retry_after`` is what the engine itself asked for."""
        self.refusals += 1
        self._probing = False
        if retry_after is not None:
            self._rest(min(retry_after, _LONGEST), hard=True, why=why)
        elif self.refusals <= len(_SOFT):
            self._rest(_SOFT[self.refusals - 1], hard=False, why=why)
        else:
            self._rest(min(_HARD * 2 ** (self.refusals - len(_SOFT) - 1), _LONGEST), hard=True, why=why)

    def absent(self, why: str) -> None:
        """Note that it did not answer in time, or could not be reached."""
        self.absences += 1
        self._probing = False
        # Once may be chance. From the second time on, the others go first, so that nobody waits for it.
        if self.absences >= 2:
            self._rest(min(10.0 * 2 ** (self.absences - 2), 300.0), hard=False, why=why)

    def dropped(self) -> None:
        """Note that the request ended without an outcome (cancelled)."""
        self._probing = False

    def _rest(self, seconds: float, *, hard: bool, why: str) -> None:
        until = self.clock() + seconds
        # A longer rest that is already under way is not cut short by a late answer.
        if until >= self.until:
            self.until, self.hard, self.why = until, hard, why

    def state(self) -> dict[str, Any]:
        """What to keep on disk, so that the next run does not knock at a door that was just shut."""
        return {"refusals": self.refusals, "absences": self.absences, "until": self.until, "hard": self.hard, "why": self.why}

    @classmethod
    def from_state(cls, state: dict[str, Any], clock: Callable[[], float] = time.time) -> Breaker:
        """Read what :meth:`state` wrote; anything unreadable counts as healthy."""
        try:
            breaker = cls(
                int(state["refusals"]), int(state["absences"]), float(state["until"]), bool(state["hard"]), str(state["why"])[:80], clock
            )
        except (KeyError, TypeError, ValueError):
            return cls(clock=clock)
        # A clock that was set back must not make a rest endless.
        return breaker if breaker.until <= clock() + _LONGEST else cls(clock=clock)
