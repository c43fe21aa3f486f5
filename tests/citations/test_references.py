"""The list of sources at the end of an answer."""

from __future__ import annotations

import re

import pytest

from suyuan.citations.references import escape, references
from suyuan.citations.registry import Round, Source

SOURCES = {
    1: Source(1, "First", "https://www.a.example/x(1)"),
    2: Source(2, "", "http://b.example/"),
    3: Source(3, "Third", "javascript:alert(1)"),
}
EVIL = (
    "A](https://evil.example) <img src=x onerror=1>\n\n# H\n- **x** `c` | ![p](q) \u202eabc\x00 &lt; https://e.example"
)


@pytest.mark.req("C11.4", "C15.4", "C5.3")
def test_chat_lists_the_cited_sources() -> None:
    assert references(SOURCES, (2, 1, 2, 99), lang="zh") == (
        "## 参考文献\n\n- \\[1\\] [First](https://www.a.example/x%281%29) — a.example\n"
        "- \\[2\\] [b.example](http://b.example/) — b.example\n"
    )
    assert references(SOURCES, (3,), lang="en") == "## References\n\n- \\[3\\] Third\n"


@pytest.mark.req("C11.5", "D3.1")
def test_nothing_cited_or_nothing_searched_gives_no_list() -> None:
    assert references(SOURCES, (), lang="zh") == references(SOURCES, (99,), lang="zh") == ""
    assert references({}, (), lang="zh", rounds=()) == references({}, (), lang="en", rounds=[Round(1, "q", ())]) == ""


@pytest.mark.req("C15.3")
def test_agent_lists_all_sources_by_search_and_marks_the_cited_ones() -> None:
    rounds = [Round(1, "甲", (1, 2)), Round(2, "乙", ()), Round(3, "丙", (2, 3))]
    text = references(SOURCES, (2,), lang="zh-CN", rounds=rounds)
    assert re.findall(r"### (.*)", text) == ["第 1 轮搜索：“甲”", "第 2 轮搜索：“乙”", "第 3 轮搜索：“丙”"]
    assert [line.endswith("✓ 已引用") for line in text.splitlines() if line.startswith("- ")] == [
        False,
        True,
        True,
        False,
    ]
    assert "没有结果" in text
    english = references(SOURCES, (1,), lang="en", rounds=rounds[:1])
    assert "### Search 1: “甲”" in english and english.count("✓ cited") == 1


@pytest.mark.parametrize(
    "title", [EVIL, "x" * 10_000, "[" * 300, "\\", "a\\](https://evil.example)", "```", "<script>", "\ud800"]
)
def test_titles_cannot_break_out_of_their_line(title: str) -> None:
    text = references({1: Source(1, title, "https://a.example/")}, (1,), lang="en", rounds=[Round(1, title, (1,))])
    lines = text.splitlines()
    assert len(lines) == 5 and len(text) < 2000
    assert not set(text) & set("<>\x00\u202e\ud800")
    # Without the escaped characters the only link is the one to the source.
    bare = re.sub(r"\\.", "", lines[4])
    assert re.findall(r"\[[^\[\]]*\]\(([^)]*)\)", bare) == ["https://a.example/"]
    assert "`" not in bare and "*" not in bare


def test_ordinary_text_is_hardly_changed() -> None:
    assert escape("C++ vs. C#: 中文 (2020) - v1.2") == "C++ vs. C\\#: 中文 (2020) - v1.2"
