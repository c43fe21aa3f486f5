"""Reads the metadata of a page: title, author, date, language, site and canonical address."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from ..text.dates import PartialDate, read_timestamp
from ..text.visible import visible_text
from .address import is_same_site

MAX_FIELD = 300
MAX_JSON = 300_000

_META_NAMES = ("property", "name", "itemprop", "http-equiv")
_AUTHOR_SELECTORS = (
    "[rel=author], [itemprop=author] [itemprop=name], [itemprop=author], .author-name, .byline-name, .author a"
)
_TITLES = ("og:title", "twitter:title", "title", "dc.title")
_AUTHORS = ("author", "article:author", "dc.creator", "parsely-author", "sailthru.author", "byl")
_DATE_NAMES = (
    "article:published_time datepublished date dc.date dc.date.issued pubdate publishdate publish_date publish-date "
    "parsely-pub-date sailthru.date weibo:article:create_at og:published_time article.published article_date_original "
    "release_date"
)
_DATES = tuple(_DATE_NAMES.split())
_DATE_SELECTORS = (
    "time[datetime], [itemprop=datePublished], .pubtime, #pubtime, .pub-time, .post-date, .entry-date, .publish-time, "
    ".article-time, .date"
)
_IN_URL = re.compile(r"/((?:19|20)\d\d)[-/]?(1[0-2]|0[1-9])[-/]?(3[01]|[12]\d|0[1-9])(?=\D)")
_LANG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,2}")
_SEPARATOR = re.compile(r"\s[|»·—–-]\s++|[_|｜]")
_BYLINE = re.compile(r"^\s*(?:by|author|作者|文)\s*[:：/]?\s+|^\s*(?:作者|记者)\s*[:：]\s*", re.I)


@dataclass(frozen=True, slots=True)
class PageMetadata:
    """The metadata of a page; empty where the page gives none."""

    title: str
    author: str
    published_at: str | None
    language: str
    site_name: str
    canonical_url: str
    description: str
    base: str
    is_product: bool
    """Whether the page says that it is about one product that is sold."""


def read_metadata(tree: LexborHTMLParser, url: str) -> PageMetadata:
    """Read the head of the page, its JSON-LD, and the elements that name author and date."""
    meta = _meta(tree)
    linked = _json_ld(tree)
    base = _join(url, _attribute(tree, "base[href]", "href")) or url
    site = meta.get("og:site_name") or meta.get("application-name") or _name(linked.get("publisher"))
    return PageMetadata(
        title=_title(tree, meta, linked, site),
        author=_author(tree, meta, linked),
        published_at=_published(tree, meta, linked, url),
        language=_declared_language(tree, meta),
        site_name=_clean(site),
        canonical_url=_canonical(tree, meta, base, url),
        description=_clean(meta.get("description") or meta.get("og:description") or ""),
        base=base,
        # Some put the name of their own vocabulary before it.
        is_product=meta.get("og:type", "").lower().rpartition(":")[2] == "product",
    )


def _meta(tree: LexborHTMLParser) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in tree.css("meta[content]")[:300]:
        attributes = node.attributes
        name = next((value.lower() for key in _META_NAMES if (value := attributes.get(key))), "")
        content = (attributes.get("content") or "").strip()
        if name and content:
            found.setdefault(name, content[:2000])
    return found


def _json_ld(tree: LexborHTMLParser) -> dict[str, Any]:
    """The first JSON-LD object that describes an article or page."""
    best: dict[str, Any] = {}
    for node in tree.css('script[type="application/ld+json"]')[:10]:
        try:
            value = json.loads(node.text()[:MAX_JSON])
        except (ValueError, RecursionError):
            continue
        for thing in _json_objects(value):
            if "datePublished" in thing or "author" in thing:
                return thing
            if "headline" in thing and not best:
                best = thing
    return best


def _json_objects(value: Any) -> Iterator[dict[str, Any]]:
    pending, budget = [value], 200
    while pending and budget:
        budget -= 1
        thing = pending.pop(0)
        if isinstance(thing, list):
            pending.extend(thing[:50])
        elif isinstance(thing, dict):
            yield thing
            pending.extend(thing[key] for key in ("@graph", "mainEntity", "mainEntityOfPage") if key in thing)


def _name(value: Any) -> str:
    """The name in a JSON-LD person, organisation, string, or list of them."""
    if isinstance(value, list):
        return ", ".join(dict.fromkeys(filter(None, map(_name, value[:5]))))
    if isinstance(value, dict):
        value = value.get("name")
    return value if isinstance(value, str) and not value.startswith("http") else ""


def _title(tree: LexborHTMLParser, meta: dict[str, str], linked: dict[str, Any], site: str) -> str:
    heading = _text(tree, "h1")
    given = _given_title(tree, meta, linked)
    if 3 < len(heading) <= len(given) and heading in given:
        return heading
    *others, last = (part.strip() for part in _SEPARATOR.split(given))
    if others and site and _is_name_of_site(last, site):
        return given[: given.rindex(last)].rstrip(" |»·—–-_｜")
    return given or heading


def _given_title(tree: LexborHTMLParser, meta: dict[str, str], linked: dict[str, Any]) -> str:
    """The title in the head of the page."""
    given = next((meta[name] for name in _TITLES if name in meta), "")
    if not given:
        given = _name(linked.get("headline"))
    return _clean(given) or _text(tree, "head title") or _text(tree, "title")


def _is_name_of_site(text: str, site: str) -> bool:
    name = site.lower()
    return text.lower() in (name, name.replace(" ", ""))


def _author(tree: LexborHTMLParser, meta: dict[str, str], linked: dict[str, Any]) -> str:
    given = _name(linked.get("author")) or next(
        (meta[name] for name in _AUTHORS if name in meta and not meta[name].startswith("http")), ""
    )
    shown = given or _text(tree, _AUTHOR_SELECTORS)
    shown = _BYLINE.sub("", _clean(shown))
    return shown if len(shown) <= 120 else ""


def _published(tree: LexborHTMLParser, meta: dict[str, str], linked: dict[str, Any], url: str) -> str | None:
    given = [_name(linked.get("datePublished")), *(meta.get(name, "") for name in _DATES)]
    for text in given:
        if text and (date := read_timestamp(text)):
            return date
    for node in tree.css(_DATE_SELECTORS)[:8]:
        attributes = node.attributes
        text = attributes.get("datetime") or attributes.get("content") or node.text()[:200]
        if text and (date := read_timestamp(text)):
            return date
    match = _IN_URL.search(urlsplit(url).path + "/") if _is_url(url) else None
    return PartialDate(int(match[1]), int(match[2]), int(match[3])).iso() if match else None


def _canonical(tree: LexborHTMLParser, meta: dict[str, str], base: str, url: str) -> str:
    """The address that the page gives as its own; a page can speak for its own site only."""
    claimed = _join(base, _attribute(tree, "link[rel=canonical]", "href") or meta.get("og:url", ""))
    return claimed if claimed and is_same_site(claimed, url) else ""


def _declared_language(tree: LexborHTMLParser, meta: dict[str, str]) -> str:
    given = _attribute(tree, "html", "lang") or _attribute(tree, "html", "xml:lang")
    given = given or meta.get("content-language") or meta.get("og:locale") or ""
    match = _LANG.fullmatch(given.split(",")[0].strip())
    return match[0].replace("_", "-") if match else ""


def _is_url(url: str) -> bool:
    try:
        urlsplit(url)
    except ValueError:
        return False
    return True


def _join(base: str, href: str) -> str:
    try:
        joined = urljoin(base, href.strip()) if href else ""
    except ValueError:
        return ""
    return joined if joined.startswith(("http://", "https://")) and len(joined) <= 2000 else ""


def _attribute(tree: LexborHTMLParser, selector: str, name: str) -> str:
    node = tree.css_first(selector)
    return ((node.attributes.get(name) or "") if node is not None else "").strip()


def _text(tree: LexborHTMLParser, selector: str) -> str:
    node = tree.css_first(selector)
    return _clean(node.text()) if node is not None else ""


def _clean(text: str) -> str:
    return visible_text(" ".join(text[:4000].split()))[:MAX_FIELD].strip()
