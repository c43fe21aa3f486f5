"""``check_engine``: whether an engine tells apart everything that a server can answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..core.engine import EngineSettings, SearchEngine
from ..core.foreign_engine import ForeignEngine, adapted
from ..core.query import SearchQuery
from ..core.secret import Secret
from ..core.sync_bridge import SyncBridge
from ..core.wire import Request, Response
from ..net.network import Network, PageAccess, restricted_send
from ..net.settings import BrowserSettings, NetSettings
from ..search.runner import EngineReply, EngineRunner
from .server import AnswerServer, ServerAnswer

Body = bytes | str | Mapping[str, Any] | Callable[[str], "bytes | str | Mapping[str, Any]"]

_KEY = "sk-conformance-0123456789"
_CHALLENGE = (
    b"<!DOCTYPE html><html><head><title>Just a moment...</title></head><body><form id='challenge-form' action='/x'>"
    b"<div class='cf-turnstile'></div></form><script src='https://challenges.cloudflare.com/turnstile/v0/api.js'></script>"
)
_OTHER_PAGE = b"<!DOCTYPE html><html><body><h1>Welcome</h1><p>This domain is parked.</p></body></html>"
_GARBAGE = bytes(range(256)) * 16
_UNREAD = ("WebParseError", "WebProviderError", "NetworkError")
"""An answer of another server: it cannot be read, or the engine says that it is not its own."""
_SECONDS = 20.0
_SLOW = 0.2


@dataclass(frozen=True, slots=True)
class Case:
    """One answer of a server, and how an engine may report it."""

    name: str
    answer: ServerAnswer
    codes: tuple[str, ...]
    """The error codes that describe it; empty if it is no error."""
    wanted: str
    detail_code: str = ""
    retry_after: float | None = None
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What an engine made of one case."""

    name: str
    problem: str = ""
    """What is wrong with it; empty if nothing is."""


CASES = (
    Case(
        "401",
        ServerAnswer(json.dumps({"error": f"bad key {_KEY}"}).encode(), 401),
        ("AuthError", "WebBlocked"),
        "AuthError",
    ),
    Case("403", ServerAnswer(b"", 403), ("WebBlocked", "AuthError"), "WebBlocked or AuthError"),
    Case(
        "429",
        ServerAnswer(b"", 429, {"Retry-After": "30"}),
        ("WebBlocked",),
        "WebBlocked with retry_after 30",
        retry_after=30.0,
    ),
    Case("500", ServerAnswer(b"<h1>Internal Server Error</h1>", 500), ("BadGateway",), "BadGateway"),
    Case("503", ServerAnswer(b"", 503, {"Retry-After": "30"}), ("BadGateway",), "BadGateway"),
    Case("captcha", ServerAnswer(_CHALLENGE), ("WebBlocked",), "WebBlocked/captcha_required", "captcha_required"),
    Case(
        "captcha with 403",
        ServerAnswer(_CHALLENGE, 403),
        ("WebBlocked",),
        "WebBlocked/captcha_required",
        "captcha_required",
    ),
    Case("garbage", ServerAnswer(_GARBAGE), ("WebParseError",), "WebParseError"),
    Case("empty body", ServerAnswer(b""), _UNREAD, "WebParseError"),
    Case("another page", ServerAnswer(_OTHER_PAGE), _UNREAD, "WebParseError"),
    Case("other JSON", ServerAnswer(b'{"unexpected": true}'), _UNREAD, "WebParseError"),
    Case(
        "redirect",
        ServerAnswer(b"", 302, {"Location": "https://elsewhere.invalid/"}),
        ("NetworkError",),
        "NetworkError",
    ),
    Case("closed connection", ServerAnswer(closes=True), ("NetworkError",), "NetworkError"),
    Case("slow", ServerAnswer(hangs=True), ("Timeout",), "Timeout"),
)


def check_engine(
    engine: Callable[[EngineSettings], SearchEngine],
    *,
    ok: Body | None = None,
    empty: Body | None = None,
    query: str = '"ada lovelace" 1843',
    options: Mapping[str, Any] | None = None,
) -> list[CaseResult]:
    """Ask an engine with a server on loopback that gives every kind of answer, and raise if it misreads one.

    ``engine`` is called with its settings. ``ok`` and ``empty`` are answers with and without results: a body, data that
    becomes JSON, or a function from the path that is asked for to one of these; without them these two cases are left
    out. ``options`` are the engine's own settings. Raises ``AssertionError`` with everything that is wrong.
    """
    cases = [
        Case(name, ServerAnswer(_served(body)), (), f"outcome {name}", outcome=name)
        for name, body in (("ok", ok), ("empty", empty))
        if body is not None
    ]
    bridge = SyncBridge()
    try:
        with AnswerServer() as server:
            settings = EngineSettings(server.url, Secret(_KEY), options=options or {})
            results = bridge.run(_run(engine, settings, server, (*cases, *CASES), SearchQuery(query)))
    finally:
        bridge.close()
    name = getattr(engine, "name", getattr(engine, "__name__", "engine"))
    if problems := [f"  {result.name}: {result.problem}" for result in results if result.problem]:
        raise AssertionError("\n".join([f"{name} does not report everything as it is:", *problems]))
    return results


async def _run(
    engine: Callable[[EngineSettings], SearchEngine],
    settings: EngineSettings,
    server: AnswerServer,
    cases: tuple[Case, ...],
    query: SearchQuery,
) -> list[CaseResult]:
    # It loads the answers of this check, which are no pages of others.
    network = Network(NetSettings(), BrowserSettings(allow_unsandboxed=True), PageAccess())
    network.prepare()
    results = []
    try:
        for case in cases:
            server.answer = case.answer
            server.paths.clear()
            seconds = _SLOW if case.answer.hangs else _SECONDS
            reply = await _runner(engine, settings, network).run(query, seconds)
            if case.answer.hangs and not server.paths:
                # A busy machine: the time was over before the request was sent.
                reply = await _runner(engine, settings, network).run(query, 10 * _SLOW)
            problem = _problem(case, reply)
            if not problem and not server.paths:
                problem = "the engine asked nothing of its base_url (settings.base_url)"
            results.append(CaseResult(case.name, problem))
        if getattr(engine, "api_key_env", ""):
            reply = await _runner(engine, replace(settings, api_key=Secret("")), network).run(query, _SECONDS)
            outcome = _outcome(reply)
            problem = "" if outcome == "AuthError/key_missing" else f"expected AuthError/key_missing, found {outcome}"
            results.append(CaseResult("no key", problem))
    finally:
        await network.close()
    return results


def _runner(
    engine: Callable[[EngineSettings], SearchEngine], settings: EngineSettings, network: Network
) -> EngineRunner:
    made = adapted(engine(settings))
    if isinstance(made, ForeignEngine):
        return EngineRunner(made)

    async def send(request: Request, name: str) -> Response:
        # The answers are the same for a browser, which need not be installed here.
        return await network.send(replace(request, via="http"), name)

    return EngineRunner(made, restricted_send(send, made.name, made.base_url, made.redirect_hosts))


def _problem(case: Case, reply: EngineReply) -> str:
    error = reply.error
    if error and _KEY in f"{error.message} {error.hint}":
        return "the message shows the API key"
    if case.outcome:
        if reply.attempt.outcome != case.outcome:
            return _mismatch(case, reply)
        return _result_problem(case, reply)
    if error is None or error.detail_code == "engine_bug":
        return _mismatch(case, reply)
    if error.code not in case.codes:
        return _mismatch(case, reply)
    if case.detail_code and error.detail_code != case.detail_code:
        return _mismatch(case, reply)
    if case.retry_after and error.retry_after != case.retry_after:
        return _mismatch(case, reply)
    return ""


def _result_problem(case: Case, reply: EngineReply) -> str:
    if reply.results is None:
        return ""
    for result in reply.results.results:
        if not result.title or not result.url.startswith(("http://", "https://")):
            return f"a result without a title or an http(s) address: {result}"
        if result.engine != reply.attempt.engine:
            return f"a result whose engine is {result.engine!r} instead of {reply.attempt.engine!r}"
    return ""


def _mismatch(case: Case, reply: EngineReply) -> str:
    return f"expected {case.wanted}, found {_outcome(reply)}"


def _outcome(reply: EngineReply) -> str:
    error = reply.error
    if error is None:
        return f"outcome {reply.attempt.outcome}"
    if error.detail_code == "engine_bug":
        return f"a fault in the engine's code ({error.message})"
    retry_after = "" if error.retry_after is None else f" with retry_after {error.retry_after:g}"
    return f"{error.code}/{error.detail_code}{retry_after}"


def _served(body: Body) -> bytes | Callable[[str], bytes]:
    if callable(body):
        return lambda path: _bytes(body(path))
    return _bytes(body)


def _bytes(body: bytes | str | Mapping[str, Any]) -> bytes:
    if isinstance(body, bytes):
        return body
    return (body if isinstance(body, str) else json.dumps(body)).encode("utf-8")
