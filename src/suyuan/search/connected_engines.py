"""``ConnectedEngines``: keys and addresses of engines that were entered on the page, in a file of the server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.engine import EngineSettings
from ..core.private_rows import PrivateRows
from ..core.secret import Secret

_Entered = tuple[str, dict[str, Any]]
"""The name of an engine, and what was entered for it."""


class ConnectedEngines:
    """What was entered on the page comes before the configuration; in memory only where there is no file."""

    def __init__(self, file: Path | None, configured: Mapping[str, EngineSettings]) -> None:
        self._file = PrivateRows(file, _entered, _row)
        self._configured = configured

    def names(self) -> frozenset[str]:
        """The engines of which something was entered."""
        return frozenset(dict(self._file.current()))

    def all(self) -> dict[str, EngineSettings]:
        """The settings of all engines that are configured, or of which something was entered, in any process."""
        entered = {name: self.settings(name, row) for name, row in self._file.current()}
        return {**self._configured, **entered}

    def settings(self, name: str, entered: Mapping[str, Any]) -> EngineSettings:
        """The settings of one engine with what was entered; an empty field leaves what is configured.

        A configured key is for the configured address alone: whoever enters another would be sent the key.
        """
        own = self._configured.get(name) or EngineSettings()
        key, address = str(entered.get("api_key") or ""), str(entered.get("base_url") or "")
        if address not in ("", own.base_url):
            own = replace(own, api_key=Secret(""))
        options = {path: value for path, value in (entered.get("options") or {}).items() if value}
        api_key = Secret(key) if key else own.api_key
        return replace(
            own,
            api_key=api_key,
            base_url=address or own.base_url,
            options={**own.options, **options},
        )

    def add(self, name: str, entered: Mapping[str, Any]) -> None:
        """Keep what was entered for an engine, in place of what was entered before."""
        self._file.change(lambda kept: [*_without(kept, name), (name, {**entered, "name": name})])

    def remove(self, name: str) -> None:
        """Forget what was entered for an engine."""
        if name in self.names():
            self._file.change(lambda kept: _without(kept, name))


def _entered(row: Mapping[str, Any]) -> _Entered:
    """What was entered for one engine, with its name; raises where that cannot be."""
    options = row.get("options") or {}
    if not isinstance(options, dict):
        raise TypeError("options must be an object")
    return str(row["name"]), dict(row)


def _row(entered: _Entered) -> dict[str, Any]:
    return entered[1]


def _without(kept: list[_Entered], name: str) -> list[_Entered]:
    return [row for row in kept if row[0] != name]
