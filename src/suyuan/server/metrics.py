"""What the server did, counted for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Iterable, Mapping, Sized
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..chat.events import Answer, SearchFailed, SearchFinished
from ..core.errors import SuyuanError
from ..core.result import SearchPage
from ..core.tasks import TaskSet
from ..core.views import receipt
from ..pages.reader_pool import RESTART_REASONS, shared_readers

if TYPE_CHECKING:
    from ..chat.runs import Run

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_METHODS = ("GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS")


class Metrics:
    """The metrics of one server; ``streams`` are its open event streams."""

    def __init__(self, streams: Sized) -> None:
        # One registry per server: the library's global one would mix the servers of a process.
        own = self._registry = CollectorRegistry()
        self.requests = Counter(
            "suyuan_http_requests", "Requests by path, method and status.", ("path", "method", "status"), registry=own
        )
        self.request_seconds = Histogram(
            "suyuan_http_request_seconds", "Time of requests other than streams.", buckets=_BUCKETS, registry=own
        )
        self._searches = Counter(
            "suyuan_searches", "Requests to engines, by outcome.", ("engine", "outcome"), registry=own
        )
        self._turns = Counter("suyuan_turns", "Answers by mode and outcome.", ("mode", "outcome"), registry=own)
        self._turn_seconds = Histogram("suyuan_turn_seconds", "Time of answers.", buckets=_BUCKETS, registry=own)
        self.running: set[Run] = set()
        """The answers that are being written."""
        Gauge("suyuan_turns_running", "Answers being written.", registry=own).set_function(lambda: len(self.running))
        Gauge("suyuan_streams_open", "Open event streams.", registry=own).set_function(lambda: len(streams))
        own.register(_ReaderRestarts())
        self._following = TaskSet()

    def render(self, accept: str) -> tuple[bytes, str]:
        """The metrics in the format that an ``Accept`` header asks for, and its content type."""
        encode, content_type = choose_encoder(accept)
        return encode(self._registry), content_type

    def follow(self, run: Run) -> None:
        """Count ``run`` as running, and by its outcome when it has ended."""
        self.running.add(run)
        self._following.start(self._count_run(run))

    def count_search(self, receipt: Iterable[Mapping[str, Any]]) -> None:
        """Count what each engine of one search did."""
        for attempt in receipt:
            self._searches.labels(attempt["engine"], attempt["outcome"]).inc()

    async def counted(self, searching: Awaitable[SearchPage]) -> SearchPage:
        """The page that a search finds, or what it raises; what each engine did is counted."""
        try:
            page = await searching
        except SuyuanError as error:
            self.count_search(receipt(error.attempts))
            raise
        # A cached result was counted when it was searched for.
        if not page.cached:
            self.count_search(receipt(page.attempts))
        return page

    def count_event(self, event: object) -> None:
        """Count a search or an answer."""
        if isinstance(event, SearchFinished | SearchFailed):
            # A cached result was counted when it was searched for.
            if not getattr(event, "cached", False):
                self.count_search(event.receipt)
        elif isinstance(event, Answer):
            self._turns.labels(event.mode, _outcome(event)).inc()
            self._turn_seconds.observe(event.took_ms / 1000)

    async def _count_run(self, run: Run) -> None:
        try:
            # Counted at the end, all at once: waking up for every word would cost more than counting.
            await run.wait()
            async for _, event in run.follow():
                self.count_event(event)
        finally:
            self.running.discard(run)


class _ReaderRestarts(Collector):
    """The readers that were replaced, which the pool of the process counts itself."""

    def collect(self) -> Iterable[Metric]:
        """The count by reason."""
        family = CounterMetricFamily(
            "suyuan_reader_restarts", "Processes that read pages and were replaced.", labels=("reason",)
        )
        for reason in RESTART_REASONS:
            family.add_metric((reason,), shared_readers.restarts(reason))
        yield family


class MetricsMiddleware:
    """Counts every request by its route."""

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
            # Only known paths and methods: requests for invented ones must not fill the memory with names.
            path = getattr(scope.get("route"), "path", "") or "other"
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.requests.labels(path, method, status).inc()
            if not stream:
                self._metrics.request_seconds.observe(time.perf_counter() - started)


def _outcome(answer: Answer) -> str:
    if answer.stopped:
        return "stopped"
    return "failed" if answer.failure else "unverified" if answer.unverified else "ok"
