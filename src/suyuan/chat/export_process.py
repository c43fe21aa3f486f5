"""What a process runs that makes exports: a reader whose pages are conversations."""

from __future__ import annotations

from ..core.document import Document
from ..pages import reader_process
from ..pages.reading import Reading, ReceivedPage
from .exports import exported


def main() -> None:
    """Make the exports that are asked for on standard input until it ends."""
    reader_process.main(_read)


def _read(page: ReceivedPage) -> Reading:
    return Reading(Document("", "", "", exported(page.response.body), "", ""), "")
