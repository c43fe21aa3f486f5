"""What was read never chooses where requests go, nor what they carry: whoever asks, wherever it stands, however written."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.leaks import Case, cases, outcome, reasons

# What stood two exchanges before is tried with those who keep a conversation.
CASES = [each for each in cases() if each.distance < 2 or each.entry in ("page", "responses by id")]
# The cases share the calls; `python -m benchmarks attack` makes all calls in each of them.
SHARES = 16


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_nothing_that_was_read_leaves_the_machine(case: Case, tmp_path: Path) -> None:
    went = await outcome(case, tmp_path, slice(CASES.index(case) % SHARES, None, SHARES))
    assert not (bad := went.through(case)), f"{len(bad)} of {went.tried}: {reasons(bad)}"
