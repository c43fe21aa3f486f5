"""``suyuan serve``: run the web server until Ctrl-C."""

from __future__ import annotations

import argparse
import contextlib
import gc
import sys
import threading
from dataclasses import replace
from typing import Any

from ..client import AsyncClient, Connect
from ..config.settings import ServerSettings, Settings
from ..config.ui import has_display
from ..core.causes.live import WORKERS_NEED_STORE
from ..demo.questions import QUESTIONS
from ..llm.settings import EMBEDDED
from ..messages.catalog import Texts
from .arguments import PORT, checked
from .terminal import Terminal


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    serve = commands.add_parser("serve", help=t("help.serve"), description=t("help.serve"))
    serve.add_argument("--host", default="", help=t("help.host"))
    serve.add_argument("--port", type=checked(PORT, t), default=None, help=t("help.port"))
    serve.add_argument("--open", action=argparse.BooleanOptionalAction, default=True, help=t("help.serve_open"))
    serve.add_argument("--workers", type=int, default=None, metavar="N", help=t("help.workers"))
    # What the supervisor gives to its workers.
    serve.add_argument("--listen-fd", type=int, default=None, help=argparse.SUPPRESS)
    serve.add_argument("--supervisor-fd", type=int, default=None, help=argparse.SUPPRESS)
    serve.set_defaults(run=run, failed="serve.failed")


def run(args: argparse.Namespace, settings: Settings, t: Texts, connect: Connect = AsyncClient) -> int:
    """Serve until Ctrl-C; running answers are stopped and stored."""
    origin = replace(settings.server, host=args.host or settings.server.host)
    if args.port is not None:
        origin = replace(origin, port=args.port)
    if args.workers is not None:
        origin = replace(origin, workers=args.workers)
    settings = replace(settings, server=origin)
    if args.listen_fd is not None:
        return _work(settings, args.listen_fd, args.supervisor_fd, connect)
    if origin.workers > 1:
        return _supervise(settings, args.open and has_display(), t)
    return _serve(settings, args.open and has_display(), t, connect)


def _serve(settings: Settings, show: bool, t: Texts, connect: Connect) -> int:
    # As in ``__main__``; the server looks for garbage again when it has started.
    gc.disable()
    from ..server.app import create_app
    from ..server.demo_server import DemoServer
    from ..server.listen import listen, serve
    from ..server.security import check_open

    origin = settings.server
    check_open(origin)
    sock = listen(origin.host, origin.port)
    origin = replace(origin, port=sock.getsockname()[1])
    app = create_app(connect(replace(settings, server=origin)), origin=origin)
    # Ctrl-C is the usual end; everything is closed by then.
    with contextlib.suppress(KeyboardInterrupt), contextlib.closing(DemoServer()) as app.state.demo_server:
        serve(app, sock, lambda: _announce(settings, origin, show, t))
    Terminal(sys.stderr).line(t("serve.ended"))
    return 0


def _supervise(settings: Settings, show: bool, t: Texts) -> int:
    from ..server.listen import listen_shared
    from ..server.security import check_open
    from ..server.supervisor import Supervisor
    from ..store.conversations import Store

    origin = settings.server
    check_open(origin)
    if not settings.store_address:
        raise WORKERS_NEED_STORE(workers=origin.workers)
    # What every worker would fail by is told once, here.
    Store(settings.store_address).close()
    with contextlib.ExitStack() as sockets:
        opened = listen_shared(origin.host, origin.port, origin.workers)
        for each in opened:
            sockets.enter_context(each)
        origin = replace(origin, port=opened[0].getsockname()[1])
        if not settings.redis_url:
            Terminal(sys.stderr).line(t("serve.no_redis"))
        command = [sys.executable, "-m", "suyuan", "serve", "--host", origin.host, "--port", str(origin.port)]
        Supervisor(
            opened,
            lambda listening, link: [*command, "--listen-fd", str(listening), "--supervisor-fd", str(link)],
            lambda: _announce(settings, origin, show, t),
            origin.drain_seconds,
        ).run()
    Terminal(sys.stderr).line(t("serve.ended"))
    return 0


def _work(settings: Settings, listening: int, link: int, connect: Connect) -> int:
    """Serve as one of several workers."""
    gc.disable()
    from ..server.app import create_app
    from ..server.listen import given_socket, serve
    from ..server.supervisor import SupervisorLink

    supervisor = SupervisorLink(link)
    app = create_app(connect(settings), origin=settings.server)
    serve(app, given_socket(listening), supervisor.ready)
    return 0


def _announce(settings: Settings, origin: ServerSettings, show: bool, t: Texts) -> None:
    out = Terminal(sys.stdout)
    out.line(t("serve.at", url=out.paint(origin.url, "bold")))
    model = t("serve.embedded") if settings.model.provider == EMBEDDED else settings.model.label
    out.line(t("serve.using", model=model, engine=settings.search.default))
    if origin.token:
        out.line(t("serve.token"))
    if settings.demo:
        out.line(t("demo.try"))
        for question in (question for questions in QUESTIONS.values() for question in questions):
            out.line(f"  {question}")
    out.line(t("serve.end"))
    sys.stdout.flush()
    if show:
        import webbrowser

        # A browser that starts slowly must not delay the server.
        threading.Thread(target=webbrowser.open, args=(origin.url,), daemon=True).start()
