"""Formulas in texts: what is one, and what only looks like one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from suyuan.citations.references import references
from suyuan.citations.registry import Source
from suyuan.markup import blocks
from suyuan.markup.blocks import render


def shown(text: str) -> str:
    return "".join(render(text, {}))


@pytest.mark.req("C11.4")
@pytest.mark.parametrize(
    "title", ["[PDF] Annual report [Solved]", "A (b) [c]", "[1] of 2", "Costs $5 and $6", r"\[x\]"]
)
def test_the_title_of_a_source_holds_no_formula(title: str) -> None:
    html = shown(references({1: Source(1, title, "https://a.example/")}, (1,), lang="en"))
    assert "<math" not in html and "https://a.example/" in html
    if "\\" not in title:
        assert title in html


@pytest.mark.parametrize(
    "link", [r"[$\text{bank.example}$](http://evil.example/9)", r"[\(bank.example\)](http://evil.example/)"]
)
def test_the_text_of_a_link_shows_no_address_by_a_formula(link: str) -> None:
    html = shown(link)
    assert "<math" not in html and "evil.example" in html


@pytest.mark.parametrize(
    "text", [r"so \(a^2\) holds", r"so $a^2$ holds", "\\[\na^2\n\\]", r"a [link](https://a.example/) and \[a^2\]"]
)
def test_formulas_elsewhere_are_formulas(text: str) -> None:
    assert "<math" in shown(text)


def test_threads_that_begin_at_the_same_time_get_the_same() -> None:
    text = "# A *title*\n\n- one\n- `two` and $a^2$\n\n> quoted [link](https://a.example/)\n" * 5
    whole = shown(text)
    for _ in range(20):
        blocks._parser.cache_clear()
        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(shown, [text] * 8)) == {whole}
