"""A CSS selector, as far as it is needed to find the elements of a page that it may match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from .css import WHITE
from .css_limits import ANYTHING, end_of, is_closed, is_too_complex

Specificity = tuple[int, int, int]

_SPECIAL = re.compile(r"[(\[\\:\"'&|]")
_NOT_PLAIN = re.compile(r"[()\[\]\\\"'&|]")
_BETWEEN = f"{WHITE}>+~"
_COMBINATOR = re.compile(r"[\s>+~]+", re.A)
# All but the other characters of ASCII.
_NAME = r"[^\x00-,./:-@\[-^`{-\x7f]+"
_COMPOUND = re.compile(rf"(\*|{_NAME})?((?:[.#]{_NAME})*)")
_TAG = re.compile(rf"(?<![^\s>+~]){_NAME}", re.A)
_PART = re.compile(rf"[.#]{_NAME}")
# Elements that the page does not contain, and states that nobody has brought about.
_NOT_MATCHED = frozenset(
    (
        "before", "after", "first-letter", "placeholder", "selection", "marker", "backdrop", "cue",
        "file-selector-button", "part", "slotted", "hover", "focus", "active", "visited", "target", "focus-within",
        "focus-visible", "indeterminate", "fullscreen", "popover-open", "modal", "autofill", "user-invalid",
        "invalid", "playing", "host",
    )
)  # fmt: skip
# The same in a selector without brackets and strings, as most are.
_NOT_THERE = re.compile(rf"::?(?:-|(?:{'|'.join(_NOT_MATCHED)})(?![-\w]))")
_ENCLOSED = re.compile(r"[(\[\\\"']")
_LISTS = frozenset(("is", "where", "not", "has", "matches", "-webkit-any"))
"""The functions of which the arguments are selectors."""
# What the parser does not know, in words that it knows.
_OTHER_WORDS = {
    "checked": ":is([checked],[selected])", "disabled": "[disabled]", "open": "[open]", "defined": ANYTHING,
    "scope": ":root", "first-line": "",
}  # fmt: skip
_LANGUAGE = re.compile(r"[-\w]+")
_SIBLING = re.compile(r"[+~]")
_COMBINATORS = (">", "+", "~")
_PUNCTUATION = (".", "*")
_DIRECTIONS = {"ltr": ANYTHING, "rtl": "[dir=rtl]"}


class TreePlace(NamedTuple):
    """An element with those around it, as far as plain selectors ask for them."""

    tag: str
    names: frozenset[str]
    """Its classes and id."""
    parent: TreePlace | None
    around: frozenset[str]
    """All tags and names around it."""


@dataclass(frozen=True, slots=True)
class Compound:
    """The part of a selector for one element: a tag, empty for any, and classes and ids."""

    tag: str
    names: frozenset[str]

    def matches(self, place: TreePlace) -> bool:
        """Whether an element has the tag and the names."""
        return self.names <= place.names and self.tag in ("", place.tag)


@dataclass(frozen=True, slots=True)
class Ancestors:
    """What a selector asks for around the element."""

    rows: tuple[tuple[Compound, ...], ...]
    """First its parents, then rows of elements that may be anywhere further up."""
    names: frozenset[str]
    """All tags and names in them."""


@dataclass(frozen=True, slots=True)
class Selector:
    """One selector: what the element itself must have, and whether more has to be checked."""

    text: str
    tag: str
    names: frozenset[str]
    is_complex: bool
    ancestors: Ancestors | None = None
    """All that it asks for besides; None if that is more, or nothing."""
    is_decided: bool = True
    """Whether more than the names is known of it, if that is needed."""

    @property
    def specificity(self) -> Specificity:
        """How many ids, classes and tags it has."""
        return _specificity_of(self.text)

    @property
    def key(self) -> str:
        """A name that every matched element has: one of its classes, its id, its tag, or ``*``."""
        return next(iter(self.names)) if self.names else self.tag or "*"


def needed_names(text: str) -> list[str]:
    """The classes and ids without which a page has nothing that the selector matches, as far as they are plain."""
    return [] if _ENCLOSED.search(text) else _PART.findall(text)


@lru_cache(maxsize=8192)
def key_of(text: str) -> str:
    """The key of the selector that ``text`` is; empty if it matches nothing that is in the page at first."""
    if _NOT_THERE.search(text) and not _ENCLOSED.search(text):
        return ""
    end = _COMBINATOR.split(text.strip(_BETWEEN))[-1]
    if _NOT_PLAIN.search(end):
        selector = read_selector(text)
        return "" if selector is None else selector.key
    name = _PART.search(end)
    return name[0] if name is not None else end.partition(":")[0].lower() or "*"


@lru_cache(maxsize=4096)
def read_selector(text: str) -> Selector | None:
    """Read one selector; None if it matches nothing that is in the page at first."""
    if not _SPECIAL.search(text):
        return _plain_selector(text)
    if is_too_complex(text):
        return _undecided_selector(text)
    if _NOT_THERE.search(text) and not _ENCLOSED.search(text):
        return None
    return _parsed_selector(text)


def _plain_selector(text: str) -> Selector | None:
    """A selector of tags, classes and ids only, as most are."""
    parts = [part for part in _COMBINATOR.split(text.strip(_BETWEEN)) if part]
    compounds = [_compound(part) for part in parts]
    known = [compound for compound in compounds if compound is not None]
    if not known or len(known) < len(compounds):
        return None
    *around, last = known
    ancestors = _ancestors(text, around) if around and not _SIBLING.search(text) else None
    return Selector(text, last.tag, last.names, bool(around), ancestors)


def _compound(text: str) -> Compound | None:
    parts = _COMPOUND.fullmatch(text)
    if parts is None:
        return None
    tag = (parts[1] or "").lower().strip("*")
    return Compound(tag, frozenset(_PART.findall(parts[2])))


def _ancestors(text: str, compounds: Sequence[Compound]) -> Ancestors:
    """What stands before the last compound of a selector, from the inside to the outside."""
    rows: list[list[Compound]] = [[]]
    combinators = _COMBINATOR.findall(text.strip(_BETWEEN))
    for compound, combinator in zip(reversed(compounds), reversed(combinators), strict=True):
        if ">" not in combinator:
            rows.append([])
        rows[-1].append(compound)
    names = frozenset[str]().union(*(compound.names | {compound.tag} for compound in compounds))
    return Ancestors(tuple(map(tuple, rows)), names - {""})


def is_within(place: TreePlace, ancestors: Ancestors) -> bool:
    """Whether an element stands within others as a selector asks; the nearest that fit leave the most for the rest."""
    if not ancestors.names <= place.around:
        return False
    parents, *others = ancestors.rows
    above = place.parent
    if not _fits(above, parents):
        return False
    above = _outside(above, parents)
    for row in others:
        while above is not None and not _fits(above, row):
            above = above.parent
        if above is None:
            return False
        above = _outside(above, row)
    return True


def _fits(place: TreePlace | None, row: Iterable[Compound]) -> bool:
    """Whether a row of elements, ``place`` the innermost, is as it should be."""
    for compound in row:
        if place is None or not compound.matches(place):
            return False
        place = place.parent
    return True


def _outside(place: TreePlace | None, row: Iterable[Compound]) -> TreePlace | None:
    """The element around a row that fits."""
    for _ in row:
        place = place.parent if place is not None else None
    return place


def _undecided_selector(text: str) -> Selector | None:
    """What is certain of a selector that is not taken apart: the names at its end."""
    if not is_closed(text):
        return None
    end = end_of(text)
    if end == ANYTHING:
        return Selector(text, "", frozenset(), is_complex=True, is_decided=False)
    known = read_selector(end)
    if known is None:
        return None
    return Selector(text, known.tag, known.names, is_complex=True, is_decided=False)


# --- selectors with functions, attributes and escapes ----------------------------------------------------------------
def _nodes(text: str) -> list[Any]:
    # Imported here because many pages do not need it.
    import tinycss2

    return list(tinycss2.parse_component_value_list(text, skip_comments=True))


def _parsed_selector(text: str) -> Selector | None:
    nodes = _nodes(text.strip(_BETWEEN))
    known = _in_known_words(nodes)
    if not known:
        return None
    compound: list[Any] = []
    for node in nodes:
        if node.type == "whitespace" or node in _COMBINATORS:
            compound = []
        else:
            compound.append(node)
    tag = ""
    names = []
    is_complex = len(compound) < len(nodes)
    before = None
    for node in compound:
        if node.type == "hash":
            names.append(f"#{node.value}")
        elif node.type == "ident" and before == ".":
            names.append(f".{node.value}")
        elif node.type == "ident" and before is None:
            tag = node.lower_value
        elif node not in _PUNCTUATION:
            is_complex = True
        before = node
    return Selector(known, tag, frozenset(names), is_complex)


def _in_known_words(nodes: Sequence[Any]) -> str | None:
    """A selector as the parser of the page knows it; None if it matches nothing that is in the page at first."""
    parts = []
    colons = ""
    for node in nodes:
        if node == ":":
            colons += ":"
            continue
        part = _known_pseudo_class(colons, node) if colons else node.serialize()
        if part is None:
            return None
        parts.append(part)
        colons = ""
    return "".join(parts) + colons


def _known_pseudo_class(colons: str, node: Any) -> str | None:
    """A pseudo-class or pseudo-element as the parser of the page knows it; None if it never matches."""
    if node.type == "function":
        return _known_function(colons, node)
    name = node.lower_value if node.type == "ident" else ""
    if name in _NOT_MATCHED or name.startswith("-"):
        return None
    return _OTHER_WORDS.get(name, f"{colons}{node.serialize()}")


def _known_function(colons: str, node: Any) -> str | None:
    name = node.lower_name
    if name not in _LISTS:
        return None if name in _NOT_MATCHED else _in_other_words(colons, node)
    lists = [_in_known_words(arguments) for arguments in _split(node.arguments)]
    known = [part for part in lists if part is not None]
    if known:
        return f":{name}({','.join(known)})"
    return ANYTHING if name == "not" else None


def _in_other_words(colons: str, node: Any) -> str:
    """A function of which the arguments are no selectors, as the parser of the page knows it."""
    arguments = [str(part.value) for part in node.arguments if part.type in ("ident", "string")]
    argument = arguments[0] if len(arguments) == 1 else ""
    if node.lower_name == "dir" and argument in _DIRECTIONS:
        return _DIRECTIONS[argument]
    if node.lower_name == "lang" and _LANGUAGE.fullmatch(argument):
        return f":is([lang|={argument}],[lang|={argument}] *)"
    return f"{colons}{node.serialize()}"


def _split(nodes: Iterable[Any]) -> list[list[Any]]:
    """Nodes between commas."""
    lists: list[list[Any]] = [[]]
    for node in nodes:
        if node == ",":
            lists.append([])
        else:
            lists[-1].append(node)
    return lists


@lru_cache(maxsize=4096)
def _specificity_of(text: str) -> Specificity:
    """How many ids, classes and tags a selector has; a function counts as the greatest of its selectors."""
    if not _SPECIAL.search(text):
        return text.count("#"), text.count("."), len(_TAG.findall(text))
    return (0, 0, 0) if is_too_complex(text) else _specificity(_nodes(text))


def _specificity(nodes: Sequence[Any]) -> Specificity:
    ids = classes = tags = 0
    before = None
    for node in nodes:
        if node.type == "hash":
            ids += 1
        elif node.type == "[] block" or node == ".":
            classes += 1
        elif node.type == "function" and node.lower_name in _LISTS:
            inner = max(map(_specificity, _split(node.arguments)))
            if node.lower_name != "where":
                ids, classes, tags = ids + inner[0], classes + inner[1], tags + inner[2]
        elif before == ":":
            classes += 1
        elif node.type == "ident" and before != ".":
            tags += 1
        before = node
    return ids, classes, tags
