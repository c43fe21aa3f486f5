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
MAX_TOKENS = 200_000
"""Brackets and separators in the declarations of a rule that has to be parsed."""
MAX_STEPS = 300_000_000
"""Of the search for elements, each some 20 ns."""
_BYTES_PER_STEP = 1000
"""Of the source of the page: its attributes are looked through as well."""

ANYTHING = ":not([-suyuan-none])"
"""A selector for everything, which counts as one class."""

_NAME = r"[^\x00-,./:-@\[-^`{-\x7f]+"
_END = re.compile(rf"(?:\*|{_NAME})?(?:[.#]{_NAME})*(?:::?[-\w]+)*")
_COMBINATOR = re.compile(r"[\s>+~|]+", re.A)
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
            parent = node.parent.mem_id if node.parent is not None else 0
            depths[node.mem_id] = depths.get(parent, 0) + 1
            children[parent] += 1
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


@dataclass(slots=True)
class _Function:
    """A function of a selector that is not closed yet."""

    before: float
    """How often an element is tried where the function begins."""
    most: float
    """The same at the end of the costliest of its selectors so far."""


def _tries(selector: str, shape: Shape) -> float:
    """How often an element is tried: within functions each combinator begins anew for all that it may lead to."""
    tries = 1.0
    functions: list[_Function] = []
    for step in _STEP.finditer(_AROUND.sub(r"\1", selector)):
        token = step[0]
        if token.endswith("("):
            if token != "(" and step[1] is None:
                tries *= shape.depth
            functions.append(_Function(tries, tries))
        elif not functions:
            continue
        elif token == ")":
            tries = max(tries, functions.pop().most)
        elif token == ",":
            functions[-1].most = max(functions[-1].most, tries)
            tries = functions[-1].before
        elif token == "~":
            tries *= shape.siblings
        else:
            tries *= shape.depth
    return tries


def is_too_complex(selector: str) -> bool:
    """Whether a selector is too long or too deeply nested to be taken apart."""
    if len(selector) > MAX_SELECTOR:
        return True
    brackets = selector.count("(") + selector.count("[")
    return brackets > MAX_BRACKETS and max(bracket_depths(selector)) > MAX_BRACKETS


def is_closed(selector: str) -> bool:
    """Whether all brackets of a selector are closed; one where they are not matches nothing."""
    return bracket_depths(selector)[-1] == 0


def bracket_depths(text: str) -> list[int]:
    """How many brackets are open, at first and after each bracket."""
    depths = [0]
    for token in _BRACKET.finditer(text):
        if token[0] in ("(", "["):
            depths.append(depths[-1] + 1)
        elif token[0] in (")", "]"):
            depths.append(depths[-1] - 1)
    return depths


def end_of(selector: str) -> str:
    """A selector for all elements that another one may match: the end of it, as far as that is plain."""
    start = max(map(selector.rfind, ")]\\\"'")) + 1
    plain = selector[start:]
    if "\\" in selector[max(0, start - 1) :]:
        # The first characters of it may belong to an escape.
        return ANYTHING
    end = _COMBINATOR.split(plain.rstrip())[-1]
    return end if end and _END.fullmatch(end) is not None else ANYTHING
