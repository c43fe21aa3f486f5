"""The lines of a PDF are not its sentences."""

from __future__ import annotations

from suyuan.pages.wrapped_lines import unwrapped

PAGE = """Annual Report
The harbour employed 86 people at the end of the year. The harbour master is Ines
Vole, who took office in 2018. The repair of the pier was post-
poned to the spring, because the granite was delivered late.
Income
- ships, which pay by length and stay for a night or longer in the
- fishing boats
"""


def test_a_sentence_goes_on_in_the_next_line() -> None:
    text = unwrapped(PAGE)
    assert "The harbour master is Ines Vole, who took office in 2018." in text
    assert "was postponed to the spring" in text


def test_headings_and_items_stay_lines() -> None:
    lines = unwrapped(PAGE).splitlines()
    assert {"Annual Report", "Income", "- fishing boats"} <= set(lines)


def test_chinese_lines_are_joined_without_a_space() -> None:
    assert unwrapped("港口在二〇二五年共有八十六名员工，港务长是伊\n内斯，她于二〇一八年上任。") == (
        "港口在二〇二五年共有八十六名员工，港务长是伊内斯，她于二〇一八年上任。"
    )
    assert unwrapped("") == ""
