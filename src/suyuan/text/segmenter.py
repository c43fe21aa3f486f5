"""``tagged``: the words of a Chinese text, each with its kind."""

from __future__ import annotations


def tagged(text: str) -> list[tuple[str, str]]:
    """Return the words of ``text`` with their kinds, such as ``nr`` for a person's name."""
    import rjieba  # Its dictionary takes a moment: only where there is Chinese text.

    # Half of a surrogate pair may come with a request, and the segmenter refuses it.
    found: list[tuple[str, str]] = rjieba.tag(text.encode("utf-8", "replace").decode("utf-8"))
    return found
