"""The short form of the long run in ``benchmarks/soak.py``."""

from __future__ import annotations

import logging

import pytest
from benchmarks.soak import soak


@pytest.mark.req("T7.2", "G1.3")
async def test_a_dead_a_slow_a_flapping_and_a_lying_engine(caplog: pytest.LogCaptureFixture) -> None:
    # Thousands of searches fail on purpose.
    caplog.set_level(logging.CRITICAL)
    report = await soak(1600, 300, 4)
    assert report.wrong == []
    assert sum(report.outcomes.values()) == 1600 and report.outcomes["auto: ok"] == 200
    assert report.outcomes["bing_html: soft_block"] and report.leaks == 0 and report.growth < 0.25
