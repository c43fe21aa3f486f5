"""The requirements and the tests that show them."""

from __future__ import annotations

from pathlib import Path

from requirements import documented, marked

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8")


def test_every_requirement_is_shown_unless_the_document_says_otherwise() -> None:
    wanted = documented(DOCUMENT)
    shown, unknown = marked(wanted)
    assert unknown == [] and len(wanted) > 100
    missing = set(wanted) - shown
    assert missing == {"T8.1"} and "T8.1 is not shown by a test yet" in DOCUMENT
