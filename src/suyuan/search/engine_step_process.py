"""What a process runs that reads large answers of search engines: a reader whose pages are steps of exchanges."""

from __future__ import annotations

import logging

from ..core.causes.engine import ENGINE_BUG
from ..core.document import Document
from ..core.errors import SuyuanError
from ..pages import reader_process
from ..pages.reading import Reading, ReceivedPage
from .engine_steps import step_here

log = logging.getLogger("suyuan.search")


def main() -> None:
    """Take the steps that come on standard input until it ends."""
    reader_process.main(_read)


def _read(page: ReceivedPage) -> Reading:
    try:
        text = step_here(page.response.body)
    except (SuyuanError, MemoryError):
        raise
    except Exception as error:
        # The outermost edge: a fault in the code of one engine is a failure of that engine.
        log.exception("a step of an engine failed inside")
        raise ENGINE_BUG(engine="", what=f"{type(error).__name__}: {error}"[:500]) from error
    return Reading(Document("", "", "", text, "", ""), "")
