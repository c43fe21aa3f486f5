"""The texts of every language; each language is one JSON file in this folder, read when it is first needed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

DEFAULT = "en"
_FOLDER = Path(__file__).parent


class _Plurals(Formatter):
    """Formats texts in which ``{n:result|results}`` stands for the word that fits the number ``n``."""

    def format_field(self, value: Any, format_spec: str) -> str:
        singular, bar, plural = format_spec.partition("|")
        if not bar:
            return format(value, format_spec)
        return singular if value == 1 else plural


_PLURALS = _Plurals()


@dataclass(frozen=True, slots=True)
class Text:
    """A text of the catalogue with its parameters, in no language yet."""

    key: str
    params: Mapping[str, object] = field(default_factory=dict)

    def localized(self, lang: str) -> str:
        """Return the text in ``lang``."""
        return text(lang, self.key, **self.params)


class Texts:
    """The texts of one area (``cli``, ``page``) in one language."""

    def __init__(self, area: str, lang: str) -> None:
        self.area = area
        self.lang = language(lang)

    def __call__(self, key: str, /, **params: object) -> str:
        """Return the text ``key`` of this area."""
        return text(self.lang, f"{self.area}.{key}", **params)


@cache
def languages() -> tuple[str, ...]:
    """All languages that have a file, English first."""
    names = sorted(file.stem for file in _FOLDER.glob("*.json"))
    return (DEFAULT, *(name for name in names if name != DEFAULT))


def language(tag: str) -> str:
    """Return the language that serves ``tag`` (``zh`` for ``zh-CN``), English where there is none."""
    primary = tag.lower().replace("_", "-").partition("-")[0]
    return primary if primary in languages() else DEFAULT


def catalogue(lang: str) -> Mapping[str, str]:
    """All texts of ``lang`` with their placeholders, by dotted key."""
    return _read(language(lang))


def text(lang: str, key: str, /, **params: object) -> str:
    """Return the text ``key`` in ``lang`` with its placeholders filled in."""
    template = catalogue(lang)[key]
    values = {name: _localized(value, lang) for name, value in params.items()}
    if "|" in template:
        return _PLURALS.vformat(template, (), values)
    # This takes a tenth of the time.
    return template.format(**values)


def subtree(lang: str, area: str) -> dict[str, str]:
    """The texts below ``area`` with their placeholders, by the rest of their keys."""
    return {key.removeprefix(f"{area}."): value for key, value in catalogue(lang).items() if key.startswith(f"{area}.")}


def _localized(value: Any, lang: str) -> object:
    """A parameter as it is shown; a text within a text is rendered in the same language."""
    localized = getattr(value, "localized", None)
    return value if localized is None else localized(lang)


@cache
def _read(lang: str) -> dict[str, str]:
    flat: dict[str, str] = {}
    _flatten(json.loads((_FOLDER / f"{lang}.json").read_text(encoding="utf-8")), "", flat)
    return flat


def _flatten(tree: Mapping[str, object], prefix: str, flat: dict[str, str]) -> None:
    for name, value in tree.items():
        if isinstance(value, dict):
            _flatten(value, f"{prefix}{name}.", flat)
        else:
            flat[prefix + name] = str(value)
