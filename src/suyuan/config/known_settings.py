"""``KnownSettings``: what in ``config.json`` is no setting, and whether one was meant that guards the server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..core.setting import Setting
from ..messages.catalog import Text

# How alike two names must be for one to be meant by the other, of 1: what other programs keep in the file is not ours.
_ALIKE = 0.75
_ALIKE_ELSEWHERE = 0.85


class KnownSettings:
    """All settings that there are."""

    def __init__(self, known: Iterable[Setting]) -> None:
        self._by_path = {one.path: one for one in known}
        self._sections = {_section(path) for path in self._by_path}
        guarding = [path for path, one in self._by_path.items() if one.guards]
        self._guarding = {place for path in guarding for place in (path, *_above(path))}
        """Where settings stand that guard the server, and the sections that they are in."""

    def fault(self, path: str, value: Any) -> tuple[Text, bool] | None:
        """Why what the file has at ``path`` cannot be used, and whether it may have been meant to guard the server.

        None for a setting, and for what is of no concern here.
        """
        if path in self._by_path:
            return None if value != {} else (Text("config.why.no_object"), self._by_path[path].guards)
        above = next((place for place in _above(path) if place in self._by_path), "")
        if above:
            return Text("config.why.no_object"), self._by_path[above].guards
        if value == {}:
            return None
        is_section = any(known.startswith(f"{path}.") for known in self._by_path)
        if is_section and (path in self._guarding or _section(path) in self._sections):
            return Text("config.why.object"), path in self._guarding
        return self._not_a_setting(path)

    def repeated(self, path: str) -> tuple[Text, bool] | None:
        """The fault of a name that an object has more than once: only one of its values counts."""
        if path in self._guarding or _section(path) in self._sections:
            return Text("config.why.repeated"), path in self._guarding
        return None

    def _not_a_setting(self, path: str) -> tuple[Text, bool] | None:
        is_ours = _section(path) in self._sections
        near = self._near([*self._by_path, *self._guarding], path, _ALIKE) if is_ours else ""
        near = near or self._near(self._guarding, path, _ALIKE_ELSEWHERE)
        if near:
            return Text("config.why.similar", {"near": near}), near in self._guarding
        return (Text("config.why.unknown"), False) if is_ours else None

    def _near(self, places: Iterable[str], path: str, alike: float) -> str:
        """The place that is most like ``path``, if any is: case, hyphens and underscores do not count."""
        from difflib import get_close_matches

        spelt = {_spelt(place): place for place in places}
        near = get_close_matches(_spelt(path), spelt, 1, alike)
        return spelt[near[0]] if near else ""


def _above(path: str) -> Iterator[str]:
    """The sections that a setting is in, the innermost first."""
    while path := path.rpartition(".")[0]:
        yield path


def _section(path: str) -> str:
    """The part of the file that is ours: ``tools`` is shared with other programs, so there it is two names long."""
    names = path.split(".")
    return ".".join(names[:2] if names[0] == "tools" else names[:1])


def _spelt(path: str) -> str:
    return path.casefold().replace("_", "").replace("-", "")
