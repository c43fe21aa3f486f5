"""How texts, JSON and times are stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any


def plain(text: str) -> str:
    """``text`` as every database can store it: without NUL and half surrogate pairs."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def stored_json(value: Mapping[str, Any]) -> str:
    """``value`` as text; a NUL is an escape in it, which PostgreSQL would keep."""
    return plain(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def stamp(seconds: float) -> str:
    """A time, always of the same length, so that the order of the texts is the order of the times."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")
