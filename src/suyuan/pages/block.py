"""A block of text on a page and the elements that contain it."""

from __future__ import annotations

from dataclasses import dataclass, field

_BLOCK_NAMES = (
    "address article aside blockquote body button center dd details div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol p pre search section summary table tbody td tfoot "
    "th thead tr ul caption listing xmp plaintext"
)
BLOCK_NAMES = frozenset(_BLOCK_NAMES.split())
"""The elements that stand in blocks of their own."""
TextRun = tuple[str, str, bool]
"""A run of text, the address it links to, and whether it is code."""


@dataclass(slots=True, eq=False)
class ListItem:
    """An item of a list: its number (0 for a bullet), the item around it, and whether its bullet was written."""

    number: int
    parent: ListItem | None
    written: bool = False


@dataclass(slots=True, eq=False)
class Element:
    """A block-level element: its position in the page and how much text it contains."""

    parent: Element | None
    tag: str
    names: str
    """Its class, id and role."""
    depth: int
    region: str = ""
    """The tag of the outermost article, section, main part or footer that it stands in."""
    size: float = 0.0
    links: float = 0.0
    blocks: int = 0
    punctuation: int = 0
    paragraphs: int = 0
    hints: tuple[float, ...] = ()
    alike: float = 0.0
    """How many elements of the same parent have its tag and names, itself included."""
    score: float = 0.0

    def lineage(self, limit: int) -> list[Element]:
        """The element and its nearest ancestors, at most ``limit`` elements."""
        found = [self]
        while len(found) < limit and (parent := found[-1].parent) is not None:
            found.append(parent)
        return found


@dataclass(slots=True, eq=False)
class Block:
    """A block of text and how it is formatted."""

    kind: str
    """``p``, ``h``, ``pre`` or ``table``."""
    text: str
    runs: list[TextRun]
    element: Element
    level: int = 0
    link_size: int = 0
    link_count: int = 0
    item: ListItem | None = None
    quotes: int = 0
    language: str = ""
    rows: list[list[list[TextRun]]] = field(default_factory=list)
