"""A clock that jumped is not believed before it has gone for a week; one that goes on is."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from suyuan.core.clock import DAY, JUMP, PROVEN, ClockRecord, look_at_clock

START = 1_800_000_000.0
YEAR = 365 * DAY
JUMPS = [2 * YEAR, -2 * YEAR, JUMP + 1, -JUMP - 1, -START]


def looks(times: Iterable[float], record: ClockRecord | None = None) -> ClockRecord:
    for now in times:
        record = look_at_clock(record, now)
    assert record is not None
    return record


def running(start: float, days: float, every: float = 3_600.0) -> list[float]:
    return [start + every * step for step in range(int(days * DAY / every) + 1)]


def test_a_clock_that_nobody_has_looked_at_is_believed_after_a_week() -> None:
    assert not looks([START]).believed
    assert not looks(running(START, 6.9)).believed
    assert looks(running(START, 7)).believed


@pytest.mark.parametrize("jump", JUMPS)
@pytest.mark.parametrize("days_after", [0, 1, 6.9])
def test_a_clock_that_jumped_is_not_believed_for_a_week(jump: float, days_after: float) -> None:
    settled = looks(running(START, 40))
    assert settled.believed
    jumped = settled.seen + jump
    assert not looks(running(jumped, days_after), settled).believed
    assert looks(running(jumped, 7), settled).believed


@pytest.mark.parametrize("jump", JUMPS)
def test_nor_is_it_when_it_is_set_right_again(jump: float) -> None:
    settled = looks(running(START, 40))
    wrong = looks(running(settled.seen + jump, 2), settled)
    right = looks(running(settled.seen + 2 * DAY, 6.9), wrong)
    assert not right.believed
    assert looks(running(right.seen, 1), right).believed


@pytest.mark.parametrize("pause", [60.0, DAY, 13.9 * DAY])
def test_a_machine_that_was_off_for_some_days_has_not_jumped(pause: float) -> None:
    settled = looks(running(START, 40))
    assert looks([settled.seen + pause], settled).believed


def test_a_clock_that_is_looked_at_often_is_written_seldom() -> None:
    times = [START + 10 * step for step in range(int(DAY / 10))]
    record: ClockRecord | None = None
    written = 0
    for now in times:
        before, record = record, look_at_clock(record, now)
        written += record is not before
    assert written == 24


def test_a_small_step_back_ends_no_proof() -> None:
    settled = looks(running(START, 2 * PROVEN / DAY))
    assert looks([settled.seen - 60.0, settled.seen + DAY], settled).believed
