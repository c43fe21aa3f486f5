"""The one place that decides which code is coloured: a short list of languages, and code that is not too long.

Lexers of Pygments are regular expressions that many people wrote, and some take exponential time: a block of 80
characters stopped the server. Those below were tried with hostile code of every kind (``tests/markup``); all other
code is shown without colours.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LONGEST = 10_000
"""Longer code is shown without colours."""

_NAMES: dict[str, tuple[str, ...]] = {
    "bash": ("sh", "shell", "zsh", "ksh", "console", "shell-session"),
    "css": (),
    "diff": ("patch", "udiff"),
    "docker": ("dockerfile",),
    "go": ("golang",),
    "javascript": (
        *("js", "jsx", "mjs", "ts", "tsx", "typescript"),
        *("c", "c++", "cpp", "h", "hpp", "java", "csharp", "c#", "cs"),
    ),
    "json": ("json5", "jsonc", "jsonl"),
    "kotlin": ("kt",),
    "lua": (),
    "php": (),
    "powershell": ("ps1", "pwsh"),
    "python": ("py", "python3", "py3", "pycon"),
    "r": ("rlang",),
    "ruby": ("rb",),
    "rust": ("rs",),
    "scss": ("sass", "less"),
    "sql": ("mysql", "postgresql", "postgres", "sqlite", "sqlite3"),
    "swift": (),
    "toml": ("ini", "cfg", "conf", "properties"),
    "xml": ("html", "svg", "xhtml", "xsd", "xsl"),
    "yaml": ("yml",),
}
"""The languages that were tried, with their other names, and with relatives whose own lexer is not safe."""


def _languages_by_name() -> dict[str, str]:
    languages: dict[str, str] = {}
    for language, aliases in _NAMES.items():
        languages |= dict.fromkeys((language, *aliases), language)
    return languages


_LANGUAGES = _languages_by_name()


def languages() -> tuple[str, ...]:
    """The languages that are coloured."""
    return tuple(_NAMES)


def language_of(name: str, code: str) -> str:
    """The language as which ``code`` is coloured, by the name that its author gave; empty for none."""
    # The lexers were tried with lines that end as Markdown ends them.
    if len(code) > LONGEST or "\r" in code:
        return ""
    return _LANGUAGES.get(name.lower(), "")


@cache
def lexer(language: str) -> Lexer:
    """What takes code of a language apart."""
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(language, stripnl=False, ensurenl=False)
