"""The lock under which model libraries are imported."""

from __future__ import annotations

from threading import RLock

IMPORTING = RLock()
"""Held by who imports them: two threads that import packages with circles at the same time can find them half made."""
