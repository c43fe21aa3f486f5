"""An OpenAI-compatible model server on loopback that does what a script tells it to, also what no proper server would do.

    with serve_model([
        [think("hm, "), tool_call("web_search", {"query": "x"})],  # the answer to the first request
        reply("Found it [1].", delay=0.01),                        # to the second and, being the last, to all that follow
    ]) as server:
        settings = ModelSettings("openai", "test-model", server.url)
        ...
        assert server.requests[0].tools == ["web_search"]

A script is a list with one entry per request: a step, or a list of steps that are sent one after the other. An entry may
also be a function of the request that returns steps. Steps: :func:`reply`, :func:`think`, :func:`tool_call`,
:func:`usage`, :func:`finish`, :func:`stall`, :func:`hold`, and those that end the answer: :func:`drop`, :func:`stream_error`,
:func:`error`, :func:`raw`.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_PIECES = re.compile(r"\S+\s*|\s+")


@dataclass(frozen=True)
class Step:
    """One thing that the server does; made by the functions below."""

    kind: str
    text: str = ""
    delay: float = 0.0
    name: str = ""
    pieces: tuple[str, ...] = ()
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    counts: tuple[int, int] = (0, 0)
    event: threading.Event | None = None


@dataclass(frozen=True)
class EngineReply:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.body.get("messages", [])
        return messages

    @property
    def tools(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.body.get("tools", [])]

    @property
    def text(self) -> str:
        """All that the model was given to read."""
        return "\n".join(str(message.get("content") or "") for message in self.messages)


Answering = Step | Sequence[Step] | Callable[[EngineReply], Step | Sequence[Step]]


def reply(text: str, delay: float = 0.0) -> Step:
    """Text, a word a chunk, with ``delay`` seconds before each."""
    return Step("text", text, delay)


def think(text: str, delay: float = 0.0) -> Step:
    """Reasoning (``reasoning_content``), a word a chunk."""
    return Step("think", text, delay)


def tool_call(name: str, arguments: dict[str, Any] | str, pieces: int = 3, delay: float = 0.0) -> Step:
    """A tool call: its name first, its arguments in ``pieces``; several of them in one answer are parallel calls."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    size = max(1, -(-len(text) // pieces))
    return Step("call", text, delay, name, tuple(text[at : at + size] for at in range(0, len(text), size)))


def usage(prompt: int, completion: int) -> Step:
    """The counts to send in place of the usual ones (10 and the number of chunks)."""
    return Step("usage", counts=(prompt, completion))


def finish(reason: str) -> Step:
    """The ``finish_reason`` to send in place of the usual one, e.g. ``length`` or ``content_filter``."""
    return Step("finish", reason)


def stall(seconds: float = 60.0) -> Step:
    """Say nothing for that long, or until the test is over."""
    return Step("stall", delay=seconds)


def hold(event: threading.Event) -> Step:
    """Say nothing until ``event`` is set, or until the test is over."""
    return Step("hold", event=event)


def drop(after: str = "") -> Step:
    """Send ``after``, then cut the connection in the middle of the answer."""
    return Step("drop", after)


def stream_error(message: str, code: str | int = "server_error") -> Step:
    """An error object in the middle of the stream, as servers send that have already said 200."""
    return Step("stream_error", json.dumps({"error": {"message": message, "type": "server_error", "code": code}}))


def error(status: int, body: str | dict[str, Any] = "", headers: dict[str, str] | None = None) -> Step:
    """An HTTP error; a text becomes OpenAI's error object, a dict is sent as it is."""
    content = (
        {"error": {"message": body, "type": "invalid_request_error", "code": None}} if isinstance(body, str) else body
    )
    return Step(
        "raw",
        json.dumps(content),
        status=status,
        headers=(("Content-Type", "application/json"), *(headers or {}).items()),
    )


def raw(body: str, kind: str = "text/html", status: int = 200) -> Step:
    """Any body at all, with any content type."""
    return Step("raw", body, status=status, headers=(("Content-Type", kind),))


@dataclass
class ModelServer:
    """A running server: its address for ``base_url``, what it was asked, and how many clients left in mid-stream."""

    script: Sequence[Answering]
    url: str = ""
    requests: list[EngineReply] = field(default_factory=list)
    gone: int = 0
    models: list[str] = field(default_factory=lambda: ["test-model"])
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, asked: EngineReply) -> list[Step]:
        """The steps for this request."""
        with self.lock:
            entry = self.script[min(len(self.requests), len(self.script) - 1)]
            self.requests.append(asked)
        steps = entry(asked) if callable(entry) else entry
        return [steps] if isinstance(steps, Step) else list(steps)


@contextmanager
def serve_model(script: Sequence[Answering] | Answering) -> Iterator[ModelServer]:
    """Run a model server on loopback for the length of a ``with`` block; it needs no event loop."""
    entries = [script] if isinstance(script, Step) or callable(script) else list(script)
    state = ModelServer(entries)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"state": state}))
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.over.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that hang up are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    state: ModelServer
    protocol_version = "HTTP/1.1"
    # Chunks must leave at once, as from a real server.
    wbufsize = 0
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        if self.path.endswith("/models"):
            self._send(
                200,
                json.dumps({"object": "list", "data": [{"id": name, "object": "model"} for name in self.state.models]}),
            )
        else:
            self._send(404, json.dumps({"detail": "Not Found"}))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        asked = EngineReply(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        steps = self.state.take(asked)
        if steps and steps[0].kind == "stall":
            self.state.over.wait(steps[0].delay)
            steps = steps[1:]
        if not steps or steps[0].kind == "raw":
            self._plain(steps)
        elif body.get("stream"):
            try:
                self._stream(asked, steps)
            except OSError:
                self.state.gone += 1
                self.close_connection = True
        else:
            self._whole(asked, steps)

    def _plain(self, steps: list[Step]) -> None:
        step = steps[0] if steps else raw("")
        self._send(step.status, step.text, dict(step.headers))

    def _send(self, status: int, text: str, headers: dict[str, str] | None = None) -> None:
        data = text.encode()
        self.send_response(status)
        for name, value in (headers or {"Content-Type": "application/json"}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, asked: EngineReply, steps: list[Step]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        sent, counts, reason, calls = 0, None, "", 0
        self._event(_chunk(asked, {"role": "assistant", "content": ""}))
        for step in steps:
            if step.kind in ("drop", "stream_error"):
                self._end_badly(asked, step)
                return
            if step.kind == "usage":
                counts = step.counts
            elif step.kind == "finish":
                reason = step.text
            elif step.kind == "stall":
                self.state.over.wait(step.delay)
            elif step.kind == "hold":
                self._hold(step)
            else:
                for delta in _deltas(step, calls):
                    self._wait(step.delay)
                    self._event(_chunk(asked, delta))
                    sent += 1
                calls += step.kind == "call"
        self._event(_chunk(asked, {}, reason or ("tool_calls" if calls else "stop")))
        if (asked.body.get("stream_options") or {}).get("include_usage"):
            self._event({**_chunk(asked, {}), "choices": [], "usage": _usage(counts or (10, sent))})
        self._write(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _end_badly(self, asked: EngineReply, step: Step) -> None:
        if step.kind == "stream_error":
            self._write(f"data: {step.text}\n\n".encode())
            self.wfile.write(b"0\r\n\r\n")
            return
        for piece in _PIECES.findall(step.text):
            self._event(_chunk(asked, {"content": piece}))
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _whole(self, asked: EngineReply, steps: list[Step]) -> None:
        """The same script for a client that does not stream."""
        if any(step.kind == "drop" for step in steps):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        text = {kind: "".join(step.text for step in steps if step.kind == kind) for kind in ("text", "think", "finish")}
        message: dict[str, Any] = {"role": "assistant", "content": text["text"]}
        if text["think"]:
            message["reasoning_content"] = text["think"]
        if calls := [step for step in steps if step.kind == "call"]:
            message["tool_calls"] = [
                {"id": f"call_{at}", "type": "function", "function": {"name": call.name, "arguments": call.text}}
                for at, call in enumerate(calls)
            ]
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": text["finish"] or ("tool_calls" if calls else "stop"),
        }
        counts = next((step.counts for step in steps if step.kind == "usage"), (10, len(_PIECES.findall(text["text"]))))
        self._send(
            200,
            json.dumps(
                {**_chunk(asked, {}), "object": "chat.completion", "choices": [choice], "usage": _usage(counts)}
            ),
        )

    def _hold(self, step: Step) -> None:
        while step.event and not step.event.is_set() and not self.state.over.wait(0.02):
            pass

    def _wait(self, seconds: float) -> None:
        if seconds:
            self.state.over.wait(seconds)

    def _event(self, data: dict[str, Any]) -> None:
        text = json.dumps(data, ensure_ascii=False)
        # Half of a character can be sent as an escape only.
        halves = any("\ud800" <= sign <= "\udfff" for sign in text)
        self._write(b"data: " + (json.dumps(data) if halves else text).encode() + b"\n\n")

    def _write(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


def _chunk(asked: EngineReply, delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": asked.body.get("model", ""),
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    }


def _deltas(step: Step, index: int) -> Iterator[dict[str, Any]]:
    if step.kind == "call":
        head = {
            "index": index,
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": step.name, "arguments": ""},
        }
        yield {"tool_calls": [head]}
        for piece in step.pieces:
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
        return
    name = "reasoning_content" if step.kind == "think" else "content"
    for piece in _PIECES.findall(step.text):
        yield {name: piece}


def _usage(counts: tuple[int, int]) -> dict[str, int]:
    return {"prompt_tokens": counts[0], "completion_tokens": counts[1], "total_tokens": sum(counts)}
