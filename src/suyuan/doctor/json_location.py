"""The line of a setting in a JSON file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[{}\[\],:]')


def line_of(text: str, path: str) -> int | None:
    """Return the line, from 1, of the setting ``path`` (names joined by dots) in JSON ``text``, or None."""
    for found, position in _keys(text):
        if found == path:
            return text.count("\n", 0, position) + 1
    return None


def _keys(text: str) -> Iterator[tuple[str, int]]:
    """Yield each key with its full path and its position; objects in a list have the path of the list."""
    names: list[str] = []
    inside: list[str] = []
    last = ("", 0)
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark.startswith('"'):
            last = (mark, token.start())
        elif mark == ":" and inside[-1:] == ["{"]:
            names[-1] = _name(last[0])
            yield ".".join(name for name in names if name), last[1]
        elif mark in "{[":
            inside.append(mark)
            names.append("")
        elif mark in "}]" and inside:
            inside.pop()
            names.pop()


def _name(quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted.strip('"')
