"""The segmenter takes every text."""

from __future__ import annotations

from suyuan.text.segmenter import tagged


def test_half_a_character_is_no_reason_to_fail() -> None:
    assert ("北京", "ns") in tagged("\ud800北京")
