"""``ReceivedPage`` and ``Reading``: what a reader is given, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.document import Document
from ..core.wire import Response
from .text_forms import TextForm


@dataclass(frozen=True, slots=True)
class ReceivedPage:
    """A response and how it came about: the address that was asked for, notes, and whether a browser loaded it."""

    url: str
    response: Response
    notes: tuple[str, ...] = ()
    rendered: bool = False
    form: TextForm | None = None
    """Set where not a document is wanted but the body in another form."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A document, and the words of its text, by which the archive finds it."""

    document: Document
    index: str
