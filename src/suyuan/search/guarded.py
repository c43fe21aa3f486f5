"""``guarded``: a fault in the rules around a search must not end it while an engine can answer."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

log = logging.getLogger("suyuan.search")


def guarded(what: str, work: Callable[[], T], otherwise: T) -> T:
    """Return the outcome of ``work``, or ``otherwise`` where it fails; the fault is in the log."""
    try:
        return work()
    except Exception:
        log.exception("%s failed inside", what)
        return otherwise
