"""The application: every route, inside every check."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from sse_starlette.sse import AppStatus
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .. import __version__
from ..client import AsyncClient
from ..config.settings import ServerSettings
from ..core.errors import SuyuanError
from . import api, openai, page, searxng
from . import errors as failures
from .health import Health
from .limits import BodyLimit, Streams
from .metrics import Metrics, MetricsMiddleware
from .security import INTERFACES, Security
from .sse import ClientGone

log = logging.getLogger("suyuan.server")

# How long running answers may take to end when the server stops.
_STOPPING = 5.0
_PRELOAD_DELAY = 1.5
_TEND_EVERY = 600.0
# How long a deleted conversation can be brought back.
_DELETED_KEPT = 30 * 86_400
_PRELOADED = ("suyuan.embedded.model", "langchain.agents", "suyuan.llm.openai_compatible")


def create_app(client: AsyncClient, *, origin: ServerSettings) -> FastAPI:
    """The server of ``house`` at ``origin``; ending the application closes the house."""
    app = FastAPI(
        title="Suyuan 溯源",
        version=__version__,
        summary="Web search that says what happened, and answers whose every sentence can be traced.",
        openapi_url="/api/openapi.json",
        # The pages that show an OpenAPI document load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
        exception_handlers=_HANDLERS,
    )
    app.state.client = client
    app.state.origin = origin
    app.state.streams = Streams()
    app.state.metrics = Metrics(app.state.streams)
    app.state.health = Health(client)
    app.state.preloader = Preloader()
    for router in (api.router, api.plain, openai.router, searxng.router, page.router):
        app.include_router(router)
    # The last one added is the first to see a request.
    app.add_middleware(searxng.RootSearch)
    app.add_middleware(UnhandledErrors)
    app.add_middleware(BodyLimit)
    app.add_middleware(Security, origin=origin)
    app.add_middleware(MetricsMiddleware, metrics=app.state.metrics)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    # What the first page needs, before anybody can ask for it.
    page.warm()
    with contextlib.suppress(SuyuanError):
        # A store that cannot be opened is said, with its cure, by whatever needs it.
        app.state.client.chat  # noqa: B018 - looking at it opens it
    # drain() ends the streams, and only after the answers that they follow.
    AppStatus.disable_automatic_graceful_drain()  # type: ignore[no-untyped-call]
    app.state.health.start()
    app.state.preloader.start()
    tending = asyncio.create_task(_tend(app))
    try:
        yield
    finally:
        tending.cancel()
        await quiet(app)
        await app.state.preloader.close()
        await app.state.client.close()


async def _tend(app: FastAPI) -> None:
    """Keep the store in order: answers whose writer has died elsewhere are marked, and what was deleted long ago goes."""
    while True:
        # Not in the first moments, which belong to whoever has just started it.
        await asyncio.sleep(_TEND_EVERY)
        try:
            store = app.state.client.chat.store
            await asyncio.to_thread(store.sweep)
            await asyncio.to_thread(store.purge, _DELETED_KEPT)
        except SuyuanError as error:
            log.warning("the store could not be put in order: %s", error.message)


async def quiet(app: FastAPI) -> None:
    """Stop the answers that are under way (they are kept), then end all streams; safe to do twice."""
    await app.state.health.close()
    runs = list(app.state.metrics.running)
    for run in runs:
        run.stop()
    if runs:
        # Those who follow are told that it was stopped before their streams end.
        await asyncio.wait([asyncio.ensure_future(run.wait()) for run in runs], timeout=_STOPPING)
        await asyncio.sleep(0.05)
    app.state.streams.close()


class Preloader:
    """Imports what answers need while the server already listens; an early question waits for it, other requests do not."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()
        self._closed = False

    def start(self) -> None:
        """Start shortly after the server, which has the first page to deliver."""
        self._task = asyncio.create_task(self._run())

    async def wait(self) -> None:
        """Wait until everything is imported."""
        self._wanted.set()
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """End with the module that is being imported."""
        self._closed = True
        await self.wait()

    async def _run(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._wanted.wait(), _PRELOAD_DELAY)
        await asyncio.to_thread(self._load)

    def _load(self) -> None:
        for name in _PRELOADED:
            if not self._closed:
                # A missing module is reported when it is needed.
                with contextlib.suppress(ImportError):
                    import_module(name)


# --- failures ----------------------------------------------------------------------------------------------------------
def _answer(request: Request, error: SuyuanError, status: int | None = None) -> Response:
    """A failure: as a page for people, as JSON for programs."""
    if (
        request.method == "GET"
        and failures.accepts_html(request.headers)
        and not request.url.path.startswith(INTERFACES)
    ):
        return page.error_page(request, error, status)
    return failures.failure(request, error, status)


async def _on_failure(request: Request, error: Any) -> Response:
    return _answer(request, error)


async def _on_validation(request: Request, error: Any) -> Response:
    return _answer(request, failures.of_validation(error.errors()))


async def _on_http(request: Request, error: Any) -> Response:
    return _answer(request, failures.of_http(request, error), error.status_code)


async def _on_gone(request: Request, error: Any) -> Response:
    # Nobody reads it; proxies write this status into their logs for the same thing.
    return Response(status_code=499)


class UnhandledErrors:
    """Answers where our own code failed; inside the other checks, so that this answer too has their headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and catch what comes back."""
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception:
            if scope["type"] != "http" or started:
                raise
            # The outermost edge: the log gets the whole of it, the client that something went wrong.
            log.exception("%s %s failed inside", scope["method"], scope["path"])
            await failures.failure(HTTPConnection(scope), failures.unexpected(), 500)(scope, receive, send)


_HANDLERS: dict[int | type[Exception], Any] = {
    SuyuanError: _on_failure,
    RequestValidationError: _on_validation,
    HTTPException: _on_http,
    ClientGone: _on_gone,
}
