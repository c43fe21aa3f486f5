"""``Crawls``: the crawls of a server, those under way and those that can go on."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from ...client import AsyncClient
from ...core.causes.web import NO_CRAWL, TOO_MANY_CRAWLS
from ...core.document import Document
from ...core.person import current_person
from ...core.wire import Response
from ...pages.crawl import Crawl, CrawlLimits
from ...store.conversation import new_id

KEPT_SECONDS = 24 * 3600
_MOST_KEPT = 50
_MOST_RUNNING = 4
_LONGEST_SECONDS = 1800.0


@dataclass(slots=True)
class CrawlJob:
    """A crawl, and what its client wants to have of each page."""

    crawl: Crawl
    wanted: dict[str, Any] = field(default_factory=dict)
    id: str = field(default_factory=new_id)
    created: float = field(default_factory=time.time)
    cancelled: bool = False
    person: str = field(default_factory=lambda: current_person.get().id)
    task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether it is reading now."""
        return self.task is not None and not self.task.done()

    @property
    def status(self) -> str:
        """Scraping, completed or cancelled, as Firecrawl calls them."""
        if self.cancelled:
            return "cancelled"
        return "completed" if self.crawl.done and not self.running else "scraping"

    @property
    def expires(self) -> float:
        """When it is forgotten, in seconds since 1970."""
        return self.created + KEPT_SECONDS


class Crawls:
    """Starts crawls, and remembers them for a day."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._jobs: OrderedDict[str, CrawlJob] = OrderedDict()

    def begin(self, url: str, limits: CrawlLimits, *, texts: bool = True, **wanted: Any) -> CrawlJob:
        """A new crawl, which has read nothing yet; without ``texts`` only addresses are found."""
        self._forget_old()
        read = self._read if texts else self._look
        job = CrawlJob(Crawl(url, limits, read, self._client.network.get), wanted)
        self._jobs[job.id] = job
        return job

    def get(self, id: str) -> CrawlJob:
        """The crawl of that id; raises a cause where there is none."""
        job = self._jobs.get(id)
        if job is None or job.person != current_person.get().id:
            raise NO_CRAWL(id=id[:40])
        return job

    def running(self) -> list[CrawlJob]:
        """The crawls that are reading now."""
        return [job for job in self._jobs.values() if job.running]

    def running_of(self) -> list[CrawlJob]:
        """Those of the person who asks."""
        return [job for job in self.running() if job.person == current_person.get().id]

    def forget(self, job: CrawlJob) -> None:
        """Keep nothing of a crawl."""
        self._jobs.pop(job.id, None)

    def run(self, job: CrawlJob, seconds: float = _LONGEST_SECONDS) -> asyncio.Task[None]:
        """Go on with a crawl in the background."""
        if job.task is not None and not job.task.done():
            return job.task
        if len(self.running()) >= _MOST_RUNNING:
            raise TOO_MANY_CRAWLS(limit=_MOST_RUNNING, retry_after=10)
        job.cancelled = False
        job.task = asyncio.create_task(job.crawl.run(min(seconds, _LONGEST_SECONDS)))
        return job.task

    async def pause(self, job: CrawlJob) -> None:
        """Stop reading; what is known stays, and the crawl can go on."""
        if job.task is not None:
            job.task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(job.task, return_exceptions=True)

    async def close(self) -> None:
        """Stop all crawls."""
        for job in self._jobs.values():
            await self.pause(job)

    def _forget_old(self) -> None:
        now = time.time()
        for id in [id for id, job in self._jobs.items() if job.expires < now and not job.running]:
            del self._jobs[id]
        while len(self._jobs) >= _MOST_KEPT:
            oldest = next((id for id, job in self._jobs.items() if not job.running), None)
            if oldest is None:
                raise TOO_MANY_CRAWLS(limit=_MOST_RUNNING, retry_after=10)
            del self._jobs[oldest]

    async def _read(self, url: str) -> tuple[Document | None, Response]:
        seen: list[Response] = []
        document = await self._client.fetcher.fetch(url, seen=seen.append)
        return document, seen[-1]

    async def _look(self, url: str) -> tuple[Document | None, Response]:
        return None, (await self._client.network.get(url, {})).response
