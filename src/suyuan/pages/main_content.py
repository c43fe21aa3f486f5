"""Which blocks of a page are its main content."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean

from .block import Block, Box
from .features import features
from .forest import likelihood

# On pages that are easy to tell, a little more is asked than the expected F1 alone would ask: teasers and captions are what slips in.
_EASY = 0.8
_EXTRA = 0.08
_SURE = 0.65
_HOPELESS = 0.15


def main_blocks(blocks: list[Block], title: str, description: str = "") -> list[Block]:
    """The blocks that are most likely the main content, in the order of the page."""
    if not blocks:
        return []
    chances = [likelihood(row) for row in features(blocks, title, description)]
    bar = _bar([len(block.text) + 1 for block in blocks], chances)
    kept = [number for number, chance in enumerate(chances) if chance >= bar]
    return [blocks[number] for number in _bridged(blocks, chances, kept)]


def _bar(sizes: list[int], chances: list[float]) -> float:
    """The chance from which blocks are taken so that the expected F1 is highest: lower on pages that are hard to tell."""
    expected = sum(size * chance for size, chance in zip(sizes, chances, strict=True))
    best, bar, taken, right = 0.0, _SURE, 0.0, 0.0
    for chance, size in sorted(zip(chances, sizes, strict=True), reverse=True):
        taken += size
        right += size * chance
        if (score := 2 * right / (taken + expected)) > best:
            best, bar = score, chance
    return min(bar + (_EXTRA if best > _EASY else 0.0), _SURE)


def _bridged(blocks: list[Block], chances: list[float], kept: list[int]) -> list[int]:
    """``kept`` with the lists, tables, code and headings that stand between kept neighbours: an article is not read with holes."""
    whole: list[int] = kept[:1]
    for before, after in pairwise(kept):
        gap = range(before + 1, after)
        if gap and _near(blocks[before].box, blocks[after].box) and _structure(blocks[before + 1 : after]):
            whole.extend(gap if fmean(chances[before + 1 : after]) > _HOPELESS else ())
        whole.append(after)
    return whole


def _near(one: Box, other: Box) -> bool:
    """Whether the boxes meet within two steps of either."""
    return not _around(one).isdisjoint(_around(other))


def _around(box: Box) -> set[Box]:
    outer = box.parent or box
    return {box, outer, outer.parent or outer}


def _structure(gap: list[Block]) -> bool:
    if not all(block.kind != "p" or block.item is not None or block.box.tag in ("dt", "dd") for block in gap):
        return False
    return sum(block.link_size for block in gap) < sum(len(block.text) for block in gap) / 2
