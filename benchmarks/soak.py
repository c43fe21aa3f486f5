"""A long run: thousands of searches with a dead, a slow, a flapping and a lying engine, many at once, with restarts.

Nothing may go wrong in it: every page holds only genuine results for its own query, every failure is one of the error
tree and says when to try again, and memory, handles and tasks stay where they were after the first round.

All engines are on loopback, served by this process: ``ddg_html`` answers; ``bing_html`` answers something else (decoys);
``baidu_html`` flaps between answers, refusals, resets and empty pages; ``brave`` takes half a second; ``searxng`` is dead.
"""

from __future__ import annotations

import asyncio
import gc
import html
import json
import random
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from suyuan import AsyncClient, SearchPage, SuyuanError
from suyuan.config.settings import SearchSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.core.secret import Secret
from suyuan.search.engine_state import forget_states

from ._report import Target, table

SEARCHES, AT_ONCE, ROUNDS = 20_000, 300, 8
SLOW_SECONDS = 0.5
PLANS = (
    "auto",
    "ddg_html",
    "bing_html,ddg_html",
    "baidu_html,ddg_html",
    "searxng,bing_html,ddg_html",
    "ddg_html+bing_html+baidu_html",
    "ddg_html+brave",
    "bing_html",
)
_TOPICS = (
    "bloom filter",
    "tea pots",
    "copper mining",
    "river bridges",
    "night trains",
    "solar panels",
    "old violins",
    "sea ice",
)
_NOISE = (
    "The most popular things of the season and what people say about them, with pictures, prices and many comments."
)


@dataclass(slots=True)
class Report:
    """What happened in a run."""

    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    """Whatever must not happen, each with the search that showed it."""
    rss: list[int] = field(default_factory=list)
    handles: list[int] = field(default_factory=list)
    tasks: list[int] = field(default_factory=list)
    """After each round, when everything of it is closed."""

    @property
    def growth(self) -> float:
        """How much the memory has grown since the end of the first rounds, as a share."""
        settled = self.rss[min(1, len(self.rss) - 1)]
        return self.rss[-1] / settled - 1

    @property
    def leaks(self) -> int:
        """Handles and tasks that were not there after the first round."""
        return max(0, self.handles[-1] - self.handles[0]) + max(0, self.tasks[-1] - self.tasks[0])


def run() -> list[Target]:
    """Print what a long run did."""
    started = time.process_time()
    report = asyncio.run(soak(SEARCHES, AT_ONCE, ROUNDS))
    table("soak: outcomes", ("", ""), [(name, str(count)) for name, count in report.outcomes.most_common()])
    rows = [
        (str(i + 1), f"{rss / 1024:.0f}", str(handles), str(tasks))
        for i, (rss, handles, tasks) in enumerate(zip(report.rss, report.handles, report.tasks, strict=True))
    ]
    table("soak: after each round", ("round", "RSS, MB", "handles", "tasks"), rows)
    print(f"\n{time.process_time() - started:.0f} s of CPU")
    for line in report.wrong[:10]:
        print(f"  wrong: {line}")
    return [
        Target("soak, wrong answers and foreign exceptions", len(report.wrong), 0),
        Target("soak, growth of the memory after the second round, %", 100 * report.growth, 10),
        Target("soak, handles and tasks left behind", report.leaks, 0),
    ]


async def soak(searches: int, at_once: int, rounds: int) -> Report:
    """Search so many times in all; after each round the client is closed, and what it knew is read anew from disk."""
    report, chance = Report(), random.Random(20_261)
    web = _Web()
    async with web:
        with tempfile.TemporaryDirectory() as folder:
            for number in range(rounds):
                await _round(report, web, Path(folder), chance, searches // rounds, at_once, number)
                forget_states()
                gc.collect()
                await web.until_idle()
                report.rss.append(_rss())
                report.handles.append(_handles())
                report.tasks.append(len(asyncio.all_tasks()))
    return report


async def _round(
    report: Report, web: _Web, folder: Path, chance: random.Random, searches: int, at_once: int, number: int
) -> None:
    slots = asyncio.Semaphore(at_once)
    async with AsyncClient(_settings(web.urls, folder)) as client:

        async def one(query: str, plan: str) -> None:
            async with slots:
                try:
                    page = await client.search(query, engines=plan)
                except SuyuanError as error:
                    report.outcomes[f"{plan}: {error.detail_code}"] += 1
                    if error.retryable and not error.retry_after:
                        report.wrong.append(f"{query} [{plan}]: {error.detail_code} without retry_after")
                    if plan not in _MAY_FAIL:
                        report.wrong.append(f"{query} [{plan}]: {error.code}/{error.detail_code} {error.message}")
                except Exception as error:  # noqa: BLE001 - this is what is looked for
                    report.wrong.append(f"{query} [{plan}]: {type(error).__name__}: {error}")
                else:
                    report.outcomes[f"{plan}: {'ok' if page.results else 'empty'}"] += 1
                    report.wrong += _wrong(page, query, plan)

        work = []
        for i in range(searches):
            query = f"{chance.choice(_TOPICS)} history {number}-{i} museum catalogue"
            work.append(one(query, PLANS[i % len(PLANS)]))
        await asyncio.gather(*work)


_MAY_FAIL = ("bing_html",)
"""Plans whose only engine lies: their searches must fail, the others must not."""


def _wrong(page: SearchPage, query: str, plan: str) -> list[str]:
    """What is wrong with a page: results of another query, decoys, bad ranks, or no results."""
    topic = query.partition(" history")[0]
    found = []
    if plan in _MAY_FAIL or not page.results:
        found.append(f"{query} [{plan}]: {len(page.results)} results from {page.engine}")
    if any(topic not in result.title or query not in result.snippet for result in page.results):
        found.append(f"{query} [{plan}]: results of another query from {page.engine}")
    if [result.rank for result in page.results] != list(range(1, len(page.results) + 1)):
        found.append(f"{query} [{plan}]: wrong ranks")
    return found


def _settings(urls: dict[str, str], folder: Path) -> Settings:
    nowhere = "http://127.0.0.1:9"
    engines = {
        name: EngineSettings(
            base_url=urls.get(name, nowhere), api_key=Secret("k" if name == "brave" else ""), rate_per_minute=0
        )
        for name in ("searxng", "brave", "bocha", "ddg_html", "baidu_html", "bing_html")
    }
    # Long enough for a busy machine: a deadline that is missed is no fault that is looked for here.
    search = SearchSettings(cache_minutes=0.0, seconds=60.0)
    return Settings(search=search, engines=engines, state_dir=folder)


def _handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _rss() -> int:
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * resource.getpagesize() // 1024


# --- the engines ---------------------------------------------------------------------------------------------------
class _Web:
    """Four engines on loopback, each on a port of its own."""

    def __init__(self) -> None:
        self.urls: dict[str, str] = {}
        self._open = 0
        self._requests = 0
        self._servers: list[asyncio.Server] = []
        self._chance = random.Random(4)

    async def __aenter__(self) -> _Web:
        kinds: dict[str, Callable[[str], Awaitable[bytes | None]]] = {
            "ddg_html": self._honest, "bing_html": self._lying, "baidu_html": self._flapping, "brave": self._slow,
        }  # fmt: skip
        for name, answer in kinds.items():
            serve = partial(self._serve, answer=answer)
            server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
            self._servers.append(server)
            self.urls[name] = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()
            await server.wait_closed()

    async def until_idle(self) -> None:
        """Wait until all connections are closed."""
        for _ in range(1000):
            if not self._open:
                return
            await asyncio.sleep(0.01)

    async def _serve(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        answer: Callable[[str], Awaitable[bytes | None]],
    ) -> None:
        self._open += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(
                    (int(line[15:]) for line in head.lower().splitlines() if line.startswith(b"content-length:")), 0
                )
                body = (await reader.readexactly(length)).decode()
                params = parse_qs(urlsplit(head.split()[1].decode()).query or body)
                query = (params.get("q") or params.get("wd") or [""])[0]
                reply = await answer(query)
                if reply is None:
                    writer.transport.abort()
                    return
                writer.write(reply)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._open -= 1
            writer.close()

    async def _honest(self, query: str) -> bytes | None:
        rows = "".join(
            f'<div class="result results_links web-result"><h2 class="result__title"><a class="result__a" href="{url}">{title}</a></h2>'
            f'<a class="result__snippet" href="#">{text}</a></div>'
            for url, title, text in _rows(query, "honest")
        )
        return _http(f'<html><body><div id="links" class="results">{rows}</div></body></html>')

    async def _lying(self, query: str) -> bytes | None:
        rows = "".join(
            f'<li class="b_algo"><h2><a href="https://popular{i}.example/">Popular things {i}</a></h2>'
            f'<div class="b_caption"><p>{_NOISE}</p></div></li>'
            for i in range(10)
        )
        return _http(f'<html><body><ol id="b_results">{rows}</ol></body></html>')

    async def _flapping(self, query: str) -> bytes | None:
        self._requests += 1
        # Long stretches of each, so that the breaker opens and closes.
        mood = (self._requests // 40) % 5
        if mood == 1:
            return _http("Too many requests", "429 Too Many Requests", "Retry-After: 1\r\n")
        if mood == 2:
            return None
        if mood == 3:
            return _http("", "503 Service Unavailable") if self._chance.random() < 0.5 else _http("")
        rows = "".join(
            f'<div class="result c-container" mu="{url}"><h3><a href="{url}">{title}</a></h3><div class="c-abstract">{text}</div></div>'
            for url, title, text in _rows(query, "flapping")
        )
        return _http(f'<html><body><div id="content_left">{rows}</div></body></html>')

    async def _slow(self, query: str) -> bytes | None:
        await asyncio.sleep(SLOW_SECONDS)
        rows = [{"url": url, "title": title, "description": text} for url, title, text in _rows(query, "slow")]
        return _http(
            json.dumps({"type": "search", "web": {"type": "search", "results": rows}}), kind="application/json"
        )


def _rows(query: str, host: str) -> Sequence[tuple[str, str, str]]:
    """Ten results that are about ``query``: address, title, snippet."""
    topic = query.partition(" history")[0]
    shown = html.escape(query)
    return [
        (f"https://{host}{i}.example/{i}", f"All about {topic}, part {i}", f"Answer {i} to {shown}.") for i in range(10)
    ]


def _http(body: str, status: str = "200 OK", more: str = "", kind: str = "text/html; charset=utf-8") -> bytes:
    data = body.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n{more}\r\n"
    return head.encode() + data
