"""How far the style sheets of a page are worked out: what is beyond stays undecided, and hides text.

A page can spend any budget on purpose. What is not decided is therefore taken as the page would have it to hide
something: such a rule applies to every element that it may match, above all others, as far as it hides text or makes it
faint, and not at all as far as it shows text. Where not even that can be told, the page is not read.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

MAX_CSS = 8_000_000
"""Characters of all sheets of a page; as many as the source of a page may have."""
MAX_RULES = 200_000
MAX_EXPANDED = 100_000
"""Characters of the selectors of one nested rule, with those of the rules around it put in."""
MAX_EXPANDED_TOGETHER = 20_000_000
MAX_LAYERS = 30
"""Layers within each other."""
MAX_IMPORTS_WITHIN = 5
MAX_SELECTOR = 10_000
"""Characters of a selector with brackets."""
MAX_BRACKETS = 20
"""Brackets within each other in a selector."""
MAX_CHAIN = 100
"""Variables that stand for each other."""
MAX_REFERENCES = 500
"""Variables in one value."""
MAX_STEPS = 300_000_000
"""Of the search for elements, each some 20 ns."""
_BYTES_PER_STEP = 1000
"""Of the source of the page: its attributes are looked through as well."""

ANYTHING = ":not([-suyuan-none])"
"""A selector for everything, which counts as one class."""

_NAME = r"[^\x00-,./:-@\[-^`{-\x7f]+"
_END = re.compile(rf"(?:\*|{_NAME})?(?:[.#]{_NAME})*(?:::?[-\w]+)*")
_BETWEEN = re.compile(r"[\s>+~|]+", re.A)
_AROUND = re.compile(r"\s*([>+~,()])\s*")
_STEP = re.compile(r":has\((?=([>+~])?)|[(),~]|\s", re.A)
_BRACKET = re.compile(r"\"(?:[^\"\\]|\\.)*+\"?|'(?:[^'\\]|\\.)*+'?|\\.|[()\[\]]", re.S)
_SIMPLE = re.compile(r"[,\[:.#]")


class StylesTooComplex(ValueError):
    """The limits do not allow to tell which text of a page is hidden; in a book that chapter counts as broken."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What the search for elements depends on."""

    elements: int
    depth: int
    siblings: int
    """The most that one element has in it."""
    pairs: int
    """The pairs of elements within the same one."""

    @classmethod
    def of(cls, tree: LexborHTMLParser) -> Shape:
        """The shape of a page."""
        depths: dict[int, int] = {}
        children: Counter[int] = Counter()
        for node in tree.css("*"):
            above = node.parent.mem_id if node.parent is not None else 0
            depths[node.mem_id] = depths.get(above, 0) + 1
            children[above] += 1
        pairs = sum(count * count // 2 for count in children.values())
        elements = len(depths) + len(tree.raw_html or b"") // _BYTES_PER_STEP
        return cls(elements, max(depths.values(), default=1), max(children.values(), default=1), pairs)


def steps_of(selector: str, shape: Shape) -> float:
    """The most steps that a search for the elements of a selector takes."""
    simple = 1 + len(_SIMPLE.findall(selector))
    steps = float(shape.elements * simple)
    if "(" not in selector:
        return steps
    if ":nth-" in selector or "-of-type" in selector:
        steps += shape.pairs * simple
    return steps * _tries(selector, shape)


def _tries(selector: str, shape: Shape) -> float:
    """How often an element is tried: within functions each combinator begins anew for all that it may lead to."""
    tries = 1.0
    # For each function that is open: what it began with, and the most that one of its selectors takes.
    around: list[tuple[float, float]] = []
    for found in _STEP.finditer(_AROUND.sub(r"\1", selector)):
        token = found[0]
        if token == ")":
            tries = max(tries, around.pop()[1]) if around else tries
        elif token == "," and around:
            begun, most = around[-1]
            around[-1] = begun, max(most, tries)
            tries = begun
        elif token == "~" and around:
            tries *= shape.siblings
        elif token.isspace() and around:
            tries *= shape.depth
        elif token.endswith("("):
            if token != "(" and found[1] is None:
                tries *= shape.depth
            around.append((tries, tries))
    return tries


def is_too_complex(selector: str) -> bool:
    """Whether a selector is too long or too deeply nested to be taken apart."""
    if len(selector) > MAX_SELECTOR:
        return True
    return selector.count("(") + selector.count("[") > MAX_BRACKETS and _depths(selector)[0] > MAX_BRACKETS


def is_closed(selector: str) -> bool:
    """Whether all brackets of a selector are closed; one where they are not matches nothing."""
    _, left = _depths(selector)
    return left == 0


def _depths(selector: str) -> tuple[int, int]:
    """How many brackets are within each other at most, and how many are open at the end."""
    depth = most = 0
    for token in _BRACKET.finditer(selector):
        depth += (token[0] in "([") - (token[0] in ")]")
        most = max(most, depth)
    return most, depth


def end_of(selector: str) -> str:
    """A selector for all elements that another one may match: the end of it, as far as that is plain."""
    plain = selector[max(map(selector.rfind, ")]\\\"'")) + 1 :]
    if "\\" in selector[-len(plain) - 1 :]:
        # The first characters of it may belong to an escape.
        return ANYTHING
    end = _BETWEEN.split(plain.rstrip())[-1]
    return end if end and _END.fullmatch(end) is not None else ANYTHING
