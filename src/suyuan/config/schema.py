"""The JSON Schemas of ``config.json`` and ``agents.json``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..core.setting import Setting, declarations
from ..engines.registry import BUILT_IN
from .engine_settings import ALIASES, engine_settings
from .focuses import FocusSettings
from .settings import Settings

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def config_schema(engines: Iterable[str] = BUILT_IN) -> dict[str, Any]:
    """The schema of ``config.json`` with the settings of ``engines``; the file may hold those of other programs too."""
    declared = _by_path(declarations(Settings))
    for name in engines:
        declared |= _by_path(engine_settings(name))
    declared |= {alias: declared[path] for alias, path in ALIASES.items()}
    schema = schema_of(declared)
    focus = {**schema_of(_by_path(declarations(FocusSettings))), "additionalProperties": False}
    web_search = schema["properties"]["tools"]["properties"]["webSearch"]
    web_search["properties"]["focus"] = {
        "description": "Kinds of sources, each with a name of your own.",
        "type": "object",
        "additionalProperties": focus,
    }
    return {"$schema": _DIALECT, "title": "suyuan config.json", **schema}


def _by_path(settings: Iterable[Setting]) -> dict[str, Setting]:
    return {setting.path: setting for setting in settings}


def schema_of(declared: Mapping[str, Setting]) -> dict[str, Any]:
    """The schema of an object with these settings, each at its path."""
    root: dict[str, Any] = {"type": "object", "properties": {}}
    for path, setting in declared.items():
        node = root
        *folders, leaf = path.split(".")
        for folder in folders:
            node = node["properties"].setdefault(
                folder, {"type": "object", "additionalProperties": False, "properties": {}}
            )
        node["properties"][leaf] = _value_schema(setting)
    return root


def agents_schema() -> dict[str, Any]:
    """The schema of ``agents.json``."""
    search = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "enabled": {
                "type": "boolean",
                "default": False,
                "description": "Whether the agent has the web_search tool.",
            },
            "provider": {
                "type": "string",
                "description": "Engine or plan for this agent; otherwise the default of config.json.",
            },
        },
    }
    agent = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "webSearch": search}}
    agents = {"type": "array", "items": agent}
    return {"$schema": _DIALECT, "title": "suyuan agents.json", "type": "object", "properties": {"agents": agents}}


def _value_schema(setting: Setting) -> dict[str, Any]:
    description = setting.description
    if setting.env:
        description += f" Variable: {setting.env}."
    schema = {**setting.kind.schema, "description": description}
    default = setting.default
    if default not in (None, "", ()) and not setting.secret:
        schema["default"] = list(default) if isinstance(default, tuple) else default
    return schema
