"""A CSS selector, as far as it is needed to find the elements of a page that it may match."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from .css import unescaped

# An escaped character that is not part of an ordinary name is kept as one that nobody uses, until names are compared.
_PRIVATE = 0xE000
_ESCAPE = re.compile(r"\\(?:[0-9a-fA-F]{1,6}\s?|.)", re.S)
_SPECIAL = re.compile(r"[(\[\\:\"'&|]")
_INNER = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
_COMBINATOR = re.compile(r"\s*[\s>+~]\s*")
_BETWEEN = " \t\n\r\f>+~"
_LAST = re.compile(r"[\s>+~]+")
# All but the other characters of ASCII.
_NAME = r"[^\x00-,./:-@\[-^`{-\x7f]+"
_COMPOUND = re.compile(rf"(\*|{_NAME})?((?:[.#]{_NAME})*)(.*)", re.S)
_PART = re.compile(rf"[.#]{_NAME}")
_FIRST = re.compile(rf"(\*|{_NAME})?([.#]{_NAME})?")
_PSEUDO = re.compile(r"::?([-\w]+)")
# Elements that the page does not contain, and states that nobody has brought about.
_NOT_MATCHED_NAMES = (
    "before after first-line first-letter placeholder selection marker backdrop cue file-selector-button part slotted "
    "hover focus active visited target focus-within focus-visible checked disabled indeterminate fullscreen "
    "popover-open modal autofill user-invalid invalid playing open defined host"
)
_NOT_MATCHED = frozenset(_NOT_MATCHED_NAMES.split())


@dataclass(frozen=True, slots=True)
class Selector:
    """One selector: what the element itself must have, and whether more has to be checked."""

    text: str
    tag: str
    names: frozenset[str]
    is_complex: bool
    specificity: tuple[int, int, int]

    @property
    def key(self) -> str:
        """A name that every matched element has: one of its classes, its id, its tag, or ``*``."""
        return next(iter(self.names)) if self.names else self.tag or "*"


@lru_cache(maxsize=8192)
def key_of(text: str) -> str:
    """The key of the selector that ``text`` is; empty if it matches nothing that is in the page at first."""
    if _SPECIAL.search(text):
        selector = read_selector(text)
        return "" if selector is None else selector.key
    last = text.strip(_BETWEEN)
    if not last.isalnum():
        last = _LAST.split(last)[-1]
    found = _FIRST.match(last)
    assert found is not None
    tag, name = found.groups()
    return name or (tag or "*").lower()


@lru_cache(maxsize=4096)
def read_selector(text: str) -> Selector | None:
    """Read one selector; None if it matches nothing that is in the page at first."""
    if not _SPECIAL.search(text):
        return _quick(text)
    plain = _ESCAPE.sub(_protected, text) if "\\" in text else text
    inner = plain
    while inner != (without := _INNER.sub("\x00", inner)):
        inner = without
    if any(match[1] in _NOT_MATCHED or match[1].startswith("-") for match in _PSEUDO.finditer(inner)):
        return None
    compounds = [part for part in _COMBINATOR.split(inner.strip()) if part]
    if not compounds or (found := _COMPOUND.fullmatch(compounds[-1])) is None:
        return None
    tag, names, rest = found.groups()
    parts = frozenset(map(_exposed, _PART.findall(names)))
    joined = "".join(compounds)
    specificity = (
        joined.count("#"),
        joined.count(".") + joined.count("\x00") + len(_PSEUDO.findall(joined)),
        sum(part[0] not in "*.#:\x00" for part in compounds),
    )
    is_complex = len(compounds) > 1 or bool(rest)
    return Selector(text, "" if tag in (None, "*") else tag.lower(), parts, is_complex, specificity)


def _quick(text: str) -> Selector | None:
    """The same for a selector of tags, classes and ids only."""
    compounds = _COMBINATOR.split(text.strip(_BETWEEN))
    if (found := _COMPOUND.fullmatch(compounds[-1])) is None or found[3]:
        return None
    tag, names, _ = found.groups()
    tags = sum(part[:1] not in ".#*" for part in compounds)
    specificity = (text.count("#"), text.count("."), tags)
    tag = "" if tag in (None, "*") else tag.lower()
    return Selector(text, tag, frozenset(_PART.findall(names)), len(compounds) > 1, specificity)


def _protected(match: re.Match[str]) -> str:
    character = unescaped(match[0])
    ordinary = character.isalnum() or character in "-_" or ord(character) > 0x7F
    return character if ordinary else chr(_PRIVATE + ord(character))


def _exposed(name: str) -> str:
    if name.isascii():
        return name
    return "".join(chr(ord(c) - _PRIVATE) if _PRIVATE <= ord(c) < _PRIVATE + 0x80 else c for c in name)
