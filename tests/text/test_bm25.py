"""Ranking by BM25."""

from __future__ import annotations

from collections import Counter

from suyuan.text.bm25 import BM25


def texts(*given: str) -> list[Counter[str]]:
    return [Counter(text.split()) for text in given]


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    ranking = BM25({"tea": 1.0, "pot": 1.0}, texts("tea cup", "tea pot", "tea leaf"))
    first, second, third = ranking.scores()
    assert ranking.weights["pot"] > ranking.weights["tea"] and second > first == third > 0


def test_a_word_in_a_short_text_counts_more_and_its_repetition_less_and_less() -> None:
    short, long, twice = BM25({"tea": 1.0}, texts("tea a", "tea a b c d e f g", "tea tea")).scores()
    assert long < short < twice < 2 * short


def test_nothing_in_common_scores_nothing() -> None:
    assert BM25({"tea": 1.0}, texts("cup", "")).scores() == [0, 0]
    assert BM25({}, texts("cup")).scores() == [0] and BM25({"tea": 1.0}, []).scores() == []
