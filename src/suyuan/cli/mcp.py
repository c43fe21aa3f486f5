"""``suyuan mcp``: serve the tools to MCP clients."""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
from typing import Any

from ..config.settings import Settings
from ..core.own_memory import close_own_memory
from ..integrations.lazy_packages import make_lazy
from ..messages.catalog import Texts
from ..net.credentials import check_token
from .arguments import PORT, checked
from .settings_check import check_settings
from .terminal import Terminal


def add(commands: Any, t: Texts) -> None:
    """Add the command to the parser."""
    mcp = commands.add_parser("mcp", help=t("help.mcp"), description=t("help.mcp"))
    mcp.add_argument("--http", action="store_true", help=t("help.mcp_http"))
    mcp.add_argument("--host", default="127.0.0.1", help=t("help.host"))
    mcp.add_argument("--port", type=checked(PORT, t), default=8765, help=t("help.port"))
    mcp.add_argument("-e", "--engine", default="", metavar="PLAN", help=t("help.engine"))
    mcp.set_defaults(run=run, failed="serve.failed")


def run(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Serve until the client disconnects, or Ctrl-C."""
    close_own_memory()
    if args.http:
        check_settings(settings)
        check_token(args.host, settings.server.token)
    # The SDK makes so many objects when it is imported that looking for garbage among them takes a sixth of the time.
    gc.disable()
    # These load the SDK's client and its server for other styles, a quarter of the time, and nothing of them is used.
    make_lazy("mcp", "mcp.server", "mcp.server.lowlevel")
    from ..integrations.mcp import make_server, serve_stdio

    gc.freeze()
    gc.enable()
    server = make_server(settings, "zh" if t.lang == "zh" else "en", args.engine)
    if not args.http:
        asyncio.run(serve_stdio(server))
        return 0
    from ..integrations.mcp_http import serve_http

    Terminal(sys.stderr).line(t("mcp.serving", url=f"http://{args.host}:{args.port}/mcp"))
    serve_http(server, args.host, args.port, settings.server.token, settings.server.trusted_proxies)
    return 0
