"""Bodies that fit the routes of a server, made from its own description."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def bodies(described: Any) -> Iterator[tuple[str, str, Any]]:
    """Method, path and schema of every route that takes JSON, with a name in place of its parameters."""
    for path, ways in described["paths"].items():
        for method, way in ways.items():
            content = way.get("requestBody", {}).get("content", {})
            if "application/json" in content:
                plain = "/".join("x" if part.startswith("{") else part for part in path.split("/"))
                yield method.upper(), plain, content["application/json"]["schema"]


def resolved(described: Any, schema: Any) -> Any:
    """The schema itself, where another one is referred to."""
    if "$ref" in schema:
        return described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return resolved(described, schema["anyOf"][0]) if "anyOf" in schema else schema


def properties(described: Any, schema: Any) -> dict[str, Any]:
    """The fields of a body."""
    return dict(resolved(described, schema).get("properties", {})) if schema else {}


def kinds(part: Any) -> set[str]:
    """The types that a field can have; whole numbers are numbers too."""
    found = {str(part.get("type", "")), *(str(each.get("type", "")) for each in part.get("anyOf", ()))}
    return found | {"number"} if "integer" in found else found


def made(described: Any, schema: Any, name: str = "") -> Any:
    """A value that fits a schema: what it needs, and what would change something."""
    schema = resolved(described, schema)
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("type") == "object" and "properties" in schema:
        wanted = {*schema.get("required", ()), "title", "text", "plan"}
        return {name: made(described, part, name) for name, part in schema["properties"].items() if name in wanted}
    if schema.get("type") == "array":
        return [made(described, schema["items"], name)]
    text = "http://10.0.0.1/" if "url" in name else "user" if name == "role" else "mine now"
    known = {"integer": 1, "number": 1, "boolean": True, "object": {"role": "user", "content": "mine now"}}
    return known.get(schema.get("type", ""), text)
