"""What compares texts, and what finds words in them, takes time in proportion to their length, whatever they contain."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random

import pytest

import suyuan
from suyuan.chat import own_words
from suyuan.search import relevance
from suyuan.text import search_words
from suyuan.text.search_passages import marked, passage
from suyuan.text.search_words import indexed, normal, terms
from suyuan.text.unicode_forms import Form, in_form

_SIGNS = (
    "❤", "\ufe0f", "\u200d", "👩", "a", ".", "中", "ß", "ΐ", "é", "\u0301", "\u0316", "\u0315", "ﬁ", "㌖", "\ufdfa", "\ufdfb",
    "+", "_", " ", "\u1112", "\u11ab", "ก", "か", "\u3099", "\ud83d",
)  # fmt: skip
_PAIRS = ["".join(pair) for pair in product(_SIGNS, repeat=2) if pair[0] != pair[1]]
UNITS = (*_SIGNS, "❤\ufe0f", "👩\u200d", "\u0316\u0315", *Random(2).sample(_PAIRS, 60))
_MOST_SECONDS = 0.2
_BOUNDED = {"store/accounts.py": "names and passwords are cut to 1,000 characters", "text/unicode_forms.py": "pieces"}
_PACKAGE = Path(suyuan.__file__).parent
_FORMS: tuple[Form, ...] = ("NFC", "NFKC", "NFKD")


def slow(work: Callable[[str], object], size: int) -> list[str]:
    """The texts with which ``work`` takes too long, by what they repeat."""
    return [ascii(unit) for unit in UNITS if not _is_quick(work, (unit * size)[:size])]


def _is_quick(work: Callable[[str], object], text: str) -> bool:
    for _ in range(3):
        begun = time.thread_time()
        work(text)
        if time.thread_time() - begun <= _MOST_SECONDS:
            return True
    return False


def _name(file: Path) -> str:
    return file.relative_to(_PACKAGE).as_posix()


def test_what_is_sought_is_found_in_little_time_whatever_it_is() -> None:
    def work(text: str) -> None:
        query = terms(text[:200])
        shown = passage(text, query)
        assert all(term.is_in(text) is not None for term in query)
        marked(shown, query)

    assert not slow(work, 5_000)


def test_a_query_is_no_longer_in_the_form_in_which_it_is_compared() -> None:
    for unit in UNITS:
        assert sum(len(run) for term in terms(unit * 500) for run in term.runs) <= 200, ascii(unit)


@pytest.mark.parametrize("compared", [normal, indexed, own_words.normal, relevance._folded, search_words.normal])
def test_a_text_is_compared_in_little_time(compared: Callable[[str], str]) -> None:
    assert not slow(compared, 10_000)


def test_a_text_is_in_the_same_form_as_in_one_piece() -> None:
    random, signs = Random(1), [sign for sign in _SIGNS if sign not in "\ufdfa\ufdfb"]
    for form in _FORMS:
        for _ in range(300):
            text = "".join(random.choices(signs, k=random.randint(1, 500)))
            assert in_form(form, text) == unicodedata.normalize(form, text), ascii(text)


def test_nothing_else_brings_a_long_text_into_a_form_in_one_piece() -> None:
    for file in _PACKAGE.rglob("*.py"):
        assert "unicodedata.normalize(" not in file.read_text("utf-8") or _name(file) in _BOUNDED


@pytest.mark.parametrize("kept", ["❤️ and 👩‍👩‍👧", "C++/C# a.b.c", "㌖ﬁ é e\u0301 中文"])
def test_what_is_in_a_text_is_marked_at_its_place(kept: str) -> None:
    for word in kept.split():
        shown = marked(f"{kept} {kept}", terms(word))
        assert any(is_sought and normal(piece) in normal(word) for piece, is_sought in shown), (word, shown)
