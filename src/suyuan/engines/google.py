"""Google: the result page as sent to a desktop, a phone or a client without JavaScript."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from urllib.parse import unquote, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..core.causes.engine import CAPTCHA, CONSENT, GOOGLE_CAPTCHA, JAVASCRIPT_SHELL, UNREADABLE
from ..core.errors import SuyuanError
from ..core.wire import with_params
from .html_kit import attribute, distinct, parse_html, text_of
from .kit import Engine, EngineResults, Exchange, Request, Response, SearchQuery, SearchResult, check_status, read_date
from .page_kit import FRAME_IDS, TitledLink, check_redirect, following_parts, title_counts, titled_links
from .query_kit import google_locale, google_period, query_text

_MAX_QUERY = 2048

# A title is inside its link: an h3 on a desktop and without JavaScript, a heading by role on a phone.
# Until 2018 the link was inside the h3, as those of sitelinks still are, so this comes last.
_TITLES = ("a h3", "a [role='heading']", ".g h3 a")
_FEATURE_IDS = frozenset({"tads", "tadsb", "bottomads", "tvcap", "atvcap", "rhs"})
_FEATURE_ROLES = frozenset({"complementary", "dialog", "listitem", "navigation"})
# Ads, questions of "people also ask", and facts of a knowledge panel or an AI overview.
_FEATURE_ATTRIBUTES = frozenset({"data-text-ad", "data-q", "data-initq", "data-attrid"})

_SNIPPET = "[style*='line-clamp'], .VwiC3b, .aCOpRe, .st"
_SHORTEST_SNIPPET = 20
_MAX_DATE = 30
_DASHES = " —–-·"
# The length of a video, shown on the picture beside the text, runs into the first word.
_DURATION = re.compile(r"^\d{1,2}(?::\d\d){1,2}(?=[^\W\d])")

_GOOGLE = re.compile(r"(?:www\.)?google\.(?:com|[a-z]{2}|com?\.[a-z]{2})")
_INTERNAL = frozenset({"/search", "/url", "/aclk", "/imgres", "/setprefs", "/sorry/index"})
_TARGET = re.compile(r"[?&](?:q|url)=(https?(?::|%3A)[^&#]*)", re.I)

_CAPTCHA = "#captcha-form, .g-recaptcha, iframe[src*='/recaptcha/'], img[src*='/sorry/image'], form[action*='/sorry/']"
_CONSENT = "form[action*='//consent.google.'], form[action*='//consent.youtube.']"
_SHELL = "meta[content*='/enablejs'], a[href*='/enablejs']"


class Google(Engine):
    """Requests ``/search`` with the browser, since Google no longer shows results without JavaScript."""

    name = "google"
    title = "Google"
    default_url = "https://www.google.com"
    supported_params = frozenset({"lang", "country", "freshness", "allowed_domains", "blocked_domains"})
    rate_per_minute = 20
    # A session searches several times in a row.
    burst = 10
    needs_browser = True
    redirect_hosts = ("www.google.com",)

    def exchange(self, query: SearchQuery) -> Exchange:
        """Request the result page."""
        text, notes = query_text(query, _MAX_QUERY)
        params = {"q": text, **google_locale(query)}
        if query.lang:
            params["lr"] = f"lang_{params['hl']}"
        if query.freshness:
            params["tbs"] = google_period(query.freshness)
        response = yield Request(with_params(f"{self.base_url}/search", params), via="browser")
        return self.parse(response, query).with_notes(*notes)

    def parse(self, response: Response, query: SearchQuery | None = None) -> EngineResults:
        """Parse a result page; CAPTCHA, consent and script pages are recognised by their structure, never by a word."""
        check_redirect(response, self.name)
        if response.status not in (200, 202):
            # The CAPTCHA page comes with 429 or 503.
            if b"captcha-form" in response.body and parse_html(response, self.name).css_first(_CAPTCHA) is not None:
                raise CAPTCHA(engine=self.name)
            check_status(response, self.name)
        tree = parse_html(response, self.name)
        # The text of a node would contain their code.
        tree.strip_tags(["script", "style"])
        for selector in _TITLES:
            results = distinct(_results(tree, selector, response))
            if results:
                return EngineResults(results)
        return self._without_results(tree)

    def _without_results(self, tree: LexborHTMLParser) -> EngineResults:
        """What a page without results means: that there are none, or a refusal, which is raised."""
        if tree.css_first(_CAPTCHA) is not None:
            raise CAPTCHA(engine=self.name)
        search_box = tree.css_first("[name='q']")
        if search_box is not None:
            if _says_none(tree, attribute(search_box, "value") or text_of(search_box)):
                return EngineResults()
            # Such a page may also contain the consent form and the link for clients without JavaScript.
            raise UNREADABLE(engine=self.name)
        if tree.css_first(_CONSENT) is not None:
            raise CONSENT(engine=self.name)
        if tree.css_first(_SHELL) is not None:
            raise JAVASCRIPT_SHELL(engine=self.name)
        raise UNREADABLE(engine=self.name)

    def explain(self, error: SuyuanError) -> SuyuanError:
        """Say how a person can solve the CAPTCHA, since the browser is the user's own."""
        if error.detail_code != CAPTCHA.detail_code:
            return error
        return GOOGLE_CAPTCHA(engine=self.name, retry_after=error.retry_after)


def _results(tree: LexborHTMLParser, selector: str, response: Response) -> Iterator[SearchResult]:
    titles = [title for title in titled_links(tree, selector) if title.title.tag != "a" or not _is_sitelink(title.path)]
    counts = title_counts(titles)
    features: dict[int, bool] = {}
    for title in titles:
        url = unwrap(attribute(title.link, "data-amp-cur")) or unwrap(attribute(title.link, "href"))
        if not url or attribute(title.link, "role") == "button":
            continue
        if any(_is_feature(node, features) for node in title.path):
            continue
        if name := text_of(title.title):
            snippet, day = _dated(_snippet(title, counts), response.at)
            yield SearchResult(name, url, snippet, "google", published_at=day)


def _is_feature(node: LexborNode, cache: dict[int, bool]) -> bool:
    """Whether ``node`` is a box of ads, videos, news, questions or facts, whose links are not results."""
    known = cache.get(node.mem_id)
    if known is None:
        known = cache[node.mem_id] = _has_marks_of_feature(node)
    return known


def _has_marks_of_feature(node: LexborNode) -> bool:
    attributes = node.attributes
    # Google's own elements such as g-scrolling-carousel, g-inner-card and g-section-with-header.
    if (node.tag or "").startswith(("g-", "video-")):
        return True
    if attributes.get("id") in _FEATURE_IDS or attributes.get("role") in _FEATURE_ROLES:
        return True
    if "related-question" in (attributes.get("class") or ""):
        return True
    return not _FEATURE_ATTRIBUTES.isdisjoint(attributes)


def _is_sitelink(path: list[LexborNode]) -> bool:
    """Whether a table is between the link and the list of results: that of the links below a result."""
    for node in path:
        if node.attributes.get("id") in FRAME_IDS:
            return False
        if node.tag == "table":
            return True
    return False


def _snippet(one: TitledLink, counts: Counter[int]) -> LexborNode | None:
    """The text below a title: the part clamped to a few lines, or else the first part of some length."""
    parts = []
    for part in following_parts(one, counts):
        if (body := part.css_first(_SNIPPET)) is not None:
            return body
        # The line with the URL contains a cite.
        if part.css_first("cite, [role='menu']") is None:
            parts.append(part)
    return next((part for part in parts if len(text_of(part)) >= _SHORTEST_SNIPPET), None)


def _dated(body: LexborNode | None, now: datetime | None) -> tuple[str, str | None]:
    """The text of a snippet, and the date in front of it."""
    if body is None:
        return "", None
    text = _DURATION.sub("", text_of(body))
    last = body.last_child
    if last is not None and last.tag == "a":
        # "Read more" is not part of the text.
        text = text.removesuffix(text_of(last)).rstrip()
    for span in body.css("span")[:3]:
        shown = text_of(span).rstrip(_DASHES)
        if len(shown) <= _MAX_DATE and text.startswith(shown) and (day := read_date(shown, now)):
            return text.removeprefix(shown).lstrip(_DASHES), day
    return text, None


def unwrap(href: str) -> str:
    """The target of a link: that of Google's ``/url``, or the link; empty for an ad or a link within the search."""
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


def _says_none(tree: LexborHTMLParser, query: str) -> bool:
    """Whether the page says in any language that nothing was found: it repeats the query, and has no outside link."""
    for link in tree.css("#search a, #rso a, #main a[href^='/url']"):
        host = urlsplit(unwrap(attribute(link, "href"))).hostname
        if host and "google" not in host:
            return False
    if tree.css_first("#topstuff p[role='heading'], #botstuff p[role='heading'], p[role='heading'] em") is not None:
        return True
    return bool(query) and any(text_of(node) == query for node in tree.css("p em, p b, #main span"))
