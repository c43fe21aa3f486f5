"""The citation processor, as somebody uses it who writes a chat of their own."""

from __future__ import annotations

import logging
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suyuan import CitationProcessor, SearchPage, SearchQuery, SearchResult

ROWS = [
    {"title": "Tea", "url": "https://tea.example/leaf", "snippet": "About tea."},
    {"title": "Pots [and] cups", "url": "https://www.pot.example/a(b)", "snippet": ""},
    {"title": "Tea again", "url": "https://tea.example/leaf"},
]
TEXTS = st.lists(
    st.sampled_from(["tea [1]", "[2]", "[abc]", "[a1]", "[9]", " and ", "。", "[1][2]", "`[1]`", "[0]", "\n"]),
    max_size=9,
)


@pytest.mark.req("C12.1")
def test_the_map_has_numbers_titles_addresses_and_domains() -> None:
    processor = CitationProcessor(ROWS)
    found = {number: (one.title, one.url, one.domain) for number, one in processor.sources.items()}
    assert found == {
        1: ("Tea", "https://tea.example/leaf", "tea.example"),
        2: ("Pots [and] cups", "https://www.pot.example/a(b)", "pot.example"),
    }
    page = SearchPage(SearchQuery("x"), (SearchResult("Cups", "https://cup.example/"),), (), 1)
    assert [source.number for source in processor.add(page)] == [3] and len(processor.sources) == 3


@pytest.mark.req("C12.1", "C11.4")
@pytest.mark.parametrize("title", [None, "", "absent"])
def test_a_result_without_a_title_is_named_by_its_domain(title: str | None) -> None:
    row = {"url": "https://tea.example/leaf", "snippet": "About tea."} | ({} if title == "absent" else {"title": title})
    processor = CitationProcessor([row])
    assert processor.sources[1].title == ""
    assert "[tea.example](https://tea.example/leaf)" in processor.with_references("Leaves [1].")


@pytest.mark.req("C12.2", "C12.3", "C11.2", "C11.6")
def test_known_numbers_become_links_and_everything_else_stays(caplog: pytest.LogCaptureFixture) -> None:
    processor = CitationProcessor(ROWS)
    answer = processor.process("Leaves [1], pots [2], [abc], [a1] and nothing [9].")
    assert answer.markdown == (
        "Leaves [[1]](https://tea.example/leaf), pots [[2]](https://www.pot.example/a%28b%29), [abc], [a1] and nothing [9]."
    )
    assert (answer.cited, answer.unknown) == ((1, 2), (9,))
    assert any("[9]" in record.getMessage() for record in caplog.records if record.levelno == logging.WARNING)


@pytest.mark.req("C11.4", "C11.5")
@pytest.mark.parametrize(("lang", "title"), [("zh", "参考文献"), ("en", "References")])
def test_the_list_has_what_is_cited_and_is_not_there_without(lang: str, title: str) -> None:
    processor = CitationProcessor(ROWS)
    text = processor.with_references("Pots [2].", lang=lang)
    assert title in text and "pot.example" in text and "tea.example" not in text
    assert processor.with_references("Pots.", lang=lang) == "Pots."


@pytest.mark.req("C12.2", "C11.2")
@given(TEXTS, st.lists(st.integers(1, 6), min_size=1))
def test_the_pieces_in_which_a_text_comes_make_no_difference(parts: list[str], sizes: list[int]) -> None:
    processor, text = CitationProcessor(ROWS), "".join(parts)
    stream, shown, rest = processor.stream(), "", text
    while rest:
        size = sizes[len(shown) % len(sizes)]
        piece, rest = rest[:size], rest[size:]
        more = stream.feed(piece)
        assert not re.search(r"\[\d*$", shown + more) or not rest, "a marker is shown whole or not at all"
        shown += more
    shown += stream.close()
    assert shown == stream.answer.text and stream.answer == processor.process(text)
