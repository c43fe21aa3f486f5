"""Sends searches to a server from a process of its own, each with another query, and counts the results."""

from __future__ import annotations

import asyncio
import sys
import time
from itertools import count
from typing import Any
from urllib.parse import quote_plus

import aiohttp

from ._child import answer, leave, questions
from ._pages import words


class Load:
    """One server, one of its two search APIs, and the number of the first query."""

    def __init__(self, url: str, api: str, first: int, session: aiohttp.ClientSession) -> None:
        self._url, self._api, self._session = url, api, session
        self._numbers = count(first)

    async def search(self) -> int:
        """Search once and return the number of results."""
        query = words(next(self._numbers))
        if self._api == "searxng":
            request = self._session.get(f"{self._url}/search?format=json&q={quote_plus(query)}")
        else:
            request = self._session.post(f"{self._url}/api/search", json={"query": query})
        async with request as response:
            data: dict[str, Any] = await response.json(content_type=None)
            if response.status != 200:
                raise RuntimeError(f"HTTP {response.status}: {str(data)[:500]}")
            return len(data.get("results") or data.get("items") or ())

    async def step(self, searches: int, together: int) -> dict[str, float]:
        """Search so many times at such a concurrency."""
        turns, found, times = iter(range(searches)), [], []

        async def work() -> None:
            for _ in turns:
                began = time.perf_counter()
                found.append(await self.search())
                times.append(time.perf_counter() - began)

        started = time.perf_counter()
        await asyncio.gather(*(work() for _ in range(together)))
        seconds = time.perf_counter() - started
        return {"per_second": searches / seconds, "least": min(found), "p50": 1000 * sorted(times)[len(times) // 2]}


async def _serve(url: str, api: str, first: str) -> None:
    timeout = aiohttp.ClientTimeout(60)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout) as session:
        load = Load(url, api, int(first), session)
        waiting = iter(questions())
        while question := await asyncio.to_thread(next, waiting, None):
            answer(await load.step(*question))
    leave()


if __name__ == "__main__":
    asyncio.run(_serve(*sys.argv[1:4]))
