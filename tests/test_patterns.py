"""Patterns need time that grows with the length of a text, and not faster, whatever the text is."""

from __future__ import annotations

import ast
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import pytest

from support.patterns import GIVEN, PACKAGE, Found, hostile, made_within, read

LONG = bool(os.environ.get("SUYUAN_TEST_LONG"))
TINY, SMALL, PARTS, TIMES = 40, 3_000, 4, 8
QUICK = 0.0003
"""Seconds for a text of ``SMALL`` characters, below which nothing grows with the square of its length: each of the
millions of steps would have to take a tenth of a nanosecond."""
MOST_GROWTH = 2.8
"""How many times more a text may need than as many short ones that are as long together; 8 times is a square."""
_TOO_LONG = 10.0
"""Seconds by the clock: a timer of processor time would make that time itself coarse."""
SHORT, MOST_SECONDS = 200, 0.05
BOUNDED = {
    "pages/colour.py": "values of style sheets, in the process of a reader",
    "pages/css": "style sheets, in the process of a reader",
    "pages/hiding_style.py": "values of style sheets, in the process of a reader",
    "pages/lengths.py": "values of style sheets, in the process of a reader",
    "pages/page_styles.py": "style sheets, in the process of a reader",
    "pages/paint.py": "values of style sheets, in the process of a reader",
    "server/markdown_": "parts of an answer",
}
"""Patterns that work where they can be ended, or on texts that are short."""


class TooLong(Exception):
    """A pattern has been working on one text for so long that it will not end."""


@contextmanager
def limited() -> Iterator[None]:
    """End what needs longer for a text than any text may need, also on a busy machine."""

    def end(signal_number: int, frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, _TOO_LONG)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def seconds(found: Found, texts: Sequence[str]) -> float:
    """The processor time of a pattern for some texts."""
    begun = time.process_time()
    for text in texts:
        work(found, text)
    return time.process_time() - begun


def is_quick(found: Found, text: str, most: float) -> bool:
    """Whether a pattern needs no more time for a text, at least once of several times."""
    return any(seconds(found, [text]) <= most for _ in range(3))


def work(found: Found, text: str) -> None:
    """Use a pattern for a text, as the code does."""
    for method in found.methods:
        getattr(found.pattern, method)(text)
    if found.methods:
        return
    for _ in found.pattern.finditer(text):
        pass


def slow(found: Found, *, long: bool) -> str:
    """The text that a pattern is slow with, by its beginning, or nothing."""
    texts = zip(
        hostile(found.pattern, TINY, long=long),
        hostile(found.pattern, SMALL // PARTS, long=long),
        hostile(found.pattern, SMALL, long=long),
        hostile(found.pattern, SMALL * TIMES, long=long),
        strict=True,
    )
    for tiny, part, small, large in texts:
        try:
            with limited():
                work(found, tiny)
                if is_quick(found, small, QUICK):
                    continue
                # Most patterns that are not so quick need as much for the parts of a text as for the text.
                if is_quick(found, small, 1.5 * seconds(found, [part] * PARTS)):
                    continue
            grows = _grows(found, small, large)
        except TooLong:
            return f"{ascii(tiny)}: without end"
        if grows:
            return f"{ascii(tiny)}: faster than its length"
    return ""


def _grows(found: Found, small: str, large: str) -> bool:
    """Whether a long text needs more time than as many short ones that are as long together."""
    of_small, of_large = [], []
    for _ in range(4):
        with limited():
            of_small.append(seconds(found, [small] * TIMES))
        with limited():
            of_large.append(seconds(found, [large]))
        if min(of_large) <= min(of_small) * MOST_GROWTH:
            return False
    return True


def too_slow(found: Found) -> bool:
    """Whether a pattern is slow with a text that is no longer than what the code gives it."""
    try:
        with limited():
            return not all(is_quick(found, text, MOST_SECONDS) for text in hostile(found.pattern, SHORT))
    except TooLong:
        return True


@pytest.fixture(scope="module")
def found() -> list[Found]:
    """All patterns, from a process that has imported nothing of the package before."""
    command = [sys.executable, "-c", "from support.patterns import write; write()"]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return read(subprocess.run(command, env=environ, capture_output=True, check=True).stdout)


def test_all_patterns_are_found(found: list[Found]) -> None:
    assert len(found) > 550
    ways = {
        "a name of a module": "text/sentences.py _MARK",
        "within a container": "embedded/cue_words.py _COMPILED",
        "within a function": "server/demo.py ",
        "in a function that is called once": "text/words.py ",
    }
    names = {f"{each.where.partition(':')[0]} {each.name}" for each in found}
    assert not {way: name for way, name in ways.items() if name not in names}


def test_a_pattern_of_what_somebody_typed_is_made_of_many_texts() -> None:
    call = ast.parse(r"re.compile(r'[\W_]*'.join(map(re.escape, typed)))", mode="eval").body
    assert isinstance(call, ast.Call)
    made = [made_within(PACKAGE / "x.py", call, sys.modules[__name__], given) for given in GIVEN]
    assert any(slow(each, long=False) for each in made if each)


def test_the_time_of_no_pattern_grows_faster_than_a_text(found: list[Found]) -> None:
    unbounded = [each for each in found if not each.where.startswith(tuple(BOUNDED))]
    assert len(unbounded) > 400
    slow_ones = [(each.where, each.name, text) for each in unbounded if (text := slow(each, long=LONG))]
    assert not slow_ones, "\n".join(" ".join(each) for each in slow_ones)


def test_patterns_for_short_texts_are_quick_with_them(found: list[Found]) -> None:
    bounded = [each for each in found if each.where.startswith(tuple(BOUNDED))]
    assert bounded and not [(each.where, each.name) for each in bounded if too_slow(each)]


@pytest.mark.parametrize(
    "pattern",
    [r"\.+x", r"《[^》]+》", r"[a-z]+://"],
)
def test_a_pattern_that_is_slow_is_seen(pattern: str) -> None:
    assert slow(Found("", "", re.compile(pattern), frozenset()), long=False)


@pytest.mark.parametrize("pattern", [r"\d", r"(?<!\s)\s++x", r"[^W_]++", r"\[[^\[\]]*\]", r"a{1,20}b"])
def test_a_pattern_that_is_not_slow_is_not_complained_of(pattern: str) -> None:
    assert not slow(Found("", "", re.compile(pattern), frozenset()), long=False)
