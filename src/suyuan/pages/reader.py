"""``PageReader``: converts pages, small ones here and all others in reader processes."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from .kind import kind_of
from .reading import ReceivedPage

if TYPE_CHECKING:
    from ..core.wire import Response
    from .reader_pool import ReaderPool
    from .reading import Reading
    from .text_forms import TextForm

SMALL = 16_000
FEW_TAGS = 400
"""A page of so many bytes and tags costs a few milliseconds whatever it contains, less than starting a process."""
FEW_PAGES = 8
"""So many of them are converted here within a second; more would keep the event loop busy, and one core only."""


class PageReader:
    """Converts received pages to documents."""

    def __init__(self) -> None:
        self._pool: ReaderPool | None = None
        self._underway = 0
        self._done_here: deque[float] = deque(maxlen=FEW_PAGES)
        """When the last small pages were converted here."""

    async def read(self, page: ReceivedPage) -> Reading:
        """Convert a page; raises the ``SuyuanError`` that says why it cannot be read. Cancelling ends the work."""
        self._underway += 1
        try:
            # With others under way, the readers are faster together.
            if self._underway == 1 and not self._is_burst() and _is_harmless(page):
                self._done_here.append(time.monotonic())
                # Loaded when a page is read here for the first time: the parsers take longer than some pages.
                from .convert import read_page

                return read_page(page)
            return await self._readers().read(page)
        finally:
            self._underway -= 1

    async def in_form(self, response: Response, form: TextForm) -> str:
        """The body of a response in another form. Never here: a short text can take long."""
        page = ReceivedPage(response.url, response, form=form)
        return (await self._readers().read(page)).document.text

    def close(self) -> None:
        """Give the reader processes back; those that nobody else uses end."""
        if self._pool is not None:
            from .reader_pool import shared_readers

            self._pool = None
            shared_readers.release()

    def _is_burst(self) -> bool:
        # Pages that wait for their turn cannot be counted: each is read at once when the loop comes to it.
        return len(self._done_here) == FEW_PAGES and time.monotonic() - self._done_here[0] < 1.0

    def _readers(self) -> ReaderPool:
        if self._pool is None:
            from .reader_pool import shared_readers

            self._pool = shared_readers.acquire()
        return self._pool


def _is_harmless(page: ReceivedPage) -> bool:
    """Whether no content can make the conversion of this page slow."""
    body = page.response.body
    if (
        len(body) > SMALL
        or body.count(b"<") > FEW_TAGS
        or kind_of(page.response.headers.get("content-type", ""), body) in ("pdf", "docx", "epub")
    ):
        return False
    try:
        # Detecting an encoding is slow.
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
