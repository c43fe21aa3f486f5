"""How results and snippets are written for a model."""

from __future__ import annotations

import pytest

from suyuan.citations.registry import Source
from suyuan.tools.text import entry, shortened, snippet_line


@pytest.mark.req("D2.4", "C4.3")
@pytest.mark.parametrize("length", [0, 1, 199, 200, 201, 202, 300, 5000])
@pytest.mark.parametrize("piece", ["字", "word ", "w", "字，", "a 字"])
def test_a_snippet_has_at_most_200_characters_and_says_that_it_was_cut(piece: str, length: int) -> None:
    text = (piece * length)[:length].strip()
    shown = snippet_line(text)
    assert len(shown) <= 200
    if len(text) <= 200:
        assert shown == text, "nothing is cut without need"
    else:
        assert shown.endswith("…") and text.startswith(shown[:-1]) and len(shown) > 100


@pytest.mark.req("D2.4")
def test_a_snippet_is_cut_between_words() -> None:
    assert shortened("one two three", 10) == "one two…"
    assert snippet_line("line one\n\n  line\ttwo") == "line one line two"


@pytest.mark.req("C4.1", "D1.3", "C15.1")
def test_a_result_has_number_title_domain_address_and_snippet() -> None:
    source = Source(7, "Tea  leaves", "https://www.tea.example/leaf", "About\ntea.", published_at="2026-01-02T03:04")
    assert entry(source, 200) == "[7] Tea leaves (tea.example, 2026-01-02)\nhttps://www.tea.example/leaf\nAbout tea."
    assert entry(Source(8, "", "https://pot.example/"), 200) == "[8] pot.example (pot.example)\nhttps://pot.example/"
