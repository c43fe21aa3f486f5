"""Which sources are about a question: their order, and how much of its words they have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

from ..text.bm25 import BM25
from ..text.keywords import content_stems, weight_in
from ..text.words import stems
from .evidence import Evidence


def coverage(question: str, texts: Iterable[str]) -> float:
    """Return the share of the question's content words that occur in ``texts``."""
    asked = content_stems(question)
    if not asked:
        return 1.0
    present = set(chain.from_iterable(map(stems, texts)))
    return weight_in(asked, present) / sum(asked.values())


def rank_sources(question: str, evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return ``evidence`` with what fits the question best first, by title and text; equal ones stay in order."""
    texts = [Counter(stems(f"{source.title} {source.title} {source.text}")) for source in evidence]
    scores = BM25(content_stems(question), texts).scores()
    return [source for _, source in sorted(zip(scores, evidence, strict=True), key=lambda pair: -pair[0])]
