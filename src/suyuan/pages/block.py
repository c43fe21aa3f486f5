"""One block of a page and the boxes it stands in."""

from __future__ import annotations

from dataclasses import dataclass, field

Piece = tuple[str, str, bool]
"""A run of text, the address it links to, and whether it is code."""


@dataclass(slots=True, eq=False)
class Item:
    """One entry of a list: its number (0 for a bullet), the entry around it, and whether its marker was written."""

    number: int
    parent: Item | None
    shown: bool = False


@dataclass(slots=True, eq=False)
class Box:
    """A block-level element: where it stands and how much text it holds."""

    parent: Box | None
    tag: str
    name: str
    depth: int
    size: float = 0.0
    links: float = 0.0
    blocks: int = 0
    marks: int = 0
    paragraphs: int = 0
    hints: tuple[int, ...] = ()
    score: float = 0.0


@dataclass(slots=True, eq=False)
class Block:
    """One block of text and how it is to be written."""

    kind: str
    text: str
    pieces: list[Piece]
    box: Box
    level: int = 0
    link_size: int = 0
    link_count: int = 0
    item: Item | None = None
    quotes: int = 0
    language: str = ""
    rows: list[list[list[Piece]]] = field(default_factory=list)
