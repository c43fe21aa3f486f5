"""``suyuan serve``: run the web server until Ctrl-C."""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import chain
from typing import Any

from ..client import AsyncClient, Connect
from ..config.settings import ServerSettings, Settings
from ..config.ui import has_display
from ..core.causes.live import WORKER_SILENT, WORKER_SILENT_UNKNOWN, WORKERS_NEED_STORE
from ..core.causes.store import STORE_GONE, STORE_OVERWRITTEN, STORE_OVERWRITTEN_SAVED, STORE_RESCUED
from ..core.notices import Notices
from ..core.own_memory import close_own_memory
from ..core.python_child import python_command
from ..demo.questions import QUESTIONS
from ..doctor.accounts import check_accounts
from ..doctor.finding import Finding
from ..llm.settings import EMBEDDED
from ..messages.catalog import Texts
from .arguments import PORT, checked
from .settings_check import check_settings
from .startup import show_findings
from .terminal import Terminal

_STORE_LOST = {cause.detail_code for cause in (STORE_GONE, STORE_RESCUED, STORE_OVERWRITTEN, STORE_OVERWRITTEN_SAVED)}
# Windows cannot hand sockets on to a worker.
_CAN_SUPERVISE = os.name == "posix"


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    serve = commands.add_parser("serve", help=t("help.serve"), description=t("help.serve"))
    serve.add_argument("--host", default="", help=t("help.host"))
    serve.add_argument("--port", type=checked(PORT, t), default=None, help=t("help.port"))
    serve.add_argument("--open", action=argparse.BooleanOptionalAction, default=True, help=t("help.serve_open"))
    serve.add_argument("--workers", type=int, default=None, metavar="N", help=t("help.workers"))
    serve.add_argument("--supervise", action=argparse.BooleanOptionalAction, default=True, help=t("help.supervise"))
    # What the supervisor gives to its workers.
    serve.add_argument("--listen-fd", type=int, default=None, help=argparse.SUPPRESS)
    serve.add_argument("--supervisor-fd", type=int, default=None, help=argparse.SUPPRESS)
    serve.add_argument("--board-fd", type=int, default=None, help=argparse.SUPPRESS)
    serve.add_argument("--first", action="store_true", help=argparse.SUPPRESS)
    serve.set_defaults(run=run, failed="serve.failed")


def run(args: argparse.Namespace, settings: Settings, t: Texts, connect: Connect = AsyncClient) -> int:
    """Serve until Ctrl-C; running answers are stopped and stored."""
    check_settings(settings)
    if args.listen_fd is None:
        # A worker's supervisor has looked.
        check_accounts(settings)
    close_own_memory()
    origin = replace(settings.server, host=args.host or settings.server.host)
    if args.port is not None:
        origin = replace(origin, port=args.port)
    if args.workers is not None:
        origin = replace(origin, workers=args.workers)
    settings = replace(settings, server=origin)
    if args.listen_fd is not None:
        return _work(settings, args, t, connect)
    # A server of another client, such as that of the demo, lives in this process.
    supervised = args.supervise and connect is AsyncClient and _CAN_SUPERVISE
    if origin.workers > 1 or supervised:
        return _supervise(settings, args, t)
    return _serve(settings, args.open and has_display(), t, connect)


def _serve(settings: Settings, show: bool, t: Texts, connect: Connect) -> int:
    # As in ``__main__``; the server looks for garbage again when it has started.
    gc.disable()
    from ..server.app import create_app
    from ..server.demo_server import DemoServer
    from ..server.listen import serve
    from ..server.sockets import check_open, listen

    origin, begun = settings.server, datetime.now(UTC)
    check_open(origin)
    sock = listen(origin.host, origin.port)
    origin = replace(origin, port=sock.getsockname()[1])
    app = create_app(connect(replace(settings, server=origin)), origin=origin)
    app.state.health.tell = lambda findings: show_findings(findings, t, origin.url)
    # Ctrl-C is the usual end; everything is closed by then.
    with contextlib.suppress(KeyboardInterrupt), contextlib.closing(DemoServer()) as app.state.demo_server:
        serve(app, sock, lambda: _announce(settings, origin, show, t))
    Terminal(sys.stderr).line(t(_ended(settings, begun)))
    return 0


def _supervise(settings: Settings, args: argparse.Namespace, t: Texts) -> int:
    # The supervisor stays small: its workers load what answers requests. That it is there is seen before they start.
    for needed in ("fastapi", "uvicorn"):
        if find_spec(needed) is None:
            raise ModuleNotFoundError(f"No module named {needed!r}", name=needed)
    from ..server.sockets import check_open, listen, listen_shared
    from ..server.supervisor import Supervisor

    origin, begun = settings.server, datetime.now(UTC)
    check_open(origin)
    if origin.workers > 1:
        if not settings.store_address:
            raise WORKERS_NEED_STORE(workers=origin.workers)
        from ..store.conversations import Store

        # What every worker would fail by is told once, here.
        Store(settings.store_address).close()
    with contextlib.ExitStack() as sockets:
        several = origin.workers > 1
        if several:
            opened = listen_shared(origin.host, origin.port, origin.workers)
        else:
            opened = [listen(origin.host, origin.port)]
        for each in opened:
            sockets.enter_context(each)
        origin = replace(origin, port=opened[0].getsockname()[1])
        if several and not settings.redis_url:
            Terminal(sys.stderr).line(t("serve.no_redis"))
        end = Supervisor(
            opened,
            _command(args, origin),
            lambda: _announce(settings, origin, args.open and has_display(), t),
            origin.drain_seconds,
            lambda item: _set_aside(settings, item),
        ).run()
    err = Terminal(sys.stderr)
    if end.code:
        # Its worker has said why.
        err.line(t("serve.gave_up", lives=end.lives, code=end.code))
    elif end.in_order:
        err.line(t(_ended(settings, begun)))
    else:
        err.line(t("serve.cut_off"))
    return end.code


def _ended(settings: Settings, begun: datetime) -> str:
    """What is said at an end in order: a store that was lost meanwhile has taken nothing more."""
    start = begun.isoformat(timespec="seconds")
    notices = chain.from_iterable(Notices(folder).open() for folder in settings.kept_folders)
    lost = any(notice.at >= start and notice.failure.detail_code in _STORE_LOST for notice in notices)
    return "serve.ended_without_store" if lost else "serve.ended"


def _command(args: argparse.Namespace, origin: ServerSettings) -> Callable[[int, int, int], list[str]]:
    """What starts a worker, with the same settings and logs as here."""
    whole = ["-v"] * args.verbose + ["--log-json"] * args.log_json
    for option, value in (("--config-dir", args.config_dir), ("--ui", args.ui)):
        whole += [option, value] if value else []
    given = ["--host", origin.host, "--port", str(origin.port), "--workers", str(origin.workers)]
    command = python_command("suyuan.__main__", [*whole, "serve", *given])
    # One of them tells the terminal what the check at the start has found.
    first = ["--first"]

    def started(listening: int, link: int, board: int) -> list[str]:
        mark = [first.pop()] if first else []
        return [*command, *mark, "--listen-fd", str(listening), "--supervisor-fd", str(link), "--board-fd", str(board)]

    return started


def _set_aside(settings: Settings, item: str) -> None:
    """Keep a notice about what a silent worker was working for; what is named there is not worked on again."""
    notices = Notices(settings.data_dir)
    notices.add(WORKER_SILENT(item=item) if item else WORKER_SILENT_UNKNOWN(), item)


def _work(settings: Settings, args: argparse.Namespace, t: Texts, connect: Connect) -> int:
    """Serve as one of the workers of a supervisor."""
    gc.disable()
    from ..server.app import create_app
    from ..server.demo_server import DemoServer
    from ..server.listen import serve
    from ..server.sockets import given_socket
    from ..server.supervisor import SupervisorLink

    supervisor = SupervisorLink(args.supervisor_fd, args.board_fd)
    app = create_app(connect(settings), origin=settings.server)

    def tell(findings: Sequence[Finding]) -> None:
        # What the check has found is told by one worker, what a worker has met by itself.
        told = [finding for finding in findings if args.first or finding.area == "notice"]
        show_findings(told, t, settings.server.url)

    app.state.health.tell = tell
    sock = given_socket(args.listen_fd)
    if settings.server.workers > 1:
        serve(app, sock, supervisor.ready)
    else:
        with contextlib.closing(DemoServer()) as app.state.demo_server:
            serve(app, sock, supervisor.ready)
    supervisor.done()
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
