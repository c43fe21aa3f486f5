"""Which pages print one text: reprints, copies under another address, and reports of one news agency."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.urls import domain_of, page_key
from ..text.shingles import is_reprint
from ..text.words import words

_AGENCIES = {
    "Reuters": r"\(Reuters\)|\bReuters reported|\bby Reuters\b|\bSource: ?Reuters|路透社",
    "AP": r"\(AP\)|\bAssociated Press\b|美联社",
    "AFP": r"\(AFP\)|\bAgence France-Presse\b|法新社",
    "Bloomberg": r"\(Bloomberg\)|\bBloomberg reported|彭博社",
    "Xinhua": r"\(Xinhua\)|新华社|新华网",
    "CNS": r"中新社|中国新闻网|中新网",
    "CCTV": r"央视新闻|央视网",
    "Kyodo": r"\(Kyodo\)|共同社",
    "TASS": r"\bTASS\b|塔斯社",
    "Yonhap": r"\(Yonhap\)|韩联社",
    "dpa": r"\(dpa\)|德新社",
}
_AGENCY = {name: re.compile(pattern) for name, pattern in _AGENCIES.items()}
_TAKEN_FROM = re.compile(
    r"(?:来源|转自|转载自|稿源|原载|Source|(?:Originally|First) published (?:on|at|in|by)|via)"
    r"\s{0,8}+(?:[:：]\s{0,8}+)?"
    r"(?P<name>[A-Z\u4e00-\u9fff][\w\u4e00-\u9fff .&-]{1,30})"
)
_LEAD = 600
"""The characters in which a report names its agency."""
_SHARED = 0.45
"""The share of words of two leads that are about one event."""


@dataclass(frozen=True, slots=True)
class PageText:
    """What is looked at of a page."""

    number: int
    url: str
    canonical_url: str
    title: str
    text: str
    published_at: str
    site: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Pages that print one text; the first of them is the primary source."""

    id: str
    sources: tuple[int, ...]
    reason: str = ""
    """Why they are one: ``reprint``, ``canonical`` or ``agency``; empty for a single page."""
    name: str = ""
    """The site of the primary source, or the agency."""


def find_origins(pages: Sequence[PageText]) -> list[Origin]:
    """The pages by origin, in the order of the first page of each."""
    parent = {page.number: page.number for page in pages}
    reasons: dict[int, str] = {}

    def root(number: int) -> int:
        while parent[number] != number:
            number = parent[number]
        return number

    for place, page in enumerate(pages):
        for other in pages[:place]:
            one, two = sorted((root(page.number), root(other.number)))
            if one != two and (reason := _same_origin(page, other)):
                parent[two] = one
                reasons[one] = reasons.get(one) or reasons.get(two) or reason
    groups: dict[int, list[PageText]] = {}
    for page in pages:
        groups.setdefault(root(page.number), []).append(page)
    return [
        _origin(f"o{place}", group, reasons.get(first, "")) for place, (first, group) in enumerate(groups.items(), 1)
    ]


def agency_of(text: str) -> str:
    """The agency that a report names as its source; empty for none."""
    lead, end = text[:_LEAD], text[-200:]
    return next((name for name, pattern in _AGENCY.items() if pattern.search(lead) or pattern.search(end)), "")


def _same_origin(one: PageText, other: PageText) -> str:
    if is_reprint(one.text, other.text):
        return "reprint"
    addresses = [{page_key(page.url), page_key(page.canonical_url or page.url)} for page in (one, other)]
    # A canonical link to a front page would join all pages of a site.
    if any(key.count("/") for key in addresses[0] & addresses[1]):
        return "canonical"
    agency = agency_of(one.text)
    if agency and agency == agency_of(other.text) and _same_event(one, other):
        return "agency"
    return ""


def _same_event(one: PageText, other: PageText) -> bool:
    ours, theirs = (set(words(f"{page.title} {page.text[:_LEAD]}")) for page in (one, other))
    return len(ours & theirs) >= _SHARED * min(len(ours), len(theirs))


def _origin(id: str, group: Sequence[PageText], reason: str) -> Origin:
    ordered = sorted(group, key=_copy_rank)
    name = (agency_of(ordered[0].text) if reason == "agency" else "") or ordered[0].site
    if len(group) == 1:
        reason = ""
    return Origin(id, tuple(page.number for page in ordered), reason, name)


def _copy_rank(page: PageText) -> tuple[bool, bool, str, int]:
    """Primary sources first: those that name no other source, then the oldest."""
    elsewhere = bool(page.canonical_url) and domain_of(page.canonical_url) != domain_of(page.url)
    taken = _TAKEN_FROM.search(page.text)
    says_so = taken is not None and taken["name"].strip() not in page.site
    return elsewhere, says_so, page.published_at or "9999", page.number
