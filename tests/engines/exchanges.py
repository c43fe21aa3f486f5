"""Driving an engine without a network: its requests are collected, its responses are given."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from suyuan.core.engine import Engine
from suyuan.core.errors import SuyuanError
from suyuan.core.query import SearchQuery
from suyuan.core.result import EngineResults
from suyuan.core.wire import Request, Response

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


@dataclass
class Run:
    """The requests of an exchange, and how it ended."""

    requests: list[Request] = field(default_factory=list)
    outcome: EngineResults | SuyuanError | None = None

    @property
    def found(self) -> EngineResults:
        assert isinstance(self.outcome, EngineResults), self.outcome
        return self.outcome

    @property
    def error(self) -> SuyuanError:
        assert isinstance(self.outcome, SuyuanError), self.outcome
        return self.outcome

    @property
    def request(self) -> Request:
        assert len(self.requests) == 1, self.requests
        return self.requests[0]


def run(engine: Engine, query: SearchQuery | str, *responses: Response) -> Run:
    """Drive ``engine.exchange``: there must be exactly one response for each request."""
    done, waiting = Run(), list(responses)
    exchange = engine.exchange(SearchQuery(query) if isinstance(query, str) else query)
    try:
        done.requests.append(next(exchange))
        while waiting:
            done.requests.append(exchange.send(waiting.pop(0)))
        raise AssertionError(f"asked once more: {done.requests[-1].url}")
    except StopIteration as end:
        done.outcome = end.value
    except SuyuanError as error:
        done.outcome = error
    assert not waiting, f"{len(waiting)} answers were not asked for"
    return done


def first_request(engine: Engine, query: SearchQuery | str) -> Request:
    """The first request of the engine."""
    return next(engine.exchange(SearchQuery(query) if isinstance(query, str) else query))


def answer(
    body: str | bytes | dict[str, Any] | list[Any] | None, status: int = 200, url: str = "", **headers: str
) -> Response:
    """A response received at ``NOW``; data becomes JSON, and ``retry_after`` is the header ``retry-after``."""
    if isinstance(body, bytes):
        data, kind = body, "text/html; charset=utf-8"
    elif isinstance(body, str):
        data, kind = body.encode(), "text/html; charset=utf-8"
    else:
        data, kind = json.dumps(body).encode(), "application/json"
    return Response(
        status,
        data,
        url,
        {"content-type": kind} | {name.replace("_", "-"): text for name, text in headers.items()},
        NOW,
    )


def failure(engine: Engine, response: Response, query: SearchQuery | None = None) -> SuyuanError:
    """The error that parsing ``response`` raises."""
    try:
        found = engine.parse(response, query)
    except SuyuanError as error:
        return error
    raise AssertionError(f"no error, but {found}")


def sent(request: Request) -> dict[str, Any]:
    """The parameters of a request, from its query or its body."""
    if request.method == "GET":
        return dict(parse_qsl(urlsplit(request.url).query, keep_blank_values=True, strict_parsing=True))
    if request.headers["Content-Type"] == "application/json":
        return dict(json.loads(request.body))
    return dict(parse_qsl(request.body.decode("ascii"), keep_blank_values=True))


def address(request: Request) -> str:
    """The URL of a request without its parameters."""
    return request.url.partition("?")[0]
