"""``span``: a piece of work that traces show where somebody collects them; elsewhere it costs next to nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext

Value = str | int | float | bool
Start = Callable[[str, Mapping[str, Value]], AbstractContextManager[object]]
"""Begins a span with this name and these attributes; leaving it ends it."""

_NOTHING: AbstractContextManager[object] = nullcontext()
_start: Start | None = None


def span(name: str, **attributes: Value) -> AbstractContextManager[object]:
    """The span of what happens in a ``with`` block. Attributes never hold what people ask or read."""
    return _NOTHING if _start is None else _start(name, attributes)


def collect(start: Start | None) -> None:
    """Let ``start`` begin all spans of this process from now on; None for nobody."""
    global _start
    _start = start
