"""``ClockRecord``: what is kept is removed for its age only by a clock that has gone for a week without a jump."""

from __future__ import annotations

from dataclasses import dataclass

DAY = 86_400.0
JUMP = 14 * DAY
"""A clock that moved by more than this between two looks has jumped; for less, a machine may just have been off."""
PROVEN = 7 * DAY
"""For so long a clock must have gone without a jump."""
_OFTEN = 3_600.0


@dataclass(frozen=True, slots=True)
class ClockRecord:
    """What is known of a clock. It is kept beside what may be removed by it, and goes wherever that goes."""

    since: float
    """The time that it showed first after its last jump, in seconds since 1970."""
    seen: float
    """The time that it showed when it was looked at last."""

    @property
    def believed(self) -> bool:
        """Whether something may be removed for its age: what is gone does not come back when the clock is set right."""
        return self.seen - self.since >= PROVEN


def look_at_clock(before: ClockRecord | None, now: float) -> ClockRecord:
    """What is known of a clock that shows ``now``; None before is one that nobody has looked at.

    To be called whenever something is written or removed: several times a week where there is anything to do. Returns
    ``before`` itself where it is too fresh to be written again.
    """
    if before is None or abs(now - before.seen) > JUMP:
        return ClockRecord(now, now)
    if 0 <= now - before.seen < _OFTEN:
        return before
    return ClockRecord(before.since, now)
