"""The application: routes, middleware, start and shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import math
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.datastructures import State
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .. import __version__
from ..chat.exports import Exports
from ..client import AsyncClient
from ..config.settings import ServerSettings
from ..core.allowance import current_allowance
from ..core.causes.web import SHUTTING_DOWN
from ..core.disk_errors import disk_error, is_of_disk
from ..core.errors import SuyuanError
from ..llm.importing import OPENAI, load
from ..llm.settings import EMBEDDED
from ..net.tracing import Tracing, TracingMiddleware
from ..store.accounts import Accounts
from ..store.conversation import new_id
from ..store.logins import InStore, Logins
from . import (
    api,
    browser_integration,
    demo,
    draft,
    engines,
    library,
    models,
    notices,
    page,
    people_api,
    research,
    research_page,
    settings_page,
    share,
    source_page,
    static_files,
)
from . import errors as failures
from .compat import (
    anthropic_messages,
    brave,
    firecrawl,
    firecrawl_crawls,
    jina,
    openai_chat,
    openai_responses,
    openwebui,
    searxng,
    tavily,
)
from .compat.crawls import Crawls
from .cookies import Cookies
from .direct import DirectRoutesMiddleware
from .error_forms import accepts_html
from .health import Health
from .layout import Layout
from .limits import BodyLimitMiddleware, OpenStreams
from .metrics import Metrics, MetricsMiddleware
from .openid import OpenIdLogin
from .quotas import Quotas
from .security import INTERFACES, SecurityMiddleware
from .set_aside import AtWorkMiddleware

log = logging.getLogger("suyuan.server")

PAGES = (
    browser_integration, draft, models, page, research_page, settings_page, share, source_page, static_files,
)  # fmt: skip
_COMPATIBLE = (
    openai_chat, openai_responses, anthropic_messages, tavily, firecrawl, firecrawl_crawls, jina, brave, openwebui,
)  # fmt: skip

# How long running answers may take to end when the server stops.
_DRAIN_SECONDS = 5.0
_PRELOAD_DELAY = 1.5
_SWEEP_SECONDS = 5.0
_MAINTENANCE_SECONDS = 3600.0
_CLOCK_SECONDS = 600.0
# How long a deleted conversation can be restored.
_DELETED_SECONDS = 30 * 86_400
_MODEL_LIBRARIES = ("langchain.agents", OPENAI)


def create_app(client: AsyncClient, *, origin: ServerSettings) -> FastAPI:
    """The server of ``client`` at ``origin``; shutting it down closes the client."""
    app = FastAPI(
        title="Suyuan 溯源",
        version=__version__,
        summary="Web search that says what happened, and answers whose every sentence can be traced.",
        openapi_url="/api/openapi.json",
        # Their pages load scripts from other hosts.
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
        exception_handlers=dict[Any, Any](_HANDLERS),
    )
    _set_state(app.state, client, origin)
    own = (engines, library, research, people_api, notices)
    routers = [module.router for module in (*own, *_COMPATIBLE, *PAGES, demo)]
    for router in (searxng.router, api.web, api.router, api.monitoring, *routers):
        app.include_router(router)
    _add_middleware(app, client, origin)
    return app


def _set_state(state: State, client: AsyncClient, origin: ServerSettings) -> None:
    """What all routes share."""
    state.client = client
    state.origin = origin
    state.streams = OpenStreams(origin)
    state.metrics = Metrics(state.streams)
    state.health = Health(client)
    state.preloader = Preloader(_MODEL_LIBRARIES if _has_language_model(client) else ())
    state.crawls = Crawls(client)
    state.layout = Layout()
    state.exports = Exports()
    state.responses = openai_responses.Responses()
    state.accounts = _accounts(client) if origin.users else None
    state.quotas = Quotas(state.accounts, client.settings.people) if state.accounts else None
    state.logins = _logins(client, origin, state.accounts)
    state.cookies = Cookies(origin)
    state.tracing = Tracing(client.settings.otlp_url, __version__) if client.settings.otlp_url else None


def _add_middleware(app: FastAPI, client: AsyncClient, origin: ServerSettings) -> None:
    """The last one added sees a request first."""
    accounts, quotas = app.state.accounts, app.state.quotas
    app.add_middleware(DirectRoutesMiddleware, routers=(searxng.router, api.web, api.router), on_error=_HANDLERS)
    app.add_middleware(UnhandledErrorMiddleware)
    app.add_middleware(BodyLimitMiddleware)
    logins = app.state.logins or Logins(_in_store(client))
    openid = OpenIdLogin(origin, client.network.send) if accounts and origin.oidc_issuer else None
    app.add_middleware(
        SecurityMiddleware, origin=origin, logins=logins, accounts=accounts, quotas=quotas, openid=openid
    )
    # Before it is decided what a request may do, and counted.
    app.add_middleware(searxng.RootSearchMiddleware)
    app.add_middleware(MetricsMiddleware, metrics=app.state.metrics)
    if app.state.tracing is not None:
        app.add_middleware(TracingMiddleware, tracing=app.state.tracing)
    app.add_middleware(AtWorkMiddleware)


def _in_store(client: AsyncClient) -> InStore:
    return lambda work: asyncio.to_thread(lambda: work(client.chat.store.people))


def _logins(client: AsyncClient, origin: ServerSettings, accounts: Accounts | None) -> Logins | None:
    """The browsers that are logged in; None on a server that is open to all who reach it."""
    if accounts is not None:
        return accounts.logins
    return Logins(_in_store(client), origin.token) if origin.token else None


def _accounts(client: AsyncClient) -> Accounts:
    return Accounts(lambda: client.chat.store.people, client.live.tries if client.live else None)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    page.preload()
    if app.state.quotas is not None:
        # What is begun from here, such as the workers of research jobs, counts for whom it works.
        current_allowance.set(app.state.quotas)
    with contextlib.suppress(SuyuanError):
        # A store that cannot be opened is reported by the requests that need it.
        app.state.client.chat  # noqa: B018 - reading it opens the store
    await asyncio.to_thread(app.state.client.tell_missing)
    app.state.health.start()
    if app.state.client.live is not None:
        app.state.client.live.notifications.start()
    _serve_research(app.state.client)
    maintenance = asyncio.create_task(_maintain_store(app))
    try:
        yield
    finally:
        maintenance.cancel()
        await drain(app)
        await app.state.preloader.close()
        await asyncio.to_thread(app.state.layout.close)
        await asyncio.to_thread(app.state.exports.close)
        await app.state.client.close()
        if app.state.tracing is not None:
            await asyncio.to_thread(app.state.tracing.close)


def _serve_research(client: AsyncClient) -> None:
    """Work on the research jobs of a store that several servers share; harmless where this is done already."""
    if client.settings.shares_store:
        with contextlib.suppress(SuyuanError):
            client.research_service.serve()


async def _maintain_store(app: FastAPI) -> None:
    """Mark the answers of dead processes, take over keys of other processes, remove what was deleted long ago."""
    purged, looked = time.monotonic(), -math.inf
    while True:
        await asyncio.sleep(_SWEEP_SECONDS)
        try:
            chat = app.state.client.chat
            await chat.read(chat.sweep)
            if time.monotonic() - looked > _CLOCK_SECONDS:
                # Soon after the start as well: a jump is seen against the last run.
                looked = time.monotonic()
                await asyncio.to_thread(chat.store.removal_clock.now)
                # Once, and not in the way of the start.
                chat.store.look_through()
            _serve_research(app.state.client)
            app.state.client.connect_engines()
            await chat.sessions.close_unused()
            if time.monotonic() - purged > _MAINTENANCE_SECONDS:
                purged = time.monotonic()
                await _purge(app)
        except SuyuanError as error:
            log.warning("the maintenance of the store failed: %s", error.message)


async def _purge(app: FastAPI) -> None:
    """Remove what is over, where the clock may be believed."""
    store, audit_days = app.state.client.chat.store, app.state.client.settings.people.audit_days
    await asyncio.to_thread(store.purge, _DELETED_SECONDS)
    await asyncio.to_thread(store.people.purge, audit_days)
    if (now := await asyncio.to_thread(store.removal_clock.now)) is not None:
        await app.state.crawls.purge(now)


async def drain(app: FastAPI) -> None:
    """Stop the running answers, which are kept, then end all streams; calling it twice is harmless."""
    await app.state.health.close()
    await app.state.crawls.close()
    if runs := list(app.state.metrics.running):
        ends = [asyncio.ensure_future(run.wait()) for run in runs]
        await asyncio.wait(ends, timeout=app.state.origin.drain_seconds)
        for run in runs:
            run.stop()
        await asyncio.wait(ends, timeout=_DRAIN_SECONDS)
        # The clients get the last event of an answer before their streams end.
        await asyncio.sleep(0.05)
    app.state.streams.close()


def _has_language_model(client: AsyncClient) -> bool:
    return any(model.provider != EMBEDDED for model in client.chat.sessions.models.values())


class Preloader:
    """Imports what answers need when a conversation is likely; a server that only searches does without it."""

    def __init__(self, modules: Sequence[str]) -> None:
        self._modules = modules
        self._task: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()
        self._closed = False

    def start(self) -> None:
        """Start soon, but not before the page that is being delivered."""
        if self._task is None:
            self._task = asyncio.create_task(self._run())

    async def wait(self) -> None:
        """Wait until everything is imported."""
        self.start()
        self._wanted.set()
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def close(self) -> None:
        """End with the module that is being imported."""
        self._closed = True
        if self._task is not None:
            await self.wait()

    async def _run(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PRELOAD_DELAY):
                await self._wanted.wait()
        await asyncio.to_thread(self._load)

    def _load(self) -> None:
        for name in self._modules:
            if not self._closed:
                load(name)
        gc.freeze()


async def _on_error(request: Request, error: Exception) -> Response:
    """Answer a failed request: with a page for people, also where they sent a form, with JSON for programs."""
    failure, status = _failure(request, error)
    if accepts_html(request) and not request.url.path.startswith(INTERFACES):
        return page.error_page(request, failure, status)
    return failures.failure(request, failure, status)


def _failure(request: Request, error: Any) -> tuple[SuyuanError, int | None]:
    """The failure that an exception stands for, and the status that the framework chose."""
    if isinstance(error, RequestValidationError):
        return failures.of_validation(error.errors()), None
    if isinstance(error, HTTPException):
        return failures.of_http(request, error), error.status_code
    return error, None


async def _on_disconnect(request: Request, error: Exception) -> Response:
    # The status that proxies log for a client that has gone.
    return Response(status_code=499)


_HANDLERS: dict[type[Exception], Any] = {
    **dict.fromkeys((SuyuanError, RequestValidationError, HTTPException), _on_error),
    ClientDisconnect: _on_disconnect,
}


class UnhandledErrorMiddleware:
    """Answers a request that failed by an error of our own; inside the other middleware, which adds its headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and catch every exception."""
        started = False

        async def noted(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except asyncio.CancelledError:
            if scope["type"] != "http" or started or not scope["app"].state.streams.closed:
                raise
            # A server that stops does not wait longer for this request; its client may ask again.
            await failures.failure(HTTPConnection(scope), SHUTTING_DOWN())(scope, receive, send)
        except Exception as error:
            if scope["type"] != "http" or started:
                raise
            if isinstance(error, OSError) and is_of_disk(error):
                log.error("%s %s: %s", scope["method"], scope["path"], error)
                await failures.failure(HTTPConnection(scope), disk_error(error))(scope, receive, send)
                return
            # The outermost edge: the details go to the log only, under a number that the answer names.
            run = new_id()
            log.exception("unhandled error run=%s in %s %s", run, scope["method"], scope["path"])
            await failures.failure(HTTPConnection(scope), failures.unexpected(run), 500)(scope, receive, send)
