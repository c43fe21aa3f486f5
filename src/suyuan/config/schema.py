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
    declared = {one.path: one for one in declarations(Settings)}
    declared |= {one.path: one for name in engines for one in engine_settings(name)}
    declared |= {path: declared[same] for path, same in ALIASES.items()}
    schema = schema_of(declared)
    focus = {"description": "Kinds of sources, each with a name of your own.", "type": "object"}
    own = {**schema_of({one.path: one for one in declarations(FocusSettings)}), "additionalProperties": False}
    schema["properties"]["tools"]["properties"]["webSearch"]["properties"]["focus"] = {
        **focus,
        "additionalProperties": own,
    }
    return {"$schema": _DIALECT, "title": "suyuan config.json", **schema}


def schema_of(declared: Mapping[str, Setting]) -> dict[str, Any]:
    """The schema of an object with these settings, each at its path."""
    root: dict[str, Any] = {"type": "object", "properties": {}}
    for path, one in declared.items():
        node = root
        *folders, leaf = path.split(".")
        for folder in folders:
            node = node["properties"].setdefault(
                folder, {"type": "object", "additionalProperties": False, "properties": {}}
            )
        node["properties"][leaf] = _value_schema(one)
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


def _value_schema(one: Setting) -> dict[str, Any]:
    description = one.description + (f" Variable: {one.env}." if one.env else "")
    schema = {**one.kind.schema, "description": description}
    if one.default not in (None, "", ()) and not one.secret:
        schema["default"] = list(one.default) if isinstance(one.default, tuple) else one.default
    return schema
