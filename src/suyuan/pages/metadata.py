"""Reads the metadata of a page: title, author, date, language, site and canonical address."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser

from .visibility import visible_text

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
_DATE = re.compile(
    r"((?:19|20)\d\d)\s?(?:[-/.年])\s?(1[0-2]|0?[1-9])\s?(?:[-/.月])\s?(3[01]|[12]\d|0?[1-9])(?!\d)日?"
    r"(?:[T\s]{0,3}([01]?\d|2[0-3])[:：时]([0-5]\d)(?::([0-5]\d))?(?:\.\d+)?\s?(Z|[+-]\d\d:?\d\d)?)?"
)
_MONTHS = {
    name: number
    for number, name in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}
_ENGLISH = re.compile(
    r"\b(?:([A-Z][a-z]{2})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?,? ((?:19|20)\d\d)|"
    r"(\d{1,2}) ([A-Z][a-z]{2})[a-z]*\.?,? ((?:19|20)\d\d))\b"
)
_IN_URL = re.compile(r"/((?:19|20)\d\d)[-/]?(1[0-2]|0[1-9])[-/]?(3[01]|[12]\d|0[1-9])(?=\D)")
_LANG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,2}")
_SEPARATOR = re.compile(r"\s+[|»·—–-]\s+|[_|｜]")
_BYLINE = re.compile(r"^\s*(?:by|author|作者|文)\s*[:：/]?\s+|^\s*(?:作者|记者)\s*[:：]\s*", re.I)
_TRADITIONAL = re.compile("[們個這來時國學會說對後開關電網臺灣與為發經過還沒樣]")
_SIMPLIFIED = re.compile("[们个这来时国学会说对后开关电网台湾与为发经过还没样]")
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("hi", re.compile("[\u0900-\u097f]")),
)
_FUNCTION_WORDS = {
    "en": "the of and to in is that for it with as was on are this be by",
    "de": "der die und das ist nicht von mit den für auf ein eine dem zu sich",
    "fr": "le la les des et est que dans une pour qui sur pas au avec",
    "es": "el la los las que de y en un una por con para es del",
    "pt": "o os que de e em um uma para com não do da no na",
    "it": "il lo gli che di e un una per con non della del sono",
    "nl": "de het een van en is dat op te in niet met voor zijn",
    "pl": "i w na z że się do nie to jest jak po za od",
}
_WORDS = {language: frozenset(words.split()) for language, words in _FUNCTION_WORDS.items()}


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
        canonical_url=_join(base, _attribute(tree, "link[rel=canonical]", "href") or meta.get("og:url", "")),
        description=_clean(meta.get("description") or meta.get("og:description") or ""),
        base=base,
    )


def language_of(text: str) -> str:
    """The language of ``text`` by its script and, for Latin letters, its function words; empty if it is uncertain."""
    sample = text[:4000]
    letters = sum(map(str.isalpha, sample))
    if letters < 20:
        return ""
    for tag, script in _SCRIPTS:
        if len(script.findall(sample)) > letters * (0.1 if tag == "ja" else 0.4):
            return tag
    if len(re.findall("[\u3400-\u9fff]", sample)) > letters * 0.3:
        return "zh-TW" if len(_TRADITIONAL.findall(sample)) > len(_SIMPLIFIED.findall(sample)) else "zh-CN"
    words = sample.lower().split()
    counts = {tag: sum(word in small for word in words) for tag, small in _WORDS.items()}
    best = max(counts, key=lambda tag: counts[tag])
    return best if counts[best] > len(words) * 0.08 else ""


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
    whole = _text(tree, "head title") or _text(tree, "title")
    given = next((meta[name] for name in _TITLES if name in meta), "") or _name(linked.get("headline"))
    given = _clean(given) or whole
    if heading and 3 < len(heading) <= len(given) and heading in given:
        return heading
    parts = [part.strip() for part in _SEPARATOR.split(given)]
    if len(parts) > 1 and site and parts[-1].lower() in (site.lower(), site.lower().replace(" ", "")):
        return given[: given.rindex(parts[-1])].rstrip(" |»·—–-_｜")
    return given or heading


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
        if text and (date := iso_date(text)):
            return date
    for node in tree.css(_DATE_SELECTORS)[:8]:
        attributes = node.attributes
        text = attributes.get("datetime") or attributes.get("content") or node.text()[:200]
        if text and (date := iso_date(text)):
            return date
    match = _IN_URL.search(urlsplit(url).path + "/") if _is_url(url) else None
    return _iso(match.groups()) if match else None


def iso_date(text: str) -> str | None:
    """The first date in ``text`` in ISO form, with its time and zone where they are given."""
    if match := _DATE.search(text[:200]):
        return _iso(match.groups())
    if match := _ENGLISH.search(text[:200]):
        month, day, year = (match[1], match[2], match[3]) if match[1] else (match[5], match[4], match[6])
        if number := _MONTHS.get(month.lower()):
            return _iso((year, str(number), day))
    return None


def _iso(parts: tuple[str | None, ...]) -> str | None:
    year, month, day, hour, minute, second, zone = [*parts, None, None, None, None][:7]
    try:
        moment = datetime(
            int(year or 0), int(month or 0), int(day or 0), int(hour or 0), int(minute or 0), int(second or 0)
        )
    except ValueError:
        return None
    if hour is None:
        return moment.date().isoformat()
    offset = "" if zone is None else "+00:00" if zone == "Z" else zone[:3] + ":" + zone[-2:]
    return moment.isoformat() + offset


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
