"""No hidden text gets through by any mechanism that we know, and no visible text is lost."""

from __future__ import annotations

import time

import pytest
from benchmarks.hidden_pages import PANELS, PROSE, SECRET, hidden_pages, invisible_characters, page

from suyuan.pages.extract import extract


def test_what_chromium_hides_is_not_read_and_what_it_shows_is() -> None:
    """Every way to hide a sentence, each inline, by class, by a longer selector and by two rules; and near misses."""
    wrong = [
        ("hidden, but read" if tried.is_hidden else "visible, but lost", tried.name)
        for tried in hidden_pages()
        if (SECRET in extract(tried.html, "https://example.org/").text) is tried.is_hidden
    ]
    assert wrong == []


@pytest.mark.parametrize("body", PANELS)
def test_what_a_control_of_the_page_opens_is_read(body: str) -> None:
    assert SECRET in extract(page(body.replace("{}", SECRET)), "https://example.org/").text


def test_invisible_characters_carry_nothing() -> None:
    for name, code in invisible_characters():
        text = extract(page(f"<p>{PROSE} Four{code}.</p>"), "https://example.org/").text
        assert "Four." in text, name


def test_signs_that_belong_to_the_spelling_stay() -> None:
    spelled = "می\u200cخواهم ❤\ufe0f 1\ufe0f\u20e3 👩\u200d🚀 葛\ufe00"
    assert spelled in extract(page(f"<p>{PROSE} {spelled} Four.</p>"), "https://example.org/").text


@pytest.mark.parametrize(
    "sheet",
    [
        f".x{{color:red;background:{'gradient(a ' * 60_000}}}",
        f".x{{margin:{'a() ' * 4_000}!}}",
        f".x{{mask:{'gradient(#000,' * 20_000}}}",
        f"@media {'(' * 20_000}{{.x{{}}}}",
        f"{':is(' * 20_000}.x{{display:none}}",
        ":root{" + "".join(f"--v{n}:var(--v{n + 1}) var(--v{n + 1});" for n in range(40)) + "} .x{display:var(--v0)}",
        "".join(f"div div div div .y{n} .x{{display:none}}" for n in range(15_000)),
    ],
    ids=["gradients", "margins", "masks", "conditions", "selectors", "variables", "rules"],
)
def test_a_hostile_sheet_takes_little_time(sheet: str) -> None:
    html = page(f"{'<div>' * 100}<p class=x>{PROSE} Four.</p>{'</div>' * 100}", f"<style>{sheet}</style>")
    started = time.process_time()
    assert "Thrice" in extract(html, "https://example.org/").text
    assert time.process_time() - started < 10
