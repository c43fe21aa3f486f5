"""The JSON Schemas of ``config.json`` and ``agents.json``, made from the list of settings."""

from __future__ import annotations

from typing import Any

from ..engines.registry import BUILT_IN
from .keys import KEYS, SAME, Setting, engine_keys

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def config_schema() -> dict[str, Any]:
    """The schema of ``config.json``. Settings of other programs may stand beside ours."""
    root: dict[str, Any] = {"$schema": _DIALECT, "title": "suyuan config.json", "type": "object", "properties": {}}
    every = {key.path: key for key in (*KEYS, *(key for name in BUILT_IN for key in engine_keys(name)))}
    for path, key in every.items():
        _put(root, path, key)
    for path, same in SAME.items():
        _put(root, path, every[same])
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


def _put(root: dict[str, Any], path: str, key: Setting) -> None:
    node = root
    *folders, leaf = path.split(".")
    for folder in folders:
        node = node["properties"].setdefault(
            folder, {"type": "object", "additionalProperties": False, "properties": {}}
        )
    description = key.about + (f" Variable: {key.variable}." if key.variable else "")
    node["properties"][leaf] = {**key.schema, "description": description}
    if key.default not in (None, ""):
        node["properties"][leaf]["default"] = key.default
