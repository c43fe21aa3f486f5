"""Selects the blocks of a page that are its main content."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean

from .block import Block, Element
from .features import features
from .forest import content_probability

# On pages that are easy to classify the threshold is raised above the best expected F1, against teasers and captions.
_EASY = 0.8
_EXTRA = 0.08
_MAX_THRESHOLD = 0.65
_MIN_GAP = 0.15


def select_main_content(blocks: list[Block], title: str, description: str = "") -> list[Block]:
    """Return the blocks that are probably main content, in the order of the page."""
    if not blocks:
        return []
    probabilities = [content_probability(row) for row in features(blocks, title, description)]
    limit = threshold([len(block.text) + 1 for block in blocks], probabilities)
    kept = [i for i, probability in enumerate(probabilities) if probability >= limit]
    return [blocks[i] for i in _fill_gaps(blocks, probabilities, kept)]


def threshold(sizes: list[int], probabilities: list[float]) -> float:
    """The probability from which blocks are kept for the best expected F1; lower on pages that are hard to classify."""
    expected = sum(size * probability for size, probability in zip(sizes, probabilities, strict=True))
    best, limit, taken, right = 0.0, _MAX_THRESHOLD, 0.0, 0.0
    for probability, size in sorted(zip(probabilities, sizes, strict=True), reverse=True):
        taken += size
        right += size * probability
        if (score := 2 * right / (taken + expected)) > best:
            best, limit = score, probability
    return min(limit + (_EXTRA if best > _EASY else 0.0), _MAX_THRESHOLD)


def _fill_gaps(blocks: list[Block], probabilities: list[float], kept: list[int]) -> list[int]:
    """``kept`` with the lists, tables, code and headings between kept neighbours, which belong to the same article."""
    filled: list[int] = kept[:1]
    for before, after in pairwise(kept):
        gap = slice(before + 1, after)
        if (
            after > before + 1
            and _are_close(blocks[before].element, blocks[after].element)
            and _is_structure(blocks[gap])
            and fmean(probabilities[gap]) > _MIN_GAP
        ):
            filled.extend(range(before + 1, after))
        filled.append(after)
    return filled


def _are_close(one: Element, other: Element) -> bool:
    """Whether the elements have a common ancestor within two steps of both."""
    return not set(one.lineage(3)).isdisjoint(other.lineage(3))


def _is_structure(gap: list[Block]) -> bool:
    """Whether the blocks are list items, tables, code or headings, and not mostly links."""
    if any(block.kind == "p" and block.item is None and block.element.tag not in ("dt", "dd") for block in gap):
        return False
    return sum(block.link_size for block in gap) < sum(len(block.text) for block in gap) / 2
