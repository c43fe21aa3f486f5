"""``ConnectedEngines``: keys and addresses of engines that were entered on the page, in a file of the server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.engine import EngineSettings
from ..core.private_file import PrivateFile
from ..core.secret import Secret


class ConnectedEngines:
    """What was entered on the page comes before the configuration; in memory only where there is no file."""

    def __init__(self, file: Path | None, configured: Mapping[str, EngineSettings]) -> None:
        self._file = PrivateFile(file)
        self._configured = configured
        self._rows: dict[str, dict[str, Any]] = {}

    def reload(self) -> bool:
        """Read the file again if it has changed, as by another process; return whether it has."""
        if not self._file.changed():
            return False
        self._rows = {str(row["name"]): row for row in self._file.read() if "name" in row}
        return True

    def names(self) -> frozenset[str]:
        """The engines of which something was entered."""
        return frozenset(self._rows)

    def all(self) -> dict[str, EngineSettings]:
        """The settings of all engines that are configured, or of which something was entered."""
        entered = {name: self.settings(name, row) for name, row in self._rows.items()}
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
        return replace(
            own,
            api_key=Secret(key) if key else own.api_key,
            base_url=address or own.base_url,
            options={**own.options, **options},
        )

    def add(self, name: str, entered: Mapping[str, Any]) -> None:
        """Keep what was entered for an engine, in place of what was entered before."""
        # Another process may have written since.
        self.reload()
        self._rows[name] = {**entered, "name": name}
        self._file.write(list(self._rows.values()))

    def remove(self, name: str) -> None:
        """Forget what was entered for an engine."""
        self.reload()
        if self._rows.pop(name, None):
            self._file.write(list(self._rows.values()))
