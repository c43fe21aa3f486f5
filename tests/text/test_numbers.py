"""Numbers and dates of a text, whatever their spelling."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suyuan.text.numbers import figures


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,269", "1269"), ("3.5 million", "3,500,000"), ("1.2亿", "120 million"), ("12%", "12 percent"),
        ("３万", "30000"),
        ("2018年10月24日", "October 24, 2018"), ("2018-10-24", "24th of October 2018"), ("5", "五座桥"),
        ("5", "five bridges"), ("120", "一百二十年"),
        ("10月24日", "2018/10/24"), ("2018年10月", "Oct. 24, 2018"), ("2018", "2018年10月24日"),
        ("126.9 billion", "1269亿元"), ("1.50", "1.5"),
        ("12%", "百分之十二"), ("2008", "二〇〇八年"), ("12690", "一万二千六百九十"),
        ("120000000", "一亿二千万"), ("1000000000000", "一万亿"),
        ("2019-08-21", "21.08.2019"), ("1990-11-30", "30 Nov. 1990"), ("2018-11-18", "18/11/2018"),
    ],
)  # fmt: skip
def test_figures_in_any_spelling(one: str, other: str) -> None:
    stated = figures(one).stated
    assert stated and stated <= figures(other).implied


@pytest.mark.parametrize(
    ("one", "other"), [("36", "55"), ("12%", "12"), ("2018年10月24日", "2018年10月"), ("1.2亿", "1.2万"), ("3.5", "35")]
)
def test_different_figures_do_not_match(one: str, other: str) -> None:
    assert not figures(one).stated <= figures(other).implied


@given(st.text(max_size=200) | st.text("0123456789.,:/-%年月日万亿一十May ", max_size=60))
@settings(derandomize=True, max_examples=300)
def test_what_is_stated_is_implied(text: str) -> None:
    found = figures(text)
    assert found.stated <= found.implied
