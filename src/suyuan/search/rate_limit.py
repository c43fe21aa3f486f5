"""``RateLimiter``: a token bucket that tells how long to wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class RateLimiter:
    """At most ``per_minute`` requests a minute, of which ``burst`` may come at once; None means no limit."""

    def __init__(self, per_minute: float | None, burst: int = 1, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute = per_minute
        self.interval = 60.0 / per_minute if per_minute else 0.0
        """The seconds between two requests."""
        self.slack = self.interval * (burst - 1)
        """How many seconds before its time a request may come."""
        self._clock = clock
        self._next = clock()
        # Event loops in several threads share one limit.
        self._lock = threading.Lock()

    def wait(self) -> float:
        """The seconds that a request made now would have to wait."""
        return max(0.0, self._next - self.slack - self._clock()) if self.interval else 0.0

    def take(self) -> float:
        """Reserve the next slot and return the seconds to wait for it."""
        with self._lock:
            seconds = self.wait()
            if self.interval:
                self._next = max(self._next, self._clock()) + self.interval
            return seconds

    def give_back(self) -> None:
        """Return a reserved slot that was not used."""
        with self._lock:
            self._next -= self.interval
