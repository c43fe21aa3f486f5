"""JSON by orjson, where much of it is sent."""

from __future__ import annotations

import json
from typing import Any

import orjson
from starlette.responses import JSONResponse


def to_json(value: Any) -> bytes:
    """``value`` as JSON in UTF-8."""
    try:
        return orjson.dumps(value)
    except TypeError:
        # Half of a surrogate pair may come out of a model or a page, and orjson refuses it.
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


class OrjsonResponse(JSONResponse):
    """A JSON response; FastAPI's own class for it is deprecated."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return to_json(content)
