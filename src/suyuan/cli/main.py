"""``suyuan``: read the command line and run one command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from .. import __version__
from ..config.load import load_settings
from ..config.settings import Settings
from ..config.ui import ui_language
from ..core.disk_errors import disk_error, is_of_disk
from ..core.errors import SuyuanError
from ..messages.catalog import Texts, languages
from .failure import show_failure, show_notices
from .logs import set_up_logging
from .terminal import Terminal

COMMANDS = (
    "serve", "demo", "ask", "chat", "search", "shell", "fetch", "library", "archive", "engines", "google", "searxng",
    "mcp", "research", "users", "backup", "restore", "store", "doctor", "notices", "config", "debug",
)  # fmt: skip
_QUIET_COMMANDS = ("config", "doctor")
_EXTRAS = {"serve": "web", "demo": "web", "mcp": "mcp", "users": "team"}
"""What a command needs beyond the package itself; the others need ``chat`` at most."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character must not end the program.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    arguments = list(sys.argv[1:] if argv is None else argv)
    t = Texts("cli", _wanted_language(arguments))
    args = build_parser(t, _command(arguments)).parse_args(arguments)
    log_format = set_up_logging(args.verbose, as_json=args.log_json)
    settings = load_settings(config_dir=Path(args.config_dir) if args.config_dir else None)
    log_format.secrets = settings.secrets
    # A worker's supervisor has told them.
    told = args.command in _QUIET_COMMANDS or getattr(args, "listen_fd", None) is not None
    if settings.problems and not told and not args.verbose:
        for problem in settings.problems:
            Terminal(sys.stderr).text(f"! {problem.say(t.lang)}")
    try:
        code = _ran(args, settings, t)
        show_notices(t)
        return code
    except SuyuanError as error:
        show_notices(t, error)
        return show_failure(error, t, args.failed)
    except KeyboardInterrupt:
        Terminal(sys.stderr).line(t("interrupted"))
        return 130
    except ModuleNotFoundError as missing:
        if not missing.name or missing.name.partition(".")[0] == "suyuan":
            raise
        Terminal(sys.stderr).line(t("extra.missing", what=missing.name, extra=_EXTRAS.get(args.command, "chat")))
        return 2
    except BrokenPipeError:
        # The reader (head, less) has ended.
        sys.stderr.close()
        return 0


def _ran(args: argparse.Namespace, settings: Settings, t: Texts) -> int:
    """Run the command; an error of the disk that nobody has expected becomes its cause."""
    try:
        return int(args.run(args, settings, t))
    except OSError as error:
        if is_of_disk(error):
            raise disk_error(error) from error
        raise


def build_parser(t: Texts, only: str = "") -> argparse.ArgumentParser:
    """Return the parser with all commands, its help in the language of ``t``; with ``only``, for that command."""
    parser = argparse.ArgumentParser(prog="suyuan", description=t("about"))
    parser.add_argument("--version", action="version", version=f"suyuan {__version__}", help=t("help.version"))
    parser.add_argument("--config-dir", metavar="DIR", help=t("help.config_dir"))
    parser.add_argument("--ui", choices=languages(), help=t("help.ui"))
    parser.add_argument("-v", "--verbose", action="count", default=0, help=t("help.verbose"))
    parser.add_argument("--log-json", action="store_true", help=t("help.log_json"))
    # The headline of a failure; most commands have their own.
    parser.set_defaults(failed="not_done")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    # The parsers of all commands together take longer to make than many a search.
    for name in [only] if only else COMMANDS:
        import_module(f".{name}", __package__).add(commands, t)
    return parser


def _command(arguments: list[str]) -> str:
    """Return the command that is called; empty if that is not certain before the command line is parsed."""
    words = iter(arguments)
    for word in words:
        if word in ("-h", "--help"):
            return ""
        if word in ("--config-dir", "--ui"):
            next(words, "")
        elif not word.startswith("-"):
            return word if word in COMMANDS else ""
    return ""


def _wanted_language(arguments: list[str]) -> str:
    """Return the language for the help texts, which are made before the command line is parsed."""
    for i, word in enumerate(arguments):
        if word.startswith("--ui="):
            return word[5:]
        if word == "--ui" and i + 1 < len(arguments):
            return arguments[i + 1]
    return ui_language()
