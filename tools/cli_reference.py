"""Write docs/cli.md from the parsers of the command line; a test checks that it is up to date."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from suyuan.cli.main import build_parser
from suyuan.messages.catalog import Texts

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"
_HEAD = """# Command line

<!-- made by `make docs` -->

Options of `suyuan` itself stand before the command: `suyuan --ui zh search …`. Every command has `--help`.

Exit codes: 0 success, 1 nothing found (of an answer: not verified by a search), 2 bad input or configuration, 3 the search
failed, 130 interrupted.

On a terminal, answers are rendered, tables fit the width, and a search shows its progress. Ctrl-C stops an answer and
keeps what was written; a second Ctrl-C ends the program. In a pipe the output is plain text without wrapped
tables. `NO_COLOR` and `TERM=dumb` turn off all escape codes. Scripts should use `--json`:

- `doctor --json`: `errors`, `warnings`, and `findings`, each with `area`, `name`, `level`, `code`, `message`, `hint`
  and `guide`
- `searxng check --json`: `ok`, `base_url`, `version`, `took_ms`, `results`, `engines`, `unresponsive_engines`, `error`
  and `warnings`
- `engines --json`: a list with `name`, `title`, `key`, `state`, `address`, `ready` and `cooldown_seconds`
- `config show --json`: `file`, `values` with `path`, `value` and `origin`, and `problems`
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(cli_reference(), encoding="utf-8")


def english_parser() -> argparse.ArgumentParser:
    """The parser of the command line with English help."""
    return build_parser(Texts("cli", "en"))


def cli_reference() -> str:
    """The whole page: every command with its arguments."""
    return _HEAD + "".join(_sections(english_parser(), 2))


def _sections(parser: argparse.ArgumentParser, level: int, about: str = "") -> Iterator[str]:
    """One section for ``parser``, then those of its commands."""
    actions = [
        action
        for action in parser._actions
        if not isinstance(action, argparse._HelpAction) and action.help != argparse.SUPPRESS
    ]
    commands = [action for action in actions if isinstance(action, argparse._SubParsersAction)]
    arguments = [action for action in actions if action not in commands]
    yield f"\n{'#' * min(level, 4)} {parser.prog}\n"
    if text := about or parser.description:
        yield f"\n{_sentence(text)}\n"
    yield f"\n    {' '.join(_usage(parser.prog, arguments, commands))}\n"
    if arguments:
        yield "\n| argument | meaning |\n|---|---|\n"
        yield from (f"| {_cell(_names(action))} | {_cell(action.help or '')} |\n" for action in arguments)
    for action in commands:
        texts = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, child in action.choices.items():
            yield from _sections(child, level + 1, texts.get(name, ""))


def _usage(prog: str, arguments: list[argparse.Action], commands: Sequence[argparse.Action]) -> Iterator[str]:
    """The parts of the usage line."""
    yield prog
    if any(action.option_strings for action in arguments):
        yield "[options]"
    yield from (_value(action) for action in arguments if not action.option_strings)
    yield from ("COMMAND" if action.required else "[COMMAND]" for action in commands)


def _names(action: argparse.Action) -> str:
    """The argument as it is typed: ``-n``, ``--count N``."""
    if not action.option_strings:
        return f"`{_value(action)}`"
    value = "" if action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction) else f" {_value(action)}"
    *others, last = action.option_strings
    return ", ".join([*(f"`{name}`" for name in others), f"`{last}{value}`"])


def _value(action: argparse.Action) -> str:
    name = str(action.metavar or "|".join(map(str, action.choices or ())) or action.dest.upper())
    return {"+": f"{name} …", "*": f"[{name} …]", "?": f"[{name}]"}.get(str(action.nargs), name)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    main()
