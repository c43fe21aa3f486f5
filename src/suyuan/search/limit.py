"""How often an engine may be asked: a token bucket that tells how long to wait."""

from __future__ import annotations

import time
from collections.abc import Callable


class RateLimit:
    """At most ``per_minute`` requests a minute, of which ``burst`` may come at once; None means no limit."""

    def __init__(self, per_minute: float | None, burst: int = 1, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute = per_minute
        self._gap = 60.0 / per_minute if per_minute else 0.0
        self._depth = self._gap * (burst - 1)
        self._clock = clock
        self._next = clock()

    def wait(self) -> float:
        """The seconds that a request made now would have to wait."""
        return max(0.0, self._next - self._depth - self._clock()) if self._gap else 0.0

    def take(self) -> float:
        """Book the next place and return the seconds to wait for it."""
        seconds = self.wait()
        if self._gap:
            self._next = max(self._next, self._clock()) + self._gap
        return seconds

    def give_back(self) -> None:
        """Return a booked place that was not used."""
        self._next -= self._gap
