"""``Tracing``: sends the spans of this process to a collector of OpenTelemetry, by OTLP over HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..core.causes.live import OTEL_MISSING
from ..core.errors import SuyuanError
from ..core.spans import Value, collect

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Of these there are some with every beat of a clock; alone they say nothing.
_ONLY_WITHIN = ("store",)


class Tracing:
    """Collects until it is closed; what was not sent then is sent."""

    def __init__(self, url: str, version: str) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ModuleNotFoundError:
            raise OTEL_MISSING() from None
        resource = Resource.create({"service.name": "suyuan", "service.version": version})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        # In a thread of its own: a collector that is away costs nobody time, and what is too much is dropped.
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{url.rstrip('/')}/v1/traces")))
        self._tracer = self._provider.get_tracer("suyuan", version)
        collect(self.start)

    @contextmanager
    def start(self, name: str, attributes: Mapping[str, Value], context: Any = None) -> Iterator[Any]:
        """Begin a span within the one that is under way; an error that leaves it is named by its code alone."""
        from opentelemetry.trace import Status, StatusCode, get_current_span

        if name.startswith(_ONLY_WITHIN) and not get_current_span().get_span_context().is_valid:
            yield None
            return
        named = {f"suyuan.{key}": value for key, value in attributes.items()}
        # Its own words may hold what somebody asked for.
        quiet: dict[str, Any] = {"record_exception": False, "set_status_on_exception": False}
        with self._tracer.start_as_current_span(name, context, attributes=named, **quiet) as span:
            try:
                yield span
            except Exception as error:
                code = error.detail_code if isinstance(error, SuyuanError) else type(error).__name__
                span.set_attribute("error.type", code)
                span.set_status(Status(StatusCode.ERROR))
                raise

    def close(self) -> None:
        """Send what is left."""
        collect(None)
        self._provider.shutdown()


class TracingMiddleware:
    """A span for each request, within that of the caller where it names one (``traceparent``)."""

    def __init__(self, app: ASGIApp, tracing: Tracing) -> None:
        self._app = app
        self._tracing = tracing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        context = TraceContextTextMapPropagator().extract(headers)
        with self._tracing.start("request", {}, context) as span:

            async def noted(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                await send(message)

            try:
                await self._app(scope, receive, noted)
            finally:
                # The route and not the path, which may hold an id.
                route = getattr(scope.get("route"), "path", "") or "other"
                span.update_name(f"{scope['method']} {route}")
                span.set_attribute("http.route", route)
