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
        seen = Counter(word for text in texts for word in query if word in text)
        self.weights = {
            word: weight * math.log(1 + (len(texts) - seen[word] + 0.5) / (seen[word] + 0.5))
            for word, weight in query.items()
        }
        """The words of the query; the fewer texts have a word, the more it weighs."""

    def scores(self) -> list[float]:
        """Return the score of each text, 0 where it has no word of the query."""
        lengths = [text.total() for text in self._texts]
        average = sum(lengths) / max(1, len(lengths)) or 1.0
        found = []
        for text, length in zip(self._texts, lengths, strict=True):
            norm = _K1 * (1 - _B + _B * length / average)
            found.append(
                sum(weight * text[word] * (_K1 + 1) / (text[word] + norm)
                    for word, weight in self.weights.items() if word in text)
            )  # fmt: skip
        return found
