"""When an engine rests, how long, and what brings it back."""

from __future__ import annotations

import math

import pytest

from suyuan.search.breaker import Breaker


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_one_refusal_only_moves_it_to_the_end_of_the_queue(clock: Clock) -> None:
    breaker = Breaker(clock=clock)
    breaker.refused("http_429")
    assert breaker.cooling_down and not breaker.open
    clock.now += 1.1
    assert not breaker.cooling_down


def test_rests_grow_and_become_hard_when_it_refuses_again_and_again(clock: Clock) -> None:
    breaker = Breaker(clock=clock)
    rests = []
    for _ in range(14):
        breaker.refused("captcha_required")
        rests.append(breaker.cooldown_left())
        clock.now = breaker.until
    assert rests[:4] == [1.0, 4.0, 15.0, 30.0] and rests[4:7] == [60.0, 120.0, 240.0]
    assert rests[-1] == 3600.0
    assert breaker.hard


@pytest.mark.req("G3.2")
def test_a_hard_rest_ends_with_one_probe(clock: Clock) -> None:
    breaker = Breaker(clock=clock)
    breaker.refused("http_429", retry_after=10.0)
    assert breaker.open
    clock.now += 10.1
    assert not breaker.open
    breaker.begin()
    assert breaker.open, "while the probe is under way, others stay away"
    breaker.succeeded()
    assert not breaker.open and breaker.refusals == 0


def test_a_probe_that_is_refused_makes_it_rest_again(clock: Clock) -> None:
    breaker = Breaker(clock=clock)
    breaker.refused("http_429", retry_after=10.0)
    clock.now += 11
    breaker.begin()
    breaker.refused("http_429", retry_after=20.0)
    assert breaker.open and breaker.cooldown_left() == 20.0


def test_a_cancelled_probe_frees_the_way(clock: Clock) -> None:
    breaker = Breaker(clock=clock)
    breaker.refused("x", retry_after=5.0)
    clock.now += 6
    breaker.begin()
    breaker.cancelled()
    assert not breaker.open


def test_absence_moves_it_back_from_the_second_time_on_and_never_shuts_it_out(clock: Clock) -> None:
    breaker = Breaker(clock=clock)
    breaker.timed_out("engine_timeout")
    assert not breaker.cooling_down
    for _ in range(9):
        breaker.timed_out("engine_timeout")
    assert breaker.cooling_down and not breaker.open and breaker.cooldown_left() <= 300


def test_a_long_rest_is_not_cut_short_by_a_late_refusal(clock: Clock) -> None:
    breaker = Breaker(clock=clock)
    breaker.refused("http_429", retry_after=100.0)
    breaker.refused("http_429")
    assert breaker.cooldown_left() == 100.0


def test_the_state_survives_a_restart_and_nonsense_does_not(clock: Clock) -> None:
    breaker = Breaker(clock=clock)
    breaker.refused("http_429", retry_after=100.0)
    again = Breaker.from_state(breaker.state(), clock)
    assert again.open and again.reason == "http_429"
    wrong = (
        {"until": "soon"},
        {**breaker.state(), "until": math.nan},
        {**breaker.state(), "until": clock.now + 99_999},
    )
    nonsense: object
    for nonsense in (None, [], {}, *wrong):
        assert not Breaker.from_state(nonsense, clock).cooling_down


def test_thousands_of_failures_change_nothing_more(clock: Clock) -> None:
    breaker = Breaker(clock=clock)
    for _ in range(5000):
        breaker.refused("captcha_required")
        breaker.timed_out("dns")
    assert breaker.refusals == breaker.timeouts == 1000 and breaker.cooldown_left() == 3600.0
    again = Breaker.from_state({**breaker.state(), "refusals": 10**30, "timeouts": 10**30}, clock)
    again.timed_out("dns")
    again.refused("captcha_required")
    assert again.cooldown_left() == 3600.0
