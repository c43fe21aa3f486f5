"""Where sentences end."""

from __future__ import annotations

import pytest

from suyuan.text.sentences import sentence_ends, split_sentences


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("Dr. Who met Mr. X at 3.14 p.m. They spoke.", 2),
        ("第一句。第二句!第三句?“第四句。”", 4),
        ("U.S. growth was 3.5 percent. It fell.", 2),
        ("no end", 1),
    ],
)
def test_sentences(text: str, count: int) -> None:
    text = text.replace("!", "！").replace("?", "？") if "。" in text else text
    ends = sentence_ends(text)
    assert ends[-1] == len(text) and len(ends) == count


def test_a_sentence_does_not_end_inside_brackets_or_a_quotation() -> None:
    assert split_sentences("他说：“先等。再走。”然后走了。完。") == ["他说：“先等。再走。”", "然后走了。", "完。"]
    assert split_sentences("It (see A. B. It is old) stands. Yes.") == ["It (see A. B. It is old) stands.", "Yes."]
    assert split_sentences(" \n ") == []


def test_a_very_long_sentence_ends_at_its_semicolons() -> None:
    assert split_sentences("甲乙丙丁；戊己庚辛；壬癸。", longest=8) == ["甲乙丙丁；", "戊己庚辛；", "壬癸。"]
    assert split_sentences("（一二三。四五六七。", longest=6) == ["（一二三。", "四五六七。"], (
        "a bracket that never closes"
    )
