"""``ConnectedModels``: the models that were connected on the page, kept in a file that only the server reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.private_rows import PrivateRows
from ..core.secret import Secret
from .settings import ModelSettings


class ConnectedModels:
    """Models with their addresses and keys; in memory only where there is no file."""

    def __init__(self, file: Path | None, like: ModelSettings) -> None:
        # Proxies and time limits are those of the configured model.
        self._like = replace(like, api_key=Secret(""), api_key_env="", temperature=None, max_tokens=None)
        self._file = PrivateRows(file, self._model, _row)

    def all(self) -> dict[str, ModelSettings]:
        """The models by their names for users, as they are now, whichever process has connected them."""
        return {model.label: model for model in self._file.current()}

    def settings(self, base_url: str, name: str, api_key: str) -> ModelSettings:
        """The settings of a model on an OpenAI-compatible server."""
        return replace(self._like, provider="openai", name=name, base_url=base_url, api_key=Secret(api_key))

    def add(self, model: ModelSettings) -> None:
        """Keep a model; one of the same name is replaced."""
        self._file.change(lambda kept: [*_without(kept, model.label), model])

    def remove(self, name: str) -> None:
        """Forget a model and its key."""
        if name in self.all():
            self._file.change(lambda kept: _without(kept, name))

    def _model(self, row: Mapping[str, Any]) -> ModelSettings:
        return self.settings(str(row["base_url"]), str(row["name"]), str(row["api_key"]))


def _row(model: ModelSettings) -> dict[str, Any]:
    return {"name": model.name, "base_url": model.base_url, "api_key": model.api_key.reveal()}


def _without(models: list[ModelSettings], name: str) -> list[ModelSettings]:
    return [model for model in models if model.label != name]
