"""A finished job as a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..core.causes.research import BAD_RESEARCH
from .forms import FORMS


async def export(result: Mapping[str, Any], form: str) -> bytes:
    """The report in the format ``form``."""
    if form not in FORMS:
        raise BAD_RESEARCH(name="form", value=form)
    text = str(result["report"]) if form == "md" else json.dumps(result, ensure_ascii=False, indent=2) + "\n"
    # Half of a character pair could not be written to a file.
    return text.encode("utf-8", "replace")
