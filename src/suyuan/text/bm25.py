"""BM25: how well each of several texts fits the words of a query."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

# Chosen by public questions in English and Chinese, for texts from one sentence to one page.
_K1, _B = 1.0, 0.4


class BM25:
    """Texts, as counted words, that are compared with a query: its words and how much each of them matters."""

    def __init__(self, query: Mapping[str, float], texts: Sequence[Counter[str]]) -> None:
        self._texts = texts
        self.weights: dict[str, float] = {}
        """The words of the query; the fewer texts have a word, the more it weighs."""
        for word, weight in query.items():
            having = sum(word in text for text in texts)
            missing = len(texts) - having
            odds = (missing + 0.5) / (having + 0.5)
            self.weights[word] = weight * math.log(1 + odds)

    def scores(self) -> list[float]:
        """Return the score of each text, 0 where it has no word of the query."""
        lengths = [text.total() for text in self._texts]
        average = sum(lengths) / max(1, len(lengths)) or 1.0
        scores = []
        for text, length in zip(self._texts, lengths, strict=True):
            relative = _B * length / average
            norm = _K1 * (1 - _B + relative)
            shared = [(weight * (_K1 + 1), text[word]) for word, weight in self.weights.items() if word in text]
            scores.append(sum(weight * count / (count + norm) for weight, count in shared))
        return scores
