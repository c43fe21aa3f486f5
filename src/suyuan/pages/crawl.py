"""``Crawl``: reads the pages of one site, within limits, as its robots.txt allows; it can be paused and go on later."""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import InitVar, dataclass, field, fields
from typing import Any, Self
from urllib.robotparser import RobotFileParser

from ada_url import URL

from ..core.causes.asked import BAD_ARGUMENT
from ..core.causes.network import BAD_URL
from ..core.causes.page import ROBOTS
from ..core.document import Document
from ..core.errors import InvalidInput, SuyuanError
from ..core.failure import Failure
from ..core.urls import page_key
from ..core.wire import Response
from ..messages.catalog import Text
from .fetch import Get
from .page_links import page_links, sitemap_links
from .robots import AGENT, is_allowed, read_rules, robots_url

MOST_PAGES = 500
MOST_CHARACTERS = 20_000_000
MOST_DEPTH = 10
_AT_ONCE = 4
_LONGEST_DELAY = 5.0
_MOST_KNOWN = 20_000
_MOST_SITEMAPS = 10
_LONGEST_PATTERN, _LONGEST_PATH = 200, 500

ReadPage = Callable[[str], Awaitable[tuple[Document | None, Response]]]
"""Reads the page at an address: its document, where it is wanted, and its response."""


class PathPatterns:
    """Patterns for paths, by an engine whose time grows with the path alone: Python's can take for ever."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        self.patterns = tuple(patterns)
        self._engine: Any = None
        if self.patterns:
            self._engine = self._compiled()

    def _compiled(self) -> Any:
        from pydantic_core import SchemaError, SchemaValidator, core_schema

        for pattern in self.patterns:
            try:
                # Each must be one by itself: together they are one expression, and one limit of its size.
                re.compile(pattern)
                fits = len(pattern) <= _LONGEST_PATTERN
            except (re.error, RecursionError, OverflowError):
                fits = False
            if not fits:
                raise BAD_ARGUMENT(name=pattern[:80], why=Text("server.detail.bad_pattern"))
        try:
            return SchemaValidator(core_schema.str_schema(pattern="|".join(f"(?:{each})" for each in self.patterns)))
        except SchemaError:
            raise BAD_ARGUMENT(name=self.patterns[0][:80], why=Text("server.detail.slow_pattern")) from None

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def found_in(self, path: str) -> bool:
        """Whether one of them is in ``path``."""
        return bool(self._engine) and self._engine.isinstance_python(path[:_LONGEST_PATH])


@dataclass(frozen=True, slots=True)
class CrawlLimits:
    """How far a crawl goes: pages, links from the start, links of one page, and which paths."""

    pages: int = 50
    depth: int = 1
    breadth: int = 50
    include: PathPatterns = PathPatterns()
    exclude: PathPatterns = PathPatterns()
    below: bool = False
    """Whether only pages below the path of the start are read."""
    sitemap: bool = False
    """Whether the site's own list of pages counts as found."""
    listed: bool = False
    """Whether exactly the given pages are read, of whichever sites; each is a request of the user, not of a robot."""

    def as_dict(self) -> dict[str, Any]:
        """The limits as JSON."""
        patterns = {name: getattr(self, name).patterns for name in ("include", "exclude")}
        return {each.name: getattr(self, each.name) for each in fields(self)} | patterns

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> Self:
        """The limits that :meth:`as_dict` has written."""
        patterns = {name: PathPatterns(kept[name]) for name in ("include", "exclude")}
        return cls(**{**kept, **patterns})


@dataclass(slots=True)
class CrawledPage:
    """A page of a crawl: its document where it was wanted, or why it could not be read."""

    url: str
    document: Document | None = None
    error: SuyuanError | None = None


@dataclass(slots=True)
class Crawl:
    """One crawl of the site of ``url``. :meth:`run` goes on where the last one ended."""

    url: str
    limits: CrawlLimits
    read: ReadPage
    get: Get
    others: InitVar[tuple[str, ...]] = ()
    """More pages to begin with."""
    pages: list[CrawledPage] = field(default_factory=list)
    found: dict[str, str] = field(default_factory=dict)
    """The addresses that are known, by their key, in the order in which they were found."""
    _waiting: deque[tuple[str, int]] = field(default_factory=deque)
    _under_way: dict[str, int] = field(default_factory=dict)
    _robots: RobotFileParser | None = None
    _delay: float = 0.0

    characters: int = 0
    """The length of all texts that were read."""

    def __post_init__(self, others: tuple[str, ...]) -> None:
        self.url, *more = (_address(url) for url in (self.url, *others))
        for url in (self.url, *more):
            self._find(url, 0, start=True)

    @property
    def done(self) -> bool:
        """Whether nothing is left to read, or nothing more can be kept."""
        if self.cut or len(self.pages) >= self.limits.pages:
            return True
        return not self._waiting and not self._under_way

    @property
    def cut(self) -> bool:
        """Whether it has ended because its texts are too long."""
        return self.characters >= MOST_CHARACTERS

    def check_start(self) -> None:
        """Raise what kept the very first page from being read, where nothing else is known of the site."""
        if len(self.found) == 1 and self.pages and self.pages[0].error is not None:
            raise self.pages[0].error

    @property
    def waiting(self) -> int:
        """How many pages are known and not read yet, as far as the limit allows."""
        return min(len(self._waiting) + len(self._under_way), self.limits.pages - len(self.pages))

    def state(self) -> dict[str, Any]:
        """What is needed to go on in another process; the pages that were read are kept by their addresses."""
        return {
            "url": self.url,
            "limits": self.limits.as_dict(),
            "found": list(self.found.values()),
            "waiting": [*self._under_way.items(), *self._waiting],
            "read": [page.url for page in self.pages if page.error is None],
            "failed": [[page.url, page.error.failure.as_dict()] for page in self.pages if page.error is not None],
        }

    def restore(self, state: dict[str, Any], documents: Mapping[str, Document] | None) -> None:
        """Take over ``state``; what is not among ``documents`` any more is read again, unless no texts are wanted."""
        self.found = {page_key(url): url for url in state["found"]}
        self._waiting = deque((url, int(depth)) for url, depth in state["waiting"])
        if documents is None:
            self.pages = [CrawledPage(url, None) for url in state["read"]]
            self.characters = 0
        else:
            self._restore_documents(state["read"], documents)
        self.pages += [CrawledPage(url, error=SuyuanError(Failure.from_dict(why))) for url, why in state["failed"]]

    def _restore_documents(self, urls: Iterable[str], documents: Mapping[str, Document]) -> None:
        """Take over the documents of the pages that were read; the pages without one are read again."""
        self.pages = []
        for url in urls:
            if url in documents:
                self.pages.append(CrawledPage(url, documents[url]))
            else:
                self._waiting.appendleft((url, self.limits.depth))
        self.characters = sum(len(document.text) for document in documents.values())

    async def run(self, seconds: float) -> None:
        """Read until nothing is left, or for ``seconds``; what was under way then is read the next time."""
        try:
            async with asyncio.timeout(seconds):
                if self._robots is None and not self.limits.listed:
                    await self._read_rules()
                await self._read_all()
        except TimeoutError:
            return

    async def _read_all(self) -> None:
        tasks: set[asyncio.Task[None]] = set()
        at_once = 1 if self._delay else _AT_ONCE
        try:
            while not self.done:
                while self._waiting and len(tasks) < min(at_once, self.limits.pages - len(self.pages)):
                    tasks.add(asyncio.create_task(self._visit(*self._waiting.popleft())))
                if not tasks:
                    return
                done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _visit(self, url: str, depth: int) -> None:
        if self._robots is not None and not is_allowed(self._robots, url):
            self.pages.append(CrawledPage(url, error=ROBOTS(where=url)))
            return
        started = time.monotonic()
        await self._read(url, depth)
        if self._delay:
            await asyncio.sleep(max(0.0, self._delay - (time.monotonic() - started)))

    async def _read(self, url: str, depth: int) -> None:
        self._under_way[url] = depth
        try:
            document, response = await self.read(url)
            # It is under way until its links are known: without any other page the crawl would be over.
            links = await self._wanted_links(response, depth)
        except SuyuanError as error:
            self.pages.append(CrawledPage(url, error=error))
            return
        except asyncio.CancelledError:
            self._waiting.appendleft((url, depth))
            raise
        finally:
            del self._under_way[url]
        self.pages.append(CrawledPage(url, document))
        self.characters += len(document.text) if document else 0
        for link in links[: self.limits.breadth]:
            self._find(link, depth + 1)

    async def _wanted_links(self, response: Response, depth: int) -> list[str]:
        if depth >= self.limits.depth or not self._is_own(response.url):
            return []
        return [link for link in await asyncio.to_thread(page_links, response) if self._is_wanted(link)]

    async def _read_rules(self) -> None:
        """Read robots.txt, and the sitemap where it is wanted; without readable rules everything is allowed."""
        try:
            response = (await self.get(robots_url(self.url), {})).response
            content = response.body if response.status == 200 else b""
            rules = await asyncio.to_thread(read_rules, content)
        except (SuyuanError, ValueError):
            rules = read_rules(b"")
        self._robots = rules
        delay = rules.crawl_delay(AGENT)
        self._delay = min(float(delay), _LONGEST_DELAY) if delay else 0.0
        if self.limits.sitemap:
            await self._read_sitemaps(rules.site_maps() or [URL(self.url).origin + "/sitemap.xml"])

    async def _read_sitemaps(self, urls: Iterable[str]) -> None:
        left, known = deque(urls), 0
        while left and known < _MOST_SITEMAPS:
            known += 1
            url = left.popleft()
            if not self._is_own(url):
                continue
            try:
                response = (await self.get(url, {})).response
            except SuyuanError:
                continue
            links = await asyncio.to_thread(sitemap_links, response) if response.status == 200 else []
            left.extend(link for link in links if link.endswith((".xml", ".xml.gz")))
            for link in links:
                if not link.endswith((".xml", ".xml.gz")) and self._is_wanted(link):
                    self._find(link, 1)

    def _find(self, url: str, depth: int, *, start: bool = False) -> None:
        key = page_key(url)
        if key in self.found or len(self.found) >= _MOST_KNOWN:
            return
        self.found[key] = url
        if start or depth <= self.limits.depth:
            self._waiting.append((url, depth))

    def _is_own(self, url: str) -> bool:
        return _site(url) == _site(self.url)

    def _is_wanted(self, url: str) -> bool:
        if not self._is_own(url):
            return False
        path = URL(url).pathname
        if self.limits.below and not path.startswith(URL(self.url).pathname.rpartition("/")[0] + "/"):
            return False
        if self.limits.include and not self.limits.include.found_in(path):
            return False
        return not self.limits.exclude.found_in(path)


def _address(url: str) -> str:
    """The address of a page in its usual spelling; raises a cause where it is none."""
    try:
        parsed = URL(url)
    except ValueError:
        raise BAD_URL(url=url[:120], why=Text("network.reason.invalid")) from None
    if parsed.protocol not in ("http:", "https:"):
        raise BAD_URL(url=url[:120], why=Text("network.reason.scheme"))
    return parsed.href


def is_page_address(url: str) -> bool:
    """Whether there could be a page at ``url``."""
    try:
        return bool(_address(url))
    except InvalidInput:
        return False


def _site(url: str) -> str:
    try:
        return URL(url).host.removeprefix("www.")
    except ValueError:
        return ""
