"""``in_turn``: the first of each group before the second of any, so that what is limited reaches all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import TypeVar

T = TypeVar("T")


def in_turn(groups: Iterable[Iterable[T]]) -> Iterator[T]:
    """Yield what is in ``groups``, one of each at a time."""
    for turn in zip_longest(*groups):
        yield from (each for each in turn if each is not None)
