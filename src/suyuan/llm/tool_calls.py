"""``CollectedCalls``: the tool calls of one step of a model, put together from the pieces in which they arrive."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.causes.chat import ANSWER_TOO_LONG

MAX_CALLS = 32
"""So many calls of one step are made; what follows works on each of them, and on each pair of them."""
MAX_ARGUMENTS = 200_000
"""So many characters the arguments of one step have together."""
_REPAIRED = 1_000
"""LangChain completes arguments that are no JSON by leaving out one character after the other, in the square of their
length: so many characters of a step it may try that with."""
_NO_JSON = "]"
"""In front of longer ones: with it they are no beginning of JSON, which is seen at once."""
CALLS_DROPPED = "suyuan_calls_dropped"
"""In the metadata of a message: the model wanted more calls than it has."""


class CollectedCalls:
    """Takes no longer for a piece when there are many; does not grow beyond the limits."""

    def __init__(self) -> None:
        self.too_many = False
        """Whether there were more calls than are kept."""
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._size = 0

    def add(self, piece: Mapping[str, Any]) -> None:
        """Add ``index``, ``id``, ``name`` and ``args``, as far as they are there; without index it is a whole call."""
        call = self._call(piece.get("index"))
        if call is None:
            self.too_many = True
            return
        arguments = piece.get("args") or ""
        self._size += len(arguments)
        if self._size > MAX_ARGUMENTS:
            raise ANSWER_TOO_LONG(limit=MAX_ARGUMENTS)
        call.id = call.id or piece.get("id")
        call.name = call.name or piece.get("name")
        if arguments:
            call.arguments.append(arguments)

    @property
    def whole(self) -> tuple[dict[str, Any], ...]:
        """The calls so far, in the form of their pieces."""
        left = _REPAIRED
        whole: list[dict[str, Any]] = []
        for call in self._calls:
            arguments = "".join(call.arguments)
            if not _is_json(arguments):
                left -= len(arguments)
                arguments = arguments if left >= 0 else _NO_JSON + arguments
            whole.append({"index": call.index, "id": call.id, "name": call.name, "args": arguments})
        return tuple(whole)

    def _call(self, index: Any) -> _Call | None:
        """The call with this index, which may be a new one; none where there are too many."""
        known = self._by_index.get(index) if isinstance(index, int) else None
        if known is not None or len(self._calls) >= MAX_CALLS:
            return known
        call = _Call(index)
        self._calls.append(call)
        if isinstance(index, int):
            self._by_index[index] = call
        return call


def as_written(arguments: str) -> str:
    """The arguments of a call as the model wrote them."""
    return arguments.removeprefix(_NO_JSON)


def _is_json(arguments: str) -> bool:
    try:
        json.loads(arguments, strict=False)
    except json.JSONDecodeError:
        return False
    except (ValueError, RecursionError):
        # LangChain does not try to complete these.
        return True
    return True


@dataclass(slots=True)
class _Call:
    index: Any
    id: str | None = None
    name: str | None = None
    arguments: list[str] = field(default_factory=list)
