"""Search from plain Python, with the receipt of what each engine did."""

from __future__ import annotations

import asyncio
import sys

import suyuan


async def main(question: str, engines: str) -> None:
    """Search for ``question`` and print the results, or the cause and the cure."""
    async with suyuan.AsyncClient() as client:
        try:
            page = await client.search_service.search(question, engines=engines, count=3)
        except suyuan.SuyuanError as error:
            print(f"{error.code}: {error.message}\n{error.hint}")
            return
        for result in page.results:
            print(f"{result.rank}. {result.title}\n   {result.url}\n   {result.snippet}")
        for attempt in page.attempts:
            print(f"[{attempt.engine}: {attempt.outcome}, {attempt.latency_ms} ms]")


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[2:]) or "what is a receipt", sys.argv[1] if len(sys.argv) > 1 else "stub"))
