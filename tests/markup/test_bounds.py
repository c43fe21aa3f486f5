"""Markdown that was made to take long: its cost grows with its length, whatever is repeated and however it is nested."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from suyuan.markup.blocks import MarkdownStream, render

SIGNS = [
    *"[]()!*_~`<>&\\$|-+.#:=\"'1a \n\t/{}^,;?@%", "\n\n", "\n> ", "\n- ", "\n  ", "\n    ", "```", "~~~", "$$", "\\(", "\\[",
    "\\)", "\\]", "](", "[1]", "**", "<a", "&#", "|-", "1. ", "http://a", "$$a\n", "\\[a\n", "\n|a|\n|-|\n", "[a](b)", "![a](",
]  # fmt: skip
# Ordinary dense Markdown costs about 10 µs a character on a free machine.
MOST_SECONDS_PER_CHARACTER = 250e-6
# Four times the length: a square would be 16, and what is measured on a busy machine is not exact.
MOST_GROWTH, INEXACT = 9, 0.06
SOURCES = {1: "https://one.example/"}


def repeated() -> list[str]:
    """Each sign, each two of them in turn, some three."""
    rng = random.Random(32)
    pairs = rng.sample(list(itertools.permutations(SIGNS, 2)), 90)
    triples = [rng.sample(SIGNS, 3) for _ in range(30)]
    return [*SIGNS, *map("".join, [*pairs, *triples])]


def seconds(work: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    work(text)
    return time.process_time() - started


def streamed(text: str) -> None:
    stream = MarkdownStream(lambda: SOURCES)
    stream.feed(text)
    stream.close()


@pytest.mark.parametrize("work", [lambda text: render(text, SOURCES), streamed], ids=["whole", "streamed"])
def test_no_repetition_takes_more_than_its_length_allows(work: Callable[[str], object]) -> None:
    render("$a$\n\n```py\na\n```\n", SOURCES)
    costs = []
    for unit in repeated():
        text = (unit * 800)[:800]
        costs.append((seconds(work, text), unit))
    costs.sort(reverse=True)
    for _, unit in costs[:8]:
        shorter, longer = (seconds(work, (unit * length)[:length]) for length in (3_000, 12_000))
        assert longer < MOST_GROWTH * shorter + INEXACT, (unit, shorter, longer)
        assert longer < MOST_SECONDS_PER_CHARACTER * 12_000, (unit, longer)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("*a **b ", " c** d*"), ("[a", "](b)"), ("> ", ""), ("- ", ""), ("\\(", "\\)"), ("\\[a\n", "\\]\n")],
)
def test_nesting_has_no_end_that_costs_more(opening: str, closing: str) -> None:
    for depth in (1000, 4000):
        text = opening * depth + closing * depth
        assert seconds(lambda text: render(text, SOURCES), text) < MOST_SECONDS_PER_CHARACTER * len(text), depth
