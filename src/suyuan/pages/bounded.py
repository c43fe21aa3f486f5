"""Limits the HTML of a page: its size, its tags and blocks, and what makes parsers slow."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.document import Cut
from ..core.html_limits import limited
from .block import BLOCK_NAMES
from .reading import PAGE_LIMITS, ReadingLimits

_BLOCKS = frozenset(name.encode() for name in BLOCK_NAMES) | {b"br"}


@dataclass(frozen=True, slots=True)
class Bounded:
    """HTML as parsers take it, in UTF-8, and how many of its characters that is."""

    html: bytes
    read: int
    total: int

    @property
    def cut(self) -> Cut | None:
        """How much of it this is, where its end is missing."""
        return Cut("characters", self.read, self.total) if self.read < self.total else None


def bounded(html: str, limits: ReadingLimits = PAGE_LIMITS) -> Bounded:
    """Return ``html`` of limited size, nesting and number of tags, without surrogates and NULs."""
    whole = html.replace("\x00", "")
    source = whole[: limits.source].encode("utf-8", "replace")
    kept, end = limited(source, _Budget(limits).is_spent_by)
    is_short = end == len(source)
    read = min(len(whole), limits.source) if is_short else len(source[:end].decode("utf-8", "replace"))
    return Bounded(kept, read, len(whole))


class _Budget:
    """The tags that may come yet. A text begins or ends at a tag, so these limit the blocks as well."""

    __slots__ = ("_blocks", "_tags")

    def __init__(self, limits: ReadingLimits) -> None:
        self._tags, self._blocks = limits.tags, limits.blocks

    def is_spent_by(self, name: bytes) -> bool:
        """Count a tag; return whether it is one too many."""
        self._tags -= 1
        if name in _BLOCKS:
            self._blocks -= 1
        return self._tags < 0 or self._blocks < 0
