"""Adds a folder of documents to a library by the product's own class, and notes when each was read."""

from __future__ import annotations

import asyncio
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from suyuan.core.document import Document
from suyuan.pages.convert import read_page
from suyuan.pages.library import Library
from suyuan.pages.reading import Reading, ReceivedPage

from ._kept_fill import write_documents
from ._report import Target

SHARE = 500
"""The documents at the beginning and at the end that are compared."""
LONGEST = 1_200.0
"""The seconds after which adding is given up."""


@dataclass(slots=True)
class Added:
    """When each document was read, and how long all of it took."""

    wanted: int
    moments: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def ratio(self) -> float:
        """The time of one of the last documents, beside one of the first."""
        share = min(SHARE, len(self.moments) // 3)
        first, last = self.moments[:share], self.moments[-share:]
        return (last[-1] - last[0]) / (first[-1] - first[0])

    def row(self) -> tuple[str, ...]:
        """A row of the table."""
        each = 1000 * self.seconds / len(self.moments)
        return (f"{self.wanted}", f"{len(self.moments)}", f"{self.seconds:.0f}", f"{each:.1f}", f"{self.ratio:.2f}")

    def targets(self) -> list[Target]:
        """What adding so many may cost."""
        return [
            Target("library: documents that were added", len(self.moments), self.wanted, at_least=True),
            Target(f"library: one of the last {SHARE} documents, beside one of the first", self.ratio, 1.1),
        ]


def add_documents(count: int) -> Added:
    """Add so many files in one folder."""
    with tempfile.TemporaryDirectory(prefix="suyuan-library-") as made:
        documents = Path(made) / "documents"
        write_documents(documents, count)
        return asyncio.run(_add(Path(made) / "library", documents, count))


async def _add(folder: Path, documents: Path, count: int) -> Added:
    added = Added(count)

    async def read(page: ReceivedPage) -> Reading:
        added.moments.append(time.monotonic())
        # As the product's readers do, without the time of their processes.
        return read_page(page)

    async def no_page(url: str) -> Document:
        raise AssertionError(f"{url}: nothing is read from the web here")

    library = Library(folder, ("http://127.0.0.1:8642",), read, no_page)
    begun = time.monotonic()
    adding = asyncio.ensure_future(library.add(str(documents)))
    await asyncio.wait([adding], timeout=LONGEST)
    added.seconds = time.monotonic() - begun
    if not adding.done():
        print(f"\nlibrary: given up after {LONGEST:.0f} s")
        adding.cancel()
        await asyncio.wait([adding])
    await library.close()
    return added
