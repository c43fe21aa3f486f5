"""Ledgers of pages that a test writes."""

from __future__ import annotations

from suyuan.research.ledger import Ledger, build_ledger
from suyuan.research.plan import ResearchPlan, SubQuestion


def ledger(question: str, *pages: tuple[str, str]) -> Ledger:
    """The ledger of pages with these titles and texts."""
    rows = [
        {
            "url": f"https://s{number}.example/page",
            "title": title,
            "text": text,
            "sub_questions": [0],
            "fetched_at": "2026-01-01T00:00:00+00:00",
            "sha256": "0" * 64,
        }
        for number, (title, text) in enumerate(pages, 1)
    ]
    return build_ledger(rows, ResearchPlan((SubQuestion(question, (question,)),)), 5)
