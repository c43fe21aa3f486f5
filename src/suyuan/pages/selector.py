"""A CSS selector, as far as it is needed to find the elements of a page that it may match."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from .css import WHITE, split_selectors, words_of
from .css_limits import ANYTHING, end_of, is_closed, is_too_complex
from .css_values import unescaped

# An escaped character that is not part of an ordinary name is kept as one that nobody uses, until names are compared.
_PRIVATE = 0xE000
_ESCAPE = re.compile(r"\\(?:[0-9a-fA-F]{1,6}\s?|.)", re.S)
_SPECIAL = re.compile(r"[(\[\\:\"'&|]")
_INNER = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
_COMBINATOR = re.compile(r"\s*[\s>+~]\s*", re.A)
_BETWEEN = f"{WHITE}>+~"
_LAST = re.compile(r"[\s>+~]+", re.A)
# All but the other characters of ASCII.
_NAME = r"[^\x00-,./:-@\[-^`{-\x7f]+"
_COMPOUND = re.compile(rf"(\*|{_NAME})?((?:[.#]{_NAME})*)(.*)", re.S)
_PART = re.compile(rf"[.#]{_NAME}")
_FIRST = re.compile(rf"(\*|{_NAME})?([.#]{_NAME})?")
_PSEUDO = re.compile(r"::?([-\w]+)")
# Elements that the page does not contain, and states that nobody has brought about.
_NOT_MATCHED_NAMES = (
    "before after first-letter placeholder selection marker backdrop cue file-selector-button part slotted "
    "hover focus active visited target focus-within focus-visible indeterminate fullscreen popover-open modal autofill "
    "user-invalid invalid playing host"
)
_NOT_MATCHED = frozenset(_NOT_MATCHED_NAMES.split())
_STATE = re.compile(rf"(?<!:):(?:{'|'.join(_NOT_MATCHED)})\b")
# The same in a selector without brackets and strings, as most are.
_NOT_THERE = re.compile(rf"::?(?:-|(?:{'|'.join(_NOT_MATCHED)})(?![-\w]))")
_ENCLOSED = re.compile(r"[(\[\\\"']")
_FUNCTION = re.compile(r":(is|where|not|has|matches|-webkit-any)\(((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+)\)")
# What the parser does not know, in words that it knows.
_ALWAYS = ANYTHING
_OTHER_WORDS = {
    ":checked": ":is([checked],[selected])", ":disabled": "[disabled]", ":open": "[open]", ":defined": _ALWAYS,
    ":dir(ltr)": _ALWAYS, ":dir(rtl)": "[dir=rtl]", ":scope": ":root", "::first-line": "", ":first-line": "",
}  # fmt: skip
_OTHER = re.compile(rf"{'|'.join(map(re.escape, _OTHER_WORDS))}(?![-\w])|:lang\(\s*[\"']?([\w-]+)[\"']?\s*\)")


Compound = tuple[str, frozenset[str]]
"""A tag, empty for any, and classes and ids."""


Place = tuple[str, frozenset[str], "Place | None", frozenset[str]]
"""The tag and names of an element, the same of the element around it, and all tags and names around it."""


class Above(NamedTuple):
    """What a selector asks for above the element."""

    parts: tuple[tuple[Compound, ...], ...]
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
    above: Above | None = None
    """All that it asks for besides; None if that is more."""
    is_decided: bool = True
    """Whether more than the names is known of it, if that is needed."""

    @property
    def specificity(self) -> tuple[int, int, int]:
        """How many ids, classes and tags it has."""
        return _specificity(self.text)

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
    if _SPECIAL.search(text):
        selector = read_selector(text)
        return "" if selector is None else selector.key
    last = text.strip(_BETWEEN).rpartition(" ")[2]
    found = _FIRST.match(last)
    assert found is not None
    if found.end() < len(last):
        found = _FIRST.match(_LAST.split(last)[-1])
    assert found is not None
    tag, name = found.groups()
    return name or (tag or "*").lower()


@lru_cache(maxsize=4096)
def read_selector(text: str) -> Selector | None:
    """Read one selector; None if it matches nothing that is in the page at first."""
    # Most are of tags, classes and ids only.
    is_plain, inner = not _SPECIAL.search(text), text.strip(_BETWEEN)
    if not is_plain and is_too_complex(text):
        return _undecided(text)
    if not is_plain:
        if _NOT_THERE.search(text) and not _ENCLOSED.search(text):
            return None
        if ":" in text:
            text = _OTHER.sub(_in_other_words, _FUNCTION.sub(_without_states, text))
        inner = _ESCAPE.sub(_protected, text) if "\\" in text else text
        while inner != (without := _INNER.sub("\x00", inner)):
            inner = without
        if any(match[1] in _NOT_MATCHED or match[1].startswith("-") for match in _PSEUDO.finditer(inner)):
            return None
    compounds = [part for part in _COMBINATOR.split(inner.strip(WHITE)) if part]
    if not compounds or (found := _COMPOUND.fullmatch(compounds[-1])) is None or (is_plain and found[3]):
        return None
    tag, names, rest = found.groups()
    parts = frozenset(map(_exposed, _PART.findall(names)))
    is_complex = len(compounds) > 1 or bool(rest)
    tag = "" if tag in (None, "*") else tag.lower()
    return Selector(text, tag, parts, is_complex, _above(text) if is_plain and is_complex else None)


def _undecided(text: str) -> Selector | None:
    """What is certain of a selector that is not taken apart: the names at its end."""
    if not is_closed(text):
        return None
    end = end_of(text)
    if end == ANYTHING:
        return Selector(text, "", frozenset(), is_complex=True, is_decided=False)
    known = read_selector(end)
    return known and Selector(text, known.tag, known.names, is_complex=True, is_decided=False)


def _in_other_words(match: re.Match[str]) -> str:
    return f":is([lang|={match[1]}],[lang|={match[1]}] *)" if match[1] else _OTHER_WORDS[match[0].lower()]


def _without_states(match: re.Match[str]) -> str:
    """A function of selectors without those that match only in states that nobody has brought about."""
    if _STATE.search(match[2]) is None:
        return match[0]
    name = match[1]
    left = [part for part in split_selectors(match[2]) if _STATE.search(_FUNCTION.sub(_without_states, part)) is None]
    if left:
        return f":{name}({','.join(left)})"
    return _ALWAYS if name == "not" else ":not(*)"


@lru_cache(maxsize=4096)
def _specificity(text: str, depth: int = 0) -> tuple[int, int, int]:
    """How many ids, classes and tags; a function counts as the greatest of its selectors."""
    if is_too_complex(text):
        return (0, 0, 0)
    text = _ESCAPE.sub(_protected, text) if "\\" in text else text
    total = [0, 0, 0]
    for name, inside in _FUNCTION.findall(text) if depth < 5 else ():
        if name != "where":
            most = max((_specificity(part, depth + 1) for part in split_selectors(inside)), default=(0, 0, 0))
            total = [one + other for one, other in zip(total, most, strict=True)]
    rest = _FUNCTION.sub("", text)
    while rest != (without := _INNER.sub("\x00", rest)):
        rest = without
    # The arguments of other functions belong to their names.
    rest = re.sub(r"(:[-\w]+)\x00", r"\1", rest)
    compounds = [part for part in _COMBINATOR.split(rest.strip(WHITE)) if part]
    return (
        total[0] + rest.count("#"),
        total[1] + rest.count(".") + rest.count("\x00") + len(_PSEUDO.findall(rest)),
        total[2] + sum(part[0] not in "*.#:\x00" for part in compounds),
    )


def _above(text: str) -> Above | None:
    parts: list[list[Compound]] = [[]]
    if "+" in text or "~" in text:
        return None
    is_child = False
    words = words_of(text.replace(">", " > "))
    for word in reversed(words[:-1]):
        if word == ">":
            is_child = True
            continue
        found = _COMPOUND.fullmatch(word)
        if found is None or found[3]:
            return None
        if not is_child:
            parts.append([])
        is_child = False
        parts[-1].append(("" if found[1] in (None, "*") else found[1].lower(), frozenset(_PART.findall(found[2]))))
    asked = [compound for part in parts for compound in part]
    return Above(tuple(map(tuple, parts)), frozenset().union(*({tag, *names} for tag, names in asked)) - {""})


def is_below(place: Place, above: Above) -> bool:
    """Whether an element stands below others as a selector asks; the nearest that fit leave the most for the rest."""
    if not above.names <= place[3]:
        return False
    parents, *others = above.parts
    fits, outer = _row(place[2], parents)
    for part in others:
        found = False
        while fits and outer is not None and not found:
            found, after = _row(outer, part)
            outer = after if found else outer[2]
        fits = found
    return fits


def _row(place: Place | None, compounds: tuple[Compound, ...]) -> tuple[bool, Place | None]:
    """Whether a row of elements, ``place`` the innermost, fits, and what is above it."""
    for tag, names in compounds:
        if place is None or not (names <= place[1] and tag in ("", place[0])):
            return False, place
        place = place[2]
    return True, place


def _protected(match: re.Match[str]) -> str:
    character = unescaped(match[0])
    ordinary = character.isalnum() or character in "-_" or ord(character) > 0x7F
    return character if ordinary else chr(_PRIVATE + ord(character))


def _exposed(name: str) -> str:
    if name.isascii():
        return name
    return "".join(chr(ord(c) - _PRIVATE) if _PRIVATE <= ord(c) < _PRIVATE + 0x80 else c for c in name)
