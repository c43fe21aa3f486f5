"""``ReceivedPage``, ``ReadingLimits`` and ``Reading``: what a reader is given, how far it reads, what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..core.document import Cut, Document
from ..core.wire import Response
from .text_forms import TextForm


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """How much of a document is read, and what that may cost; the document's ``cut`` says what was left out."""

    seconds: float
    """The computing time of one reader, after which it is ended."""
    all_seconds: float
    """The same for all parts of a document that is read in parts."""
    characters: int
    """Of the text."""
    source: int
    """Of the HTML or XML that the text is in, in characters."""
    tags: int
    blocks: int
    """Of the tags, those that begin or end a block."""
    unpacked: int
    """Bytes of the XML of a Word document."""


PAGE_LIMITS = ReadingLimits(10, 10, 2_000_000, 8_000_000, 300_000, 60_000, 60_000_000)
"""For pages from the web, which somebody waits for, and which may be hostile."""
OWN_LIMITS = ReadingLimits(60, 300, 40_000_000, 64_000_000, 1_200_000, 240_000, 400_000_000)
"""For documents of the user: about what the memory of a reader allows, and of the text what that of the server does."""


@dataclass(frozen=True, slots=True)
class ReceivedPage:
    """A response and how it came about: the address that was asked for, notes, and whether a browser loaded it."""

    url: str
    response: Response
    notes: tuple[str, ...] = ()
    rendered: bool = False
    form: TextForm | None = None
    """Set where not a document is wanted but the body in another form."""
    limits: ReadingLimits = field(default_factory=lambda: PAGE_LIMITS)
    indexed: bool = True
    """Whether the words of the text are wanted too."""
    first: int = 0
    """Where to go on in a document that is read in parts: how many of its pages or chapters are behind."""
    patience: float = 4.0
    """The computing time after which a part is long enough."""
    wait: float | None = None
    """The seconds after which it is in any case, where somebody waits for it."""


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """What was read of a document at once: pages of a PDF, or chapters of a book."""

    unit: str
    read: int
    next: int
    """Where the next part begins: all before it were read, or could not be."""
    total: int
    first: int = 0
    seconds: float = 0.0
    """The computing time that it took."""

    @property
    def is_last(self) -> bool:
        """Whether nothing is left."""
        return self.next >= self.total

    @property
    def is_nothing(self) -> bool:
        """Whether no page of the whole document could be read."""
        is_whole = self.first == 0 and self.is_last
        return is_whole and self.read == 0 < self.total


@dataclass(frozen=True, slots=True)
class Reading:
    """A document, and the words of its text, by which the archive finds it."""

    document: Document
    index: str
    part: DocumentPart | None = None
    """Set where the document is read in parts."""


def has_room(readings: Sequence[Reading], limits: ReadingLimits) -> bool:
    """Whether another part may be read after these."""
    length = sum(len(each.document.text) for each in readings)
    seconds = sum(each.part.seconds for each in readings if each.part is not None)
    return length < limits.characters and seconds < limits.all_seconds


def joined(readings: Sequence[Reading]) -> Reading:
    """One reading of all parts, from the first on; the document says how much of it was read."""
    first, last = readings[0], readings[-1].part
    assert last is not None
    read = sum(each.part.read for each in readings if each.part is not None)
    text = "\n\n".join(each.document.text for each in readings if each.document.text)
    cut = Cut(last.unit, read, last.total) if read < last.total else None
    index = " ".join(each.index for each in readings if each.index)
    return Reading(replace(first.document, text=text, cut=cut), index)
