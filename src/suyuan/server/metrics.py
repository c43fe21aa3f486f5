"""What the server did, counted, in the text form that Prometheus reads."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..chat.events import Answer, SearchFailed, SearchFinished

if TYPE_CHECKING:
    from ..chat.runs import Run

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
Labels = tuple[tuple[str, str], ...]


class Histogram:
    """How often something took how long, in seconds."""

    def __init__(self) -> None:
        self._counts = [0] * (len(_BOUNDS) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self._counts[bisect_left(_BOUNDS, seconds)] += 1
        self._sum += seconds

    def lines(self, name: str) -> Iterable[str]:
        """The text form."""
        below = 0
        for bound, count in zip((*map(str, _BOUNDS), "+Inf"), self._counts, strict=True):
            below += count
            yield f'{name}_bucket{{le="{bound}"}} {below}'
        yield f"{name}_sum {self._sum:.6f}"
        yield f"{name}_count {below}"


class Metrics:
    """All counts of one server."""

    def __init__(self) -> None:
        self.requests: Counter[Labels] = Counter()
        self.searches: Counter[Labels] = Counter()
        self.turns: Counter[Labels] = Counter()
        self.seconds = Histogram()
        self.turn_seconds = Histogram()
        self.running: set[Run] = set()
        """The answers that are under way."""
        self._following: set[asyncio.Task[None]] = set()

    def follow(self, run: Run) -> None:
        """Count ``run`` now, and what it did when it has ended."""
        self.running.add(run)
        task = asyncio.create_task(self._ended(run))
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    def searched(self, receipt: Iterable[Mapping[str, Any]]) -> None:
        """Count what each engine of one search did."""
        for attempt in receipt:
            self.searches[("engine", str(attempt["engine"])), ("outcome", str(attempt["outcome"]))] += 1

    def answered(self, answer: Answer) -> None:
        """Count one turn."""
        outcome = (
            "stopped" if answer.stopped else "failed" if answer.failure else "unverified" if answer.unverified else "ok"
        )
        self.turns[("mode", answer.mode), ("outcome", outcome)] += 1
        self.turn_seconds.add(answer.took_ms / 1000)

    def take(self, event: object) -> None:
        """Count what an event tells of."""
        if isinstance(event, SearchFinished | SearchFailed):
            # What came out of a cache was counted when it was searched.
            if not getattr(event, "cached", False):
                self.searched(event.receipt)
        elif isinstance(event, Answer):
            self.answered(event)

    async def _ended(self, run: Run) -> None:
        try:
            # Counted at the end, all at once: to be woken by every word would cost more than to count.
            await run.wait()
            async for _, event in run.follow():
                self.take(event)
        finally:
            self.running.discard(run)

    def text(self, streams: int = 0) -> str:
        """Everything, as text."""
        lines = [
            *_counter("suyuan_http_requests_total", "Requests by path, method and status.", self.requests),
            *_counter("suyuan_searches_total", "Engines asked, by outcome.", self.searches),
            *_counter("suyuan_turns_total", "Answers by mode and outcome.", self.turns),
            *_gauge("suyuan_turns_running", "Answers under way.", len(self.running)),
            *_gauge("suyuan_streams_open", "Open event streams.", streams),
            "# HELP suyuan_http_request_seconds Time of requests other than streams.",
            "# TYPE suyuan_http_request_seconds histogram",
            *self.seconds.lines("suyuan_http_request_seconds"),
            "# HELP suyuan_turn_seconds Time of answers.",
            "# TYPE suyuan_turn_seconds histogram",
            *self.turn_seconds.lines("suyuan_turn_seconds"),
        ]
        return "\n".join(lines) + "\n"


class Counting:
    """Counts every request by the route that took it."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and count it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status, stream = time.perf_counter(), 0, False

        async def counted(message: Message) -> None:
            nonlocal status, stream
            if message["type"] == "http.response.start":
                status = message["status"]
                stream = any(
                    name == b"content-type" and value.startswith(b"text/event-stream")
                    for name, value in message["headers"]
                )
            await send(message)

        try:
            await self._app(scope, receive, counted)
        finally:
            # Only paths that exist: whoever asks for others must not fill the memory with names.
            path = getattr(scope.get("route"), "path", "") or "other"
            self._metrics.requests[("path", path), ("method", _method(scope)), ("status", str(status))] += 1
            if not stream:
                self._metrics.seconds.add(time.perf_counter() - started)


def _method(scope: Scope) -> str:
    method = str(scope["method"])
    return method if method in ("GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS") else "other"


def _counter(name: str, about: str, counts: Counter[Labels]) -> list[str]:
    rows = [f"{name}{{{_labels(labels)}}} {count}" for labels, count in sorted(counts.items())]
    return [f"# HELP {name} {about}", f"# TYPE {name} counter", *rows]


def _labels(labels: Labels) -> str:
    return ",".join(f'{key}="{_quoted(value)}"' for key, value in labels)


def _gauge(name: str, about: str, value: int) -> list[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} gauge", f"{name} {value}"]


def _quoted(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
