"""``Crawls``: the crawls of a server, those under way and those that can go on."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...client import AsyncClient
from ...core.causes.web import NO_CRAWL, TOO_MANY_CRAWLS
from ...core.document import Document
from ...core.errors import SuyuanError
from ...core.person import current_person, require
from ...core.private_file import write_private
from ...core.wire import Response
from ...pages.crawl import MOST_CHARACTERS, Crawl, CrawlLimits
from ...store.conversation import new_id

log = logging.getLogger("suyuan.server")

KEPT_SECONDS = 24 * 3600
_SAVED_EVERY = 5.0
_KEPT_FIELDS = ("person", "texts", "wanted", "created", "cancelled")
_MOST_KEPT = 50
_MOST_CHARACTERS = 100_000_000
"""Of the texts of all crawls in memory; those that make room are read from the archive again."""
_MOST_RUNNING, _MOST_OF_ALL = 4, 16
"""The crawls of one person, and of all people, that read at the same time."""
_LONGEST_SECONDS = 1800.0


@dataclass(slots=True)
class CrawlJob:
    """A crawl, and what its client wants to have of each page."""

    crawl: Crawl
    texts: bool = True
    """Whether the texts of the pages are wanted, or only their addresses."""
    wanted: dict[str, Any] = field(default_factory=dict)
    id: str = field(default_factory=new_id)
    created: float = field(default_factory=time.time)
    cancelled: bool = False
    person: str = field(default_factory=lambda: current_person.get().id)
    task: asyncio.Task[None] | None = None
    elsewhere: bool = False
    """Whether another worker is reading: then this is how far it was a moment ago."""

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


def too_long(crawl: Crawl) -> list[str]:
    """What of a crawl is left out because its texts are too long."""
    return [f"pages after {MOST_CHARACTERS:,} characters of text"] if crawl.cut else []


class Crawls:
    """Starts crawls, and remembers them for a day: in a folder, so that they go on when the server is started again."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        data = client.settings.data_dir
        self._folder = data / "crawls" if data else None
        self._jobs: OrderedDict[str, CrawlJob] = OrderedDict()

    def begin(self, *urls: str, limits: CrawlLimits, texts: bool = True, **wanted: Any) -> CrawlJob:
        """A new crawl, which is remembered once it runs; without ``texts`` only addresses are found."""
        require("read")
        return CrawlJob(self._crawl(urls, limits, texts), texts, wanted)

    def _crawl(self, urls: tuple[str, ...], limits: CrawlLimits, texts: bool) -> Crawl:
        return Crawl(urls[0], limits, self._read if texts else self._look, self._client.network.get, urls[1:])

    async def get(self, id: str) -> CrawlJob:
        """The crawl of that id; raises a cause where there is none."""
        person = require("read").id
        job = self._jobs.get(id) or await self._kept(id)
        if job.person != person:
            raise NO_CRAWL(id=id[:40])
        if not job.elsewhere:
            self._jobs[id] = job
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
        if self._folder is not None:
            self._file(job.id).unlink(missing_ok=True)

    def run(self, job: CrawlJob, seconds: float = _LONGEST_SECONDS) -> asyncio.Task[None]:
        """Go on with a crawl in the background; raises a cause where too many are reading."""
        if job.task is not None and not job.task.done():
            return job.task
        if job.elsewhere or len(self.running_of()) >= _MOST_RUNNING or len(self.running()) >= _MOST_OF_ALL:
            raise TOO_MANY_CRAWLS(limit=_MOST_RUNNING, retry_after=10)
        self._make_room()
        self._jobs[job.id] = job
        job.cancelled = False
        job.task = asyncio.create_task(self._work(job, min(seconds, _LONGEST_SECONDS)))
        return job.task

    async def wait(self, job: CrawlJob, seconds: float) -> None:
        """Go on with a crawl until it ends, runs out of time, or nobody waits any more: then it is paused.

        Raises a cause where its first page cannot be read; there is nothing to go on with.
        """
        try:
            await asyncio.shield(self.run(job, seconds))
        except asyncio.CancelledError:
            await self.pause(job)
            raise
        try:
            job.crawl.check_start()
        except SuyuanError:
            self.forget(job)
            raise

    async def _work(self, job: CrawlJob, seconds: float) -> None:
        reading = asyncio.create_task(job.crawl.run(seconds))
        try:
            while not reading.done():
                await self._save(job, running=True)
                await asyncio.wait({reading}, timeout=_SAVED_EVERY)
            reading.result()
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
            await self._save(job)

    async def pause(self, job: CrawlJob) -> None:
        """Stop reading; what is known stays, and the crawl can go on."""
        if job.task is not None:
            job.task.cancel()
            await asyncio.wait([job.task])

    async def cancel(self, job: CrawlJob) -> None:
        """Stop reading until somebody asks to go on."""
        job.cancelled = True
        await self.pause(job)

    async def close(self) -> None:
        """Stop all crawls."""
        # One that somebody waits for is forgotten when it is stopped.
        for job in list(self._jobs.values()):
            await self.pause(job)

    async def purge(self, now: float) -> None:
        """Forget the crawls that are over, by a clock that may be believed."""
        for id in [id for id, job in self._jobs.items() if job.expires < now and not job.running]:
            del self._jobs[id]
        if self._folder is not None:
            await asyncio.to_thread(_remove_older, self._folder, now - KEPT_SECONDS)

    def _make_room(self) -> None:
        while len(self._jobs) >= _MOST_KEPT or self._characters() > _MOST_CHARACTERS:
            oldest = next((id for id, job in self._jobs.items() if not job.running), None)
            if oldest is None:
                raise TOO_MANY_CRAWLS(limit=_MOST_RUNNING, retry_after=10)
            del self._jobs[oldest]

    def _characters(self) -> int:
        return sum(job.crawl.characters for job in self._jobs.values())

    # --- in the folder --------------------------------------------------------------------------------------------
    def _file(self, id: str) -> Path:
        assert self._folder is not None, "only a server with a data folder keeps crawls"
        return self._folder / f"{id}.json"

    async def _save(self, job: CrawlJob, *, running: bool = False) -> None:
        """Keep what is needed to go on; without a folder, or a disk that takes it, the crawl ends with the server."""
        if self._folder is None or job.id not in self._jobs:
            return
        about = {name: getattr(job, name) for name in _KEPT_FIELDS}
        data = json.dumps({**about, "running": running, "saved": time.time(), "state": job.crawl.state()})
        try:
            await asyncio.to_thread(write_private, self._file(job.id), data)
        except OSError as error:
            log.warning("the crawl %s could not be saved: %s", job.id, error)

    async def _kept(self, id: str) -> CrawlJob:
        """A crawl of an earlier process; the texts of its pages are those of the archive."""
        if self._folder is None or not id.isalnum() or not id.isascii():
            raise NO_CRAWL(id=id[:40])
        try:
            kept = json.loads(await asyncio.to_thread(self._file(id).read_text, "utf-8"))
            state = kept["state"]
            crawl = self._crawl((state["url"],), CrawlLimits.from_dict(state["limits"]), kept["texts"])
        except (OSError, ValueError, KeyError, TypeError):
            raise NO_CRAWL(id=id[:40]) from None
        crawl.restore(state, await self._documents(state["read"]) if kept["texts"] else None)
        # One that was not saved for a while has lost its worker.
        elsewhere = kept["running"] and time.time() - kept["saved"] < 6 * _SAVED_EVERY
        return CrawlJob(crawl, id=id, elsewhere=elsewhere, **{name: kept[name] for name in _KEPT_FIELDS})

    async def _documents(self, urls: list[str]) -> dict[str, Document]:
        archive = self._client.archive
        found = {url: await archive.get(url) for url in urls} if archive is not None else {}
        return {url: document for url, document in found.items() if document is not None}

    # --- pages ----------------------------------------------------------------------------------------------------
    async def _read(self, url: str) -> tuple[Document | None, Response]:
        seen: list[Response] = []
        document = await self._client.fetcher.fetch(url, seen=seen.append)
        return document, seen[-1]

    async def _look(self, url: str) -> tuple[Document | None, Response]:
        return None, (await self._client.network.get(url, {})).response


def _remove_older(folder: Path, than: float) -> None:
    for file in folder.glob("*.json"):
        # Another worker may remove it too.
        with suppress(FileNotFoundError):
            if file.stat().st_mtime < than:
                file.unlink()
