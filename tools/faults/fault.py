"""One seeded fault."""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """One fault: what it breaks, where, and which tests must fail."""

    shown_by: str
    breaks: str
    file: str
    text: str
    replacement: str
