"""Reprints of one text are one origin."""

from __future__ import annotations

from suyuan.text.shingles import count_origins, is_reprint

NEWS = (
    "Instagram was bought by Facebook in April 2012 for about one billion dollars in cash and stock, the company said."
)


def test_a_reprint_is_recognised_in_spite_of_small_changes() -> None:
    assert is_reprint(NEWS, f"NEW YORK - {NEWS} It was the largest deal of the year.")
    assert is_reprint(
        "港珠澳大桥全长55公里，于2018年10月24日正式通车。",
        "据新华社报道，港珠澳大桥全长55公里，于2018年10月24日正式通车",
    )
    assert not is_reprint(
        NEWS, "Facebook paid a billion dollars for the photo service Instagram; regulators agreed in August 2012."
    )
    assert not is_reprint("Facebook", "Facebook")


def test_origins_are_counted() -> None:
    assert count_origins([NEWS, f"{NEWS} More soon.", "Something else was written here by another paper."]) == 2
    assert count_origins([]) == 0
