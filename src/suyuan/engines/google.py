"""Google: its result page, as a desktop, a phone or a client without JavaScript is given it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from urllib.parse import unquote, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..core.causes.engine import CAPTCHA, CONSENT, JAVASCRIPT_SHELL, UNREADABLE
from ..core.engine import Engine, Exchange
from ..core.freshness import Freshness
from ..core.query import SearchQuery
from ..core.result import EngineResults, SearchResult
from ..core.wire import Request, Response, with_params
from ..text.dates import read_date
from ._html import attribute, distinct, text_of, tree_of
from ._query import fitted, locale
from ._status import check_status

_LONGEST_QUERY = 2048
# Where Google's name of a language is not the usual one.
_LANGUAGES = {"he": "iw", "nb": "no", "nn": "no"}
_TRADITIONAL = ("Hant", "TW", "HK", "MO")

# A title stands inside its link: as h3 on a desktop and without JavaScript, as a heading by role on a phone.
# Until 2018 the link stood inside the h3, as those of sitelinks still do, so that is looked for last.
_TITLES = ("a h3", "a [role='heading']", ".g h3 a")
_FEATURE_IDS = frozenset({"tads", "tadsb", "bottomads", "tvcap", "atvcap", "rhs"})
_FEATURE_ROLES = frozenset({"complementary", "dialog", "listitem", "navigation"})
# Ads, questions of "people also ask", and facts of a knowledge panel or an AI overview.
_FEATURE_MARKS = frozenset({"data-text-ad", "data-q", "data-initq", "data-attrid"})
_FRAME_IDS = frozenset({"rso", "search", "ires", "res", "main", "center_col", "botstuff"})
_DEEPEST = 100

_SNIPPET = "[style*='line-clamp'], .VwiC3b, .aCOpRe, .st"
_SHORTEST_SNIPPET = 20
_LONGEST_DATE = 30
_DASHES = " —–-·"
# A film's length, which the picture beside the text shows, runs into its first word.
_DURATION = re.compile(r"^\d{1,2}(?::\d\d){1,2}(?=[^\W\d])")

_GOOGLE = re.compile(r"(?:www\.)?google\.(?:com|[a-z]{2}|com?\.[a-z]{2})")
_INTERNAL = frozenset({"/search", "/url", "/aclk", "/imgres", "/setprefs", "/sorry/index"})
_TARGET = re.compile(r"[?&](?:q|url)=(https?(?::|%3A)[^&#]*)", re.I)

_CAPTCHA = "#captcha-form, .g-recaptcha, iframe[src*='/recaptcha/'], img[src*='/sorry/image'], form[action*='/sorry/']"
_CONSENT = "form[action*='//consent.google.'], form[action*='//consent.youtube.']"
_SHELL = "meta[content*='/enablejs'], a[href*='/enablejs']"


class Google(Engine):
    """Asks ``/search`` through the browser, since without JavaScript Google shows no results any more."""

    name = "google"
    title = "Google"
    default_url = "https://www.google.com"
    supported_params = frozenset({"lang", "country", "freshness", "allowed_domains", "blocked_domains"})
    rate_per_minute = 10
    via_browser = True
    redirect_hosts = ("www.google.com",)

    def exchange(self, query: SearchQuery) -> Exchange:
        """Ask the result page once."""
        text, notes = fitted(query, _LONGEST_QUERY)
        params = {"q": text, **_places(query)}
        if query.freshness:
            params["tbs"] = _period(query.freshness)
        response = yield Request(with_params(f"{self.base_url}/search", params), via="browser")
        found = self.read(response, query)
        return EngineResults(found.results, notes + found.notes)

    def read(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Read a result page; CAPTCHA, consent and script pages are told by their structure, never by a word."""
        self._refuse_detour(response)
        if response.status not in (200, 202):
            # The CAPTCHA page comes with 429 or 503.
            if b"captcha-form" in response.body and tree_of(response, self.name).css_first(_CAPTCHA) is not None:
                raise CAPTCHA(engine=self.name)
            check_status(response, self.name)
        tree = tree_of(response, self.name)
        # The text of a node would hold the code within it.
        tree.strip_tags(["script", "style"])
        for selector in _TITLES:
            if results := distinct(_results(tree, selector, response)):
                return EngineResults(results)
        if tree.css_first(_CAPTCHA) is not None:
            raise CAPTCHA(engine=self.name)
        asked = tree.css_first("[name='q']")
        if asked is not None and _says_none(tree, attribute(asked, "value") or text_of(asked)):
            return EngineResults()
        # A page with a search box may show the consent form on top, and has the door for clients without scripts too.
        if asked is None and tree.css_first(_CONSENT) is not None:
            raise CONSENT(engine=self.name)
        if asked is None and tree.css_first(_SHELL) is not None:
            raise JAVASCRIPT_SHELL(engine=self.name)
        raise UNREADABLE(engine=self.name)

    def _refuse_detour(self, response: Response) -> None:
        for url in (response.url, response.headers.get("location", "")):
            try:
                parts = urlsplit(urljoin(response.url, url))
                host = parts.hostname or ""
            except ValueError:
                continue
            if parts.path.startswith("/sorry/"):
                raise CAPTCHA(engine=self.name)
            if host.startswith("consent.google."):
                raise CONSENT(engine=self.name)


def _results(tree: LexborHTMLParser, selector: str, response: Response) -> Iterator[SearchResult]:
    titles = list(_titles(tree, selector))
    # How many titles a node holds tells where one result ends and its neighbours begin.
    held = Counter(node.mem_id for _, _, path in titles for node in path)
    known: dict[int, bool] = {}
    for title, link, path in titles:
        url = unwrap(attribute(link, "data-amp-cur")) or unwrap(attribute(link, "href"))
        if not url or attribute(link, "role") == "button" or any(_is_feature(node, known) for node in path):
            continue
        if name := text_of(title):
            snippet, day = _dated(_snippet(link, path, held), response.at)
            yield SearchResult(name, url, snippet, "google", published_at=day)


def _titles(tree: LexborHTMLParser, selector: str) -> Iterator[tuple[LexborNode, LexborNode, list[LexborNode]]]:
    """Each title with its link and the nodes around that, from the inmost."""
    for title in tree.css(selector):
        link = _link_of(title)
        if link is not None:
            path = list(islice(_above(link), _DEEPEST))
            if title.tag != "a" or not _is_sitelink(path):
                yield title, link, path


def _link_of(title: LexborNode) -> LexborNode | None:
    return (
        title if title.tag == "a" else next((node for node in islice(_above(title), _DEEPEST) if node.tag == "a"), None)
    )


def _above(node: LexborNode) -> Iterator[LexborNode]:
    up = node.parent
    while up is not None and up.tag not in ("body", "html"):
        yield up
        up = up.parent


def _is_feature(node: LexborNode, known: dict[int, bool]) -> bool:
    """Whether ``node`` is a box of ads, videos, news, questions or facts; what it holds are no results of their own."""
    if (told := known.get(node.mem_id)) is None:
        marks = node.attributes
        told = known[node.mem_id] = (
            # Google's own elements (g-scrolling-carousel, g-inner-card, g-section-with-header) make such boxes.
            (node.tag or "").startswith(("g-", "video-"))
            or marks.get("id") in _FEATURE_IDS
            or marks.get("role") in _FEATURE_ROLES
            or not _FEATURE_MARKS.isdisjoint(marks)
            or "related-question" in (marks.get("class") or "")
        )
    return told


def _is_sitelink(path: list[LexborNode]) -> bool:
    """Whether a table stands between the link and the list of results: that of the links below a result."""
    for node in path:
        if node.attributes.get("id") in _FRAME_IDS:
            return False
        if node.tag == "table":
            return True
    return False


def _snippet(link: LexborNode, path: list[LexborNode], held: Counter[int]) -> LexborNode | None:
    """The text below a title: what is clamped to a few lines, or else the first part of some length."""
    parts = []
    for part in _parts(link, path, held):
        if (body := part.css_first(_SNIPPET)) is not None:
            return body
        # The line with the address holds a cite; it is shown a second time beside the link.
        if part.css_first("cite, [role='menu']") is None:
            parts.append(part)
    return next((part for part in parts if len(text_of(part)) >= _SHORTEST_SNIPPET), None)


def _dated(body: LexborNode | None, now: datetime | None) -> tuple[str, str | None]:
    """The words of a snippet, and the date that Google puts in front of them."""
    if body is None:
        return "", None
    text = _DURATION.sub("", text_of(body))
    last = body.last_child
    if last is not None and last.tag == "a":
        # "Read more" is no part of the text.
        text = text.removesuffix(text_of(last)).rstrip()
    for span in body.css("span")[:3]:
        shown = text_of(span).rstrip(_DASHES)
        if len(shown) <= _LONGEST_DATE and text.startswith(shown) and (day := read_date(shown, now)):
            return text.removeprefix(shown).lstrip(_DASHES), day
    return text, None


def _parts(link: LexborNode, path: list[LexborNode], held: Counter[int]) -> Iterator[LexborNode]:
    """What follows the link in its own result, from near to far."""
    node = link
    for up in path:
        if held[up.mem_id] > 1 or up.attributes.get("id") in _FRAME_IDS:
            return
        below = node.next
        while below is not None:
            if below.is_element_node:
                yield below
            below = below.next
        node = up


def unwrap(href: str) -> str:
    """The page behind a link: the target of Google's ``/url``, or the link; empty where it stays within the search or is an ad."""
    for _ in range(3):
        try:
            if href.startswith(("/url?", "//")):
                href = urljoin("https://www.google.com", href)
            parts = urlsplit(href)
            host = parts.hostname or ""
        except ValueError:
            return ""
        if parts.scheme not in ("http", "https") or not host or host.endswith("googleadservices.com"):
            return ""
        if not _GOOGLE.fullmatch(host) or parts.path not in _INTERNAL:
            return href.split("#:~:text=")[0]
        target = _TARGET.search(href) if parts.path == "/url" else None
        if target is None:
            return ""
        href = unquote(target[1])
    return ""


def _says_none(tree: LexborHTMLParser, asked: str) -> bool:
    """Whether the page says in any language that nothing was found: it repeats the query, and no link leads out."""
    for link in tree.css("#search a, #rso a, #main a[href^='/url']"):
        host = urlsplit(unwrap(attribute(link, "href"))).hostname
        if host and "google" not in host:
            return False
    if tree.css_first("#topstuff p[role='heading'], #botstuff p[role='heading'], p[role='heading'] em") is not None:
        return True
    return bool(asked) and any(text_of(node) == asked for node in tree.css("p em, p b, #main span"))


def _places(query: SearchQuery) -> dict[str, str]:
    lang, country = locale(query)
    params: dict[str, str] = {}
    if lang:
        name = _chinese(query.lang if "-" in query.lang else country) if lang == "zh" else _LANGUAGES.get(lang, lang)
        params["hl"] = name
        if query.lang:
            params["lr"] = f"lang_{name}"
    # A language alone says nothing about the place.
    if query.country or query.lang.endswith(f"-{country}"):
        params["gl"] = country.lower()
    return params


def _chinese(tag: str) -> str:
    return "zh-TW" if "Hans" not in tag and any(part in tag for part in _TRADITIONAL) else "zh-CN"


def _period(fresh: Freshness) -> str:
    if fresh.period:
        return f"qdr:{fresh.period[0]}"
    since, until = (f"{day.month}/{day.day}/{day.year}" if day else "" for day in (fresh.since, fresh.until))
    return f"cdr:1,cd_min:{since},cd_max:{until}"
