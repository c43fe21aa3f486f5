"""Traces: one for each request, through search, engine, model and store, without what people ask."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")
pytest.importorskip("opentelemetry.sdk", reason="the optional extra suyuan[otel] is not installed")

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from server.serving import ROWS, client, serving, settings_of
from support.oai import reply, serve_model
from support.talk import openai
from support.timing import PATIENCE
from suyuan.core import spans

QUESTION = "When was Python 3.14 released, says walrus?"
PARENT = "0af7651916cd43dd8448eb211c80319c"


class Collector:
    """A collector of OpenTelemetry, which is also the SearXNG that is asked."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    @property
    def spans(self) -> list[Any]:
        told = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [span for each in told for one in each.resource_spans for part in one.scope_spans for span in part.spans]


@pytest.fixture
def collector() -> Iterator[tuple[Collector, str]]:
    made = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path == "/v1/traces":
                made.bodies.append(gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body)
            found = {"query": "q", "results": ROWS, "unresponsive_engines": []}
            data = b"" if self.path == "/v1/traces" else json.dumps(found).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, name="collector")
    thread.start()
    yield made, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def named(span: Any) -> dict[str, Any]:
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}


async def test_a_trace_goes_through_search_model_and_store(collector: tuple[Collector, str], tmp_path: Path) -> None:
    found, url = collector
    with serve_model([[reply("It was released in 2025 [1].")]]) as model:
        settings = settings_of(url, data=tmp_path, model=openai(model.url))
        settings = replace(settings, otlp_url=url, search=replace(settings.search, default="searxng"))
        with serving(settings) as served:
            async with client(served.url) as ask, asyncio.timeout(PATIENCE):
                parent = f"00-{PARENT}-b7ad6b7169203331-01"
                _, page = await ask("POST", "/api/search", {"query": QUESTION}, traceparent=parent)
                id = await ask.conversation(search=True)
                run = await ask.ask(id, QUESTION)
                await ask.answer(run)
        # Everything is sent before the server has ended.
    assert spans.span("x") is spans.span("y"), "nobody collects any more"
    sent = found.spans
    by_id = {span.span_id: span for span in sent}
    own = [span for span in sent if span.trace_id.hex() == PARENT]
    assert {"POST /api/search", "search", "engine"} <= {span.name for span in own}, "the trace of the caller goes on"
    [engine] = [span for span in own if span.name == "engine"]
    assert by_id[engine.parent_span_id].name == "search"
    assert named(engine) == {"suyuan.engine": "searxng", "suyuan.trace_id": page["provider_meta"]["trace_id"]}, (
        "that of the receipt"
    )
    answered = [span for span in sent if named(span).get("suyuan.trace_id") == run]
    assert {"search", "engine", "model"} <= {span.name for span in answered}
    [trace] = {span.trace_id for span in answered}
    names = [span.name for span in sent if span.trace_id == trace]
    assert "store.write" in names and "POST /api/conversations/{id}/messages" in names
    read = [span for span in sent if span.trace_id == trace and span.name == "read"]
    assert read and all(named(span)["suyuan.host"] == "python.example" and span.status.code == 2 for span in read)
    told = b"".join(found.bodies)
    assert b"walrus" not in told and id.encode() not in told, "what people ask stays here"
