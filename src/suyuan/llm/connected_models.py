"""``ConnectedModels``: the models that were connected on the page, kept in a file that only the server reads."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core.secret import Secret
from .settings import ModelSettings

log = logging.getLogger("suyuan.llm")

_FIELDS = ("provider", "name", "base_url")


class ConnectedModels:
    """Models with their addresses and keys; in memory only where there is no file."""

    def __init__(self, file: Path | None, like: ModelSettings) -> None:
        self._file = file
        # Proxies and time limits are those of the configured model.
        self._like = replace(like, api_key=Secret(""), api_key_env="", temperature=None, max_tokens=None)
        self._models: dict[str, ModelSettings] = {}
        self._seen = -1.0
        self.reload()

    def reload(self) -> bool:
        """Read the file again if it has changed, as by another process; return whether it has."""
        try:
            changed = self._file.stat().st_mtime if self._file else 0.0
        except OSError:
            changed = 0.0
        if changed == self._seen:
            return False
        self._seen = changed
        self._models = {model.label: model for model in self._read()} if self._file else self._models
        return True

    def all(self) -> dict[str, ModelSettings]:
        """The models by their names for users."""
        return dict(self._models)

    def settings(self, base_url: str, name: str, api_key: str) -> ModelSettings:
        """The settings of a model on an OpenAI-compatible server."""
        return replace(self._like, provider="openai", name=name, base_url=base_url, api_key=Secret(api_key))

    def add(self, model: ModelSettings) -> None:
        """Keep a model; one of the same name is replaced."""
        self._models[model.label] = model
        self._write()

    def remove(self, name: str) -> None:
        """Forget a model and its key."""
        if self._models.pop(name, None):
            self._write()

    def _read(self) -> list[ModelSettings]:
        try:
            rows = json.loads(self._file.read_text("utf-8")) if self._file and self._file.exists() else []
            return [self._model(row) for row in rows]
        except (OSError, ValueError, KeyError, TypeError):
            log.warning("%s cannot be read: the models that were connected on the page are missing", self._file)
            return []

    def _model(self, row: Mapping[str, Any]) -> ModelSettings:
        return self.settings(str(row["base_url"]), str(row["name"]), str(row["api_key"]))

    def _write(self) -> None:
        if self._file is None:
            return
        rows = [
            {**{name: getattr(model, name) for name in _FIELDS}, "api_key": model.api_key.reveal()}
            for model in self._models.values()
        ]
        self._file.parent.mkdir(parents=True, exist_ok=True)
        part = self._file.with_suffix(".part")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
            json.dump(rows, out, ensure_ascii=False, indent=1)
        part.replace(self._file)
        self._seen = self._file.stat().st_mtime
