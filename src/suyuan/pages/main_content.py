"""Selects the blocks of a page that are its main content."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from itertools import groupby, pairwise
from math import exp

from .block import Block, Element
from .features import features
from .forest import content_score
from .metadata import PageMetadata

# On pages that are easy to classify the threshold is raised above the best expected F1, against teasers and captions.
_EASY = 0.8
_EXTRA = 0.08
_MAX_THRESHOLD = 0.55
_MIN_GAP = 0.15
_EVENNESS = 0.6
"""How far blocks that look alike share their score."""
_IN_FOOTER = 4.0
"""For the footer of the whole page: notes and terms there are written like the main content."""
_TO_OTHERS = 2.0
"""For links on the page of a product: they are other products, as those of a list are on a page of another kind."""
# The forest may misjudge a whole page in one direction: what each shift of all its scores weighs.
_SHIFTS = ((0.0, 2 / 3), (-2.0, 1 / 6), (2.0, 1 / 6))
_LEAST_COPY = 60
"""So many characters in a row are no accident."""
_DIGITS = re.compile(r"\d+")


def select_main_content(blocks: list[Block], page: PageMetadata) -> list[Block]:
    """Return the blocks that are probably main content, in the order of the page."""
    rows = features(blocks, page.title, page.description) if blocks else []
    return [blocks[i] for i in chosen(blocks, [content_score(row) for row in rows], is_product=page.is_product)]


def chosen(blocks: list[Block], scores: list[float], *, is_product: bool = False) -> list[int]:
    """The places of the blocks to keep, by the score of each: the logarithm of its odds of being main content."""
    if not blocks:
        return []
    even = _evened(blocks, [s - _excess(block, is_product) for block, s in zip(blocks, scores, strict=True)])
    limit = threshold([len(block.text) + 1 for block in blocks], even)
    probabilities = [_probability(score) for score in even]
    kept = [i for i, probability in enumerate(probabilities) if probability >= limit]
    return _without_copies(blocks, _fill_gaps(blocks, probabilities, kept))


def _excess(block: Block, is_product: bool) -> float:
    """By how much the forest scores a block too high, for what it cannot see."""
    links = _TO_OTHERS if is_product and block.link_size > len(block.text) / 2 else 0.0
    return links + (_IN_FOOTER if block.element.region == "footer" else 0.0)


def _evened(blocks: list[Block], scores: list[float]) -> list[float]:
    """The scores, with those of blocks that look alike closer together: items of a list are kept or dropped as one."""
    looks = [_look(block) for block in blocks]
    sums: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for block, look, score in zip(blocks, looks, scores, strict=True):
        weight = len(block.text) ** 0.5
        known = sums[look]
        known[0] += weight * score
        known[1] += weight
    means = {look: total / weight for look, (total, weight) in sums.items()}
    return [score + _EVENNESS * (means[look] - score) for look, score in zip(looks, scores, strict=True)]


def _look(block: Block) -> tuple[str, ...]:
    element = block.element
    outer = element.parent or element
    return block.kind, element.tag, _stem(element.names), outer.tag, _stem(outer.names)


@lru_cache(maxsize=4096)
def _stem(names: str) -> str:
    """Class and id without the numbers that tell one item from the next."""
    return _DIGITS.sub("", names)


def threshold(sizes: list[int], scores: list[float]) -> float:
    """The probability from which blocks are kept for the best expected F1; lower on pages that are hard to classify."""
    ranked = sorted(zip(scores, sizes, strict=True), reverse=True)
    taken, so_far = [], 0
    for _, size in ranked:
        so_far += size
        taken.append(so_far)
    expected = [0.0] * len(ranked)
    for shift, weight in _SHIFTS:
        right, total = [], 0.0
        for score, size in ranked:
            total += size * _probability(score + shift)
            right.append(total)
        doubled = weight * 2
        for place, (found, size) in enumerate(zip(right, taken, strict=True)):
            expected[place] += doubled * found / (size + total)
    best = max(expected)
    limit = _probability(ranked[expected.index(best)][0])
    if best > _EASY:
        limit += _EXTRA
    return min(limit, _MAX_THRESHOLD)


def _probability(score: float) -> float:
    return 1 / (1 + exp(-score))


def _fill_gaps(blocks: list[Block], probabilities: list[float], kept: list[int]) -> list[int]:
    """``kept`` with the lists, tables, code and headings between kept neighbours, which belong to the same article."""
    filled: list[int] = kept[:1]
    for before, after in pairwise(kept):
        gap = range(before + 1, after)
        if gap and _are_close(blocks[before].element, blocks[after].element):
            in_gap = slice(before + 1, after)
            is_likely = sum(probabilities[in_gap]) > _MIN_GAP * len(gap)
            if is_likely and _is_structure(blocks[in_gap]):
                filled.extend(gap)
        filled.append(after)
    return filled


def _without_copies(blocks: list[Block], kept: list[int]) -> list[int]:
    """``kept`` without parts that the page has twice, in different places: for phones and for wide screens."""
    homes: dict[tuple[str, int], Element | None] = {}
    unique: list[int] = []
    for is_copy, group in groupby(kept, lambda i: _is_elsewhere(blocks[i], homes)):
        places = list(group)
        if not is_copy or sum(len(blocks[i].text) for i in places) < _LEAST_COPY:
            unique += places
    return unique


def _is_elsewhere(block: Block, homes: dict[tuple[str, int], Element | None]) -> bool:
    """Whether the same text stands in another element; to quote it is not to repeat it."""
    home = block.element.parent
    return homes.setdefault((block.text, block.quotes), home) is not home


def _are_close(one: Element, other: Element) -> bool:
    """Whether the elements have a common ancestor within two steps of both."""
    return not set(one.lineage(3)).isdisjoint(other.lineage(3))


def _is_paragraph(block: Block) -> bool:
    is_in_list = block.item is not None or block.element.tag in ("dt", "dd")
    return block.kind == "p" and not is_in_list


def _is_structure(gap: list[Block]) -> bool:
    """Whether the blocks are list items, tables, code or headings, and not mostly links."""
    if any(_is_paragraph(block) for block in gap):
        return False
    return sum(block.link_size for block in gap) < sum(len(block.text) for block in gap) / 2
