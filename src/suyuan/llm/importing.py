"""Importing model libraries: by one thread at a time, since two can find packages with circles half made."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from threading import RLock

IMPORTING = RLock()
"""Held by who imports them."""
OPENAI = "suyuan.llm.openai_compatible"


def load(name: str) -> None:
    """Import a module, which may take seconds; one that cannot be imported is reported when it is needed."""
    with IMPORTING, suppress(ImportError):
        import_module(name)
