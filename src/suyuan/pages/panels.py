"""``Panels``: the closed parts of a page that a control opens, as of tabs and accordions."""

from __future__ import annotations

from collections.abc import Mapping

from selectolax.lexbor import LexborNode

Attributes = Mapping[str, str | None]

_TELLING = frozenset(("aria-controls", "aria-expanded", "aria-selected", "data-toggle", "data-bs-toggle"))
_TARGETS = ("aria-controls", "data-target", "data-bs-target", "href")
# What is no part of the text even where a button opens it.
_ASIDE = frozenset(("navigation", "menu", "menubar", "listbox", "dialog", "alertdialog", "tooltip", "search"))
_LEVELS = 3
"""How far up the header of a panel may be whose control is in it."""


def is_control(attributes: Attributes) -> bool:
    """Whether an element says that it opens another one."""
    return not _TELLING.isdisjoint(attributes)


class Panels:
    """Knows the panels of all controls that were added; only those that a reader can see may be."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        """Of panels, and of controls that a panel may name as its label."""
        self._places: set[int] = set()

    def add(self, control: LexborNode) -> None:
        """Take in what a control opens: what it names, what names it, or what follows it."""
        attributes = control.attributes
        targets = [(attributes.get(name) or "").lstrip("#") for name in _TARGETS]
        self._names.update(" ".join((*targets, attributes.get("id") or "")).split())
        if attributes.get("aria-expanded") == "false" and not targets[0]:
            following = _next(control)
            if following is not None:
                self._places.add(following.mem_id)

    def has(self, node: LexborNode, tag: str, attributes: Attributes) -> bool:
        """Whether one of the controls opens the element."""
        if tag == "nav" or attributes.get("role") in _ASIDE:
            return False
        named = (attributes.get("id"), attributes.get("aria-labelledby"))
        return node.mem_id in self._places or any(name in self._names for name in named if name)


def _next(control: LexborNode) -> LexborNode | None:
    """The element after a control, or after the header that it is the last part of."""
    node: LexborNode | None = control
    for _ in range(_LEVELS):
        if node is None:
            return None
        following = node.next
        while following is not None and (following.tag or "").startswith("-"):
            following = following.next
        if following is not None:
            return following
        node = node.parent
    return None
