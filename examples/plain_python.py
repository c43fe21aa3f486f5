"""Search from plain Python, and print what each engine did."""

from __future__ import annotations

import sys

import suyuan


def main(question: str, engines: str) -> None:
    """Search for ``question`` and print the results, or the cause and the hint."""
    try:
        page = suyuan.search(question, engines=engines, count=3)
    except suyuan.SuyuanError as error:
        print(f"{error.code}: {error.message}\n{error.hint}")
        return
    for result in page.results:
        print(f"{result.rank}. {result.title}\n   {result.url}\n   {result.snippet}")
    for attempt in page.attempts:
        print(f"[{attempt.engine}: {attempt.outcome}, {attempt.latency_ms} ms]")


if __name__ == "__main__":
    main(" ".join(sys.argv[2:]) or "what is a receipt", sys.argv[1] if len(sys.argv) > 1 else "stub")
