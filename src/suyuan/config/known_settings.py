"""``KnownSettings``: what in ``config.json`` is no setting, and whether one was meant that guards the server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..core.setting import Setting
from ..messages.catalog import Text

# How alike two names must be for one to be meant by the other, of 1: what other programs keep in the file is not ours.
_SIMILARITY = 0.75
_SIMILARITY_ELSEWHERE = 0.85


class KnownSettings:
    """All settings that there are."""

    def __init__(self, known: Iterable[Setting]) -> None:
        self._by_path = {setting.path: setting for setting in known}
        self._sections = {_section(path) for path in self._by_path}
        self._guarding: set[str] = set()
        """The paths of the settings that guard the server, and the sections that they are in."""
        for path, setting in self._by_path.items():
            if setting.guards:
                self._guarding.update((path, *_above(path)))

    def fault(self, path: str, value: Any) -> tuple[Text, bool] | None:
        """Why what the file has at ``path`` cannot be used, and whether it may have been meant to guard the server.

        None for a setting, and for what is of no concern here.
        """
        if path in self._by_path and value != {}:
            return None
        for place in (path, *_above(path)):
            if place in self._by_path:
                return Text("config.why.no_object"), self._by_path[place].guards
        if value == {}:
            return None
        is_section = any(known.startswith(f"{path}.") for known in self._by_path)
        if is_section and self._is_ours(path):
            return Text("config.why.object"), path in self._guarding
        return self._unknown(path)

    def repeated(self, path: str) -> tuple[Text, bool] | None:
        """The fault of a name that an object has more than once: only one of its values counts."""
        if self._is_ours(path):
            return Text("config.why.repeated"), path in self._guarding
        return None

    def _is_ours(self, path: str) -> bool:
        return path in self._guarding or _section(path) in self._sections

    def _unknown(self, path: str) -> tuple[Text, bool] | None:
        """The fault of a path that is no setting: a similar one may have been meant."""
        in_our_section = _section(path) in self._sections
        near = ""
        if in_our_section:
            near = _closest((*self._by_path, *self._guarding), path, _SIMILARITY)
        if not near:
            near = _closest(self._guarding, path, _SIMILARITY_ELSEWHERE)
        if near:
            return Text("config.why.similar", {"near": near}), near in self._guarding
        if in_our_section:
            return Text("config.why.unknown"), False
        return None


def _closest(places: Iterable[str], path: str, similarity: float) -> str:
    """The place that is most like ``path``, if any is: case, hyphens and underscores do not count."""
    from difflib import get_close_matches

    by_spelling = {_normalized(place): place for place in places}
    matches = get_close_matches(_normalized(path), by_spelling, 1, similarity)
    return by_spelling[matches[0]] if matches else ""


def _above(path: str) -> Iterator[str]:
    """The sections that a setting is in, the innermost first."""
    while path := path.rpartition(".")[0]:
        yield path


def _section(path: str) -> str:
    """The part of the file that is ours: ``tools`` is shared with other programs, so there it is two names long."""
    names = path.split(".")
    length = 2 if names[0] == "tools" else 1
    return ".".join(names[:length])


def _normalized(path: str) -> str:
    return path.casefold().replace("_", "").replace("-", "")
