"""Says which extra a missing package belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Turn ``No module named 'x'`` into an error that says what to install."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] == "suyuan":
            raise
        told = f"The package {missing.name} is not installed: pip install 'suyuan[{extra}]'"
        raise ModuleNotFoundError(told, name=missing.name) from None
