"""The words of a Chinese text, each with its kind, and how frequent a word is.

The dictionary takes a moment to load: the library is imported where there is Chinese text.
"""

from __future__ import annotations


def tagged(text: str) -> list[tuple[str, str]]:
    """Return the words of ``text`` with their kinds, such as ``nr`` for a person's name."""
    import rjieba

    found: list[tuple[str, str]] = rjieba.tag(_whole(text))
    return found


def frequency(word: str) -> int:
    """Return how often a word stands in the texts from which the dictionary was made."""
    import rjieba

    return int(rjieba.suggest_freq(_whole(word)))


def _whole(text: str) -> str:
    # Half of a surrogate pair may come with a request, and the segmenter refuses it.
    return text.encode("utf-8", "replace").decode("utf-8")
