"""The segmenter takes every text."""

from __future__ import annotations

from suyuan.embedded.follow_up import Said, resolve
from suyuan.text.segmenter import frequency, tagged


def test_half_a_character_is_no_reason_to_fail() -> None:
    assert ("北京", "ns") in tagged("\ud800北京")
    assert frequency("王\ud800") < frequency("王")
    assert resolve("张\ud800呢？", [Said("云汀地铁的起步价是多少？")]).focus == "张\ud800"
