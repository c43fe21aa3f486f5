"""``PageReader``: converts pages in reader processes, never in this one, and joins what is read in parts."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from ..core.causes.page import EMPTY_TEXT
from ..core.errors import SuyuanError
from ..core.urls import domain_of
from .reading import ReceivedPage, has_room, joined

if TYPE_CHECKING:
    from ..core.wire import Response
    from .reader_pool import ReaderPool
    from .reading import Reading
    from .text_forms import TextForm

log = logging.getLogger("suyuan.pages")


class PageReader:
    """Converts received pages to documents."""

    def __init__(self) -> None:
        self._pool: ReaderPool | None = None

    async def read(self, page: ReceivedPage, until: float | None = None) -> Reading:
        """Convert a page; raises the ``SuyuanError`` that says why it cannot be read. Cancelling ends the work.

        What is read in parts is read until ``until`` at most, by the clock of the loop; its ``cut`` says what is left.
        """
        first = await self._readers().read(_in_time(page, until))
        if first.part is None:
            return first
        found = joined(await self._with_rest(page, first, until))
        if not found.document.text.strip():
            raise EMPTY_TEXT(where=domain_of(page.response.url) or page.response.url)
        return found

    async def _with_rest(self, page: ReceivedPage, first: Reading, until: float | None) -> list[Reading]:
        """The first part and those behind it, as far as the limits allow."""
        readings = [first]
        while (part := readings[-1].part) is not None and not part.is_last and has_room(readings, page.limits):
            following = replace(_in_time(page, until), first=part.next)
            try:
                async with asyncio.timeout_at(until):
                    readings.append(await self._readers().read(following))
            except (TimeoutError, SuyuanError) as error:
                # What was read is kept, and says what is missing.
                log.warning("url=%s read=%d of=%d %s: %s", page.url, part.next, part.total, part.unit, error)
                break
        return readings

    def warm(self) -> None:
        """Start a reader if there is none: it is ready when the page has come that is being loaded."""
        self._readers().warm()

    async def in_form(self, response: Response, form: TextForm) -> str:
        """The body of a response in another form."""
        page = ReceivedPage(response.url, response, form=form)
        return (await self._readers().read(page)).document.text

    def close(self) -> None:
        """Give the reader processes back; those that nobody else uses end."""
        if self._pool is not None:
            from .reader_pool import shared_readers

            self._pool = None
            shared_readers.release()

    def _readers(self) -> ReaderPool:
        if self._pool is None:
            from .reader_pool import shared_readers

            self._pool = shared_readers.acquire()
        return self._pool


def _in_time(page: ReceivedPage, until: float | None) -> ReceivedPage:
    """The page with a part that is done in time, and leaves some of it for the next one."""
    if until is None:
        return page
    left = until - asyncio.get_running_loop().time()
    return replace(page, wait=left / 2)
