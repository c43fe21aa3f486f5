"""``suyuan searxng``: set up, start and check a SearXNG instance."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any

from ..config.settings import Settings
from ..core.errors import SuyuanError
from ..core.setting import whole
from ..messages.catalog import Texts
from .arguments import checked
from .failure import show_failure
from .page_text import show_markdown
from .terminal import Terminal, print_json, with_progress

_COMPOSE = {"up": ("up", "-d"), "down": ("down",), "restart": ("restart",), "logs": ("logs", "--tail", "100")}
_PORT = whole(1, 65_535)
_DEFAULT_ADDRESS = "http://localhost:8080"


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    searxng = commands.add_parser("searxng", help=t("help.searxng"), description=t("help.searxng"))
    searxng.set_defaults(failed="searxng.not_done")
    actions = searxng.add_subparsers(metavar="init|up|down|restart|logs|status|check|guide", required=True)
    init = actions.add_parser("init", help=t("help.searxng_init"))
    init.add_argument("--region", choices=("world", "china"), default="world", help=t("help.searxng_region"))
    init.add_argument("--port", type=checked(_PORT, t), default=8080, metavar="N", help=t("help.searxng_port"))
    init.add_argument("--force", action="store_true", help=t("help.searxng_force"))
    init.set_defaults(run=run_init)
    for name in _COMPOSE:
        actions.add_parser(name, help=t(f"help.searxng_{name}")).set_defaults(run=run_compose, name=name)
    actions.add_parser("status", help=t("help.searxng_status")).set_defaults(run=run_status)
    for name in ("init", *_COMPOSE, "status"):
        actions.choices[name].add_argument(
            "folder", metavar="DIR", nargs="?", type=Path, default=Path("searxng"), help=t("help.searxng_folder")
        )
    check = actions.add_parser("check", help=t("help.searxng_check"))
    check.add_argument("address", metavar="URL", nargs="?", default="", help=t("help.searxng_address"))
    check.add_argument("--json", action="store_true", help=t("help.json"))
    check.set_defaults(run=run_check)
    actions.add_parser("guide", help=t("help.searxng_guide")).set_defaults(run=run_guide)


def run_init(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Write the deployment."""
    from ..doctor import searxng_container as container

    out = Terminal(sys.stdout)
    for path in container.write(args.folder, args.region, args.port, force=args.force):
        out.line(t("searxng.written", path=path))
    out.line(t("searxng.next", folder="" if args.folder == Path("searxng") else f" {args.folder}"))
    if args.port != container.PORT:
        out.line(t("searxng.address", url=f"http://localhost:{args.port}"))
    return 0


def run_compose(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Run one command of Docker Compose."""
    from ..doctor import searxng_container as container

    container.compose(args.folder, *_COMPOSE[args.name])
    if args.name in ("up", "restart"):
        _warn_of_limiter(args.folder, t)
    return 0


def _warn_of_limiter(folder: Path, t: Texts) -> None:
    from ..doctor import searxng_container as container

    if container.limiter_without_effect(folder):
        Terminal(sys.stdout).text(f"! {t('searxng.limiter_without_effect')}", "!", "yellow")


def run_status(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Show the container and check the instance in it."""
    from ..doctor import searxng_container as container

    code = 0
    try:
        container.compose(args.folder, "ps")
    except SuyuanError as error:
        code = show_failure(error, t, "searxng.not_done")
    _warn_of_limiter(args.folder, t)
    # Checked even where Docker is not available: the instance may run without it.
    return asyncio.run(_check(f"http://localhost:{container.port_of(args.folder)}", settings, t)) or code


def run_check(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Run the health check."""
    own = settings.engines.get("searxng")
    return asyncio.run(
        _check(args.address or (own.base_url if own else "") or _DEFAULT_ADDRESS, settings, t, args.json)
    )


async def _check(address: str, settings: Settings, t: Texts, as_json: bool = False) -> int:
    from ..client import AsyncClient
    from ..doctor.searxng import check_searxng

    own = settings.engines.get("searxng")
    # The key is for the configured instance only.
    key = own.api_key if own and own.base_url in ("", address.rstrip("/")) else None
    async with AsyncClient(settings) as client:
        client.network.prepare()
        check = check_searxng(address, client.network.send, api_key=key, limit=settings.search.seconds)
        status = await with_progress(check, t, "checking")
    if as_json:
        print_json(status.as_dict(t.lang))
        return 0 if status.ok else 3
    out = Terminal(sys.stdout)
    for warning in status.warnings:
        out.text("! " + " ".join(warning.say(t.lang)), "!", "yellow")
    if status.error:
        return show_failure(status.error, t, "searxng.failed")
    version = f" {status.version}" if status.version else ""
    seconds = status.took_ms / 1000
    out.line(t("searxng.ok", version=version, url=status.base_url, results=status.results, seconds=seconds))
    if status.engines:
        out.line(t("searxng.engines", names=", ".join(status.engines)))
    if status.limiter is False:
        out.line(t("searxng.limiter_off"))
    return 0


def run_guide(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Write the guide, rendered on a terminal."""
    from ..guides.documents import guide

    show_markdown(Terminal(sys.stdout), guide("searxng", t.lang))
    return 0
