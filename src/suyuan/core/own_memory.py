"""Keeping a server's memory and environment from other processes of the same user, such as its own children."""

from __future__ import annotations

import contextlib
import ctypes
import sys

_SET_DUMPABLE = 4


def close_own_memory() -> None:
    """From now on only root may look into this process (Linux): a child that was taken over finds no keys in it.

    Programs that this one starts are as open as ever.
    """
    if sys.platform == "linux":
        # Where the system does not allow it, everything works as before.
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)
