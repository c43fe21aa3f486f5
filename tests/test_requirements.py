"""The requirements and the tests that show them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")


def tool() -> Any:
    """``tools/requirements.py``, which is a program and not part of a package."""
    spec = importlib.util.spec_from_file_location("requirements_tool", ROOT / "tools" / "requirements.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_requirement_is_shown_unless_the_document_says_otherwise() -> None:
    program = tool()
    wanted = program.documented(DOCUMENT)
    shown, unknown = program.marked(wanted)
    assert unknown == [] and len(wanted) > 100
    missing = set(wanted) - shown
    assert missing == {"T8.1"} and "T8.1 is not shown by a test yet" in DOCUMENT
