"""``ConnectedModels``: the models that were connected on the page, kept in a file that only the server reads."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.private_file import PrivateFile
from ..core.secret import Secret
from .settings import ModelSettings

log = logging.getLogger("suyuan.llm")


class ConnectedModels:
    """Models with their addresses and keys; in memory only where there is no file."""

    def __init__(self, file: Path | None, like: ModelSettings) -> None:
        self._file = PrivateFile(file)
        # Proxies and time limits are those of the configured model.
        self._like = replace(like, api_key=Secret(""), api_key_env="", temperature=None, max_tokens=None)
        self._models: dict[str, ModelSettings] = {}
        self.reload()

    def reload(self) -> bool:
        """Read the file again if it has changed, as by another process; return whether it has."""
        if not self._file.changed():
            return False
        self._models = {model.label: model for model in self._read()}
        return True

    def all(self) -> dict[str, ModelSettings]:
        """The models by their names for users."""
        return dict(self._models)

    def settings(self, base_url: str, name: str, api_key: str) -> ModelSettings:
        """The settings of a model on an OpenAI-compatible server."""
        return replace(self._like, provider="openai", name=name, base_url=base_url, api_key=Secret(api_key))

    def add(self, model: ModelSettings) -> None:
        """Keep a model; one of the same name is replaced."""
        # Another process may have written since.
        self.reload()
        self._models[model.label] = model
        self._write()

    def remove(self, name: str) -> None:
        """Forget a model and its key."""
        self.reload()
        if self._models.pop(name, None):
            self._write()

    def _read(self) -> list[ModelSettings]:
        try:
            return [self._model(row) for row in self._file.read()]
        except KeyError:
            log.warning("the models that were connected on the page cannot be read")
            return []

    def _model(self, row: Mapping[str, Any]) -> ModelSettings:
        return self.settings(str(row["base_url"]), str(row["name"]), str(row["api_key"]))

    def _write(self) -> None:
        rows = [
            {"name": model.name, "base_url": model.base_url, "api_key": model.api_key.reveal()}
            for model in self._models.values()
        ]
        self._file.write(rows)
