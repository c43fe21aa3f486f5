"""Colours of code: every language that is coloured stands up to code that was made to stop its lexer."""

from __future__ import annotations

import itertools
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from suyuan.markup.blocks import render
from suyuan.markup.lexers import LONGEST, language_of, languages, lexer

# Every character that code has, and what begins strings, comments, tags, blocks and sections in these languages.
CHARACTERS = [*map(chr, range(32, 127)), "\n", "\t", "é", "中", "\x0b", "\x0c", "\x85"]
OPENERS = [
    "'''", '"""', "<!--", "<!", "<?", "<?php ", "<script>", "<style>", "<a ", '<a b="', "/*", "*/", "//", "${", "#{",
    "%{", "{{", "<<A\n", "<<-A\n", "<<<A\n", 'R"(', 'r#"', "b'", "f'{", '\\"', "\\'", "\\\\", "a(", "a[", "a{", "a:", "a =",
    "a\n", " a\n", "a b ", "a.b ", "0x", "1e", "1_", "@a", "# a\n", "- ", "- a\n", "a: b\n", "[a]\n", "a=b\n", "$(", "`a",
    "=begin\n", "/a/", "?a", "a::", "a<", "a<b,", "->", "=>", "fn a(", "def a(", "class A ", "func a(", "let a ", "SELECT (",
    "--", "(*", "{-", "|>", "&a", "&a;", "@@ ", "\\u0041", "'a", '"a', 'a"', "a'", "if ", "else ", "end\n", "<%", "[[", "]]",
    "((", "))", "{%", "\n ", "\n\t", "\n  a", " \n", "\n\n", "a \n", "\\\n", "\\ \n", "case a in\n", "<b>", "</b>", "<![CDATA[",
    "import ", "using ", "template<", "#define a ", "#if a\n", "public ", "int a", "(a,", "FROM a\n", "RUN a \\\n", '"a":',
    '{"a":', "[1,", "|", ">", "%",
]  # fmt: skip
BEGINNINGS = {"php": "<?php\n"}
SHORT = 200
MOST_SECONDS_SHORT = 0.25
MOST_SECONDS = 1.0


def hostile() -> Iterator[str]:
    """What is repeated: each character, each pair, each opener, and openers two by two."""
    rng = random.Random(32)
    yield from CHARACTERS
    yield from map("".join, rng.sample(list(itertools.permutations(CHARACTERS, 2)), 150))
    yield from OPENERS
    yield from map("".join, rng.sample(list(itertools.permutations(OPENERS, 2)), 150))


class TooSlow(Exception):
    """The code took more CPU time than it may."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    def end(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before or signal.SIG_IGN)


def seconds_of(language: str, code: str, most: float) -> float:
    started = time.process_time()
    with at_most(most):
        for _ in lexer(language).get_tokens(code):
            pass
    return time.process_time() - started


@pytest.mark.parametrize("language", languages())
def test_no_code_keeps_a_lexer_busy(language: str) -> None:
    """Short code of every kind is quick, and what takes longest is still quick at the longest that is coloured."""
    costs, begun = [], BEGINNINGS.get(language, "")
    for unit in hostile():
        # What follows makes a pattern try all that it has passed in another way.
        code = begun + (unit * SHORT)[:SHORT] + "\n!"
        costs.append((seconds_of(language, code, MOST_SECONDS_SHORT), unit))
    costs.sort(reverse=True)
    slowest = list(dict.fromkeys(unit for _, unit in costs))[:6]
    for unit in slowest:
        assert seconds_of(language, begun + (unit * LONGEST)[: LONGEST - len(begun)], MOST_SECONDS) < MOST_SECONDS, unit


@pytest.mark.parametrize("name", ["cddl", "guess", "java2", "", "PYTHON\\", "text"])
def test_code_of_other_languages_is_plain(name: str) -> None:
    html = "".join(render(f"```{name}\n" + "\\" * 60 + "\n```\n", {}))
    assert "\\" * 60 in html and "<span class=" not in html


def test_long_code_is_plain() -> None:
    assert language_of("py", "x = 1\n" * 10) == "python" and not language_of("py", "x = 1\n" * LONGEST)
    assert not language_of("py", "a\rb")
