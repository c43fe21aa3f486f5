"""``RateLimiter``: how long a request has to wait, so that no minute has more of them than it may."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

MINUTE = 60.0


class RateLimiter:
    """At most ``per_minute`` requests in any minute, of which ``burst`` may come at once; None means no limit."""

    def __init__(self, per_minute: float | None, burst: int = 1, clock: Callable[[], float] = time.monotonic) -> None:
        self.per_minute = per_minute
        self.interval = MINUTE / per_minute if per_minute else 0.0
        """The seconds between two requests."""
        self.slack = self.interval * (burst - 1)
        """How many seconds before its time a request may come."""
        self.most = max(1, int(per_minute or 0))
        """The requests that a minute may have."""
        self._clock = clock
        self._next = clock()
        self._slots: deque[float] = deque()
        """When the requests of the last minute were sent, and when those that wait will be."""
        # Event loops in several threads share one limit.
        self._lock = threading.Lock()

    def wait(self) -> float:
        """The seconds that a request made now would have to wait."""
        if not self.interval:
            return 0.0
        now = self._clock()
        seconds = max(0.0, self._next - self.slack - now)
        if len(self._slots) < self.most:
            return seconds
        return max(seconds, self._slots[-self.most] + MINUTE - now)

    def take(self) -> float:
        """Reserve the next slot and return the seconds to wait for it."""
        with self._lock:
            seconds = self.wait()
            if self.interval:
                now = self._clock()
                while self._slots and self._slots[0] <= now - MINUTE:
                    self._slots.popleft()
                self._slots.append(now + seconds)
                self._next = max(self._next, now) + self.interval
            return seconds

    def give_back(self) -> None:
        """Return a reserved slot that was not used."""
        with self._lock:
            self._next -= self.interval
            if self._slots:
                self._slots.pop()
