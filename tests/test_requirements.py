"""The requirements and the tests that show them."""

from __future__ import annotations

from pathlib import Path

from requirements import documented, marked

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")


def test_every_requirement_is_shown() -> None:
    wanted = documented(DOCUMENT)
    shown, unknown = marked(wanted)
    assert unknown == [] and len(wanted) > 100
    assert set(wanted) - shown == set()
