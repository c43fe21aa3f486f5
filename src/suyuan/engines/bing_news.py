"""Bing: news."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from .kit import Details, PageEngine, Request, Response, SearchQuery, SearchResult, attribute, read_date, text_of
from .page_kit import TitledLink
from .query_kit import bing_market

_INTERVALS = {"day": "7", "week": "8", "month": "9"}
_CARD = ".newsitem, .news-card"


class BingNews(PageEngine):
    """Requests ``/news/search``; a card has the title, the text, the source and the age of an article."""

    name = "bing_news"
    title = "Bing News"
    default_url = "https://www.bing.com"
    supported_params = frozenset({"lang", "country", "freshness", "allowed_domains", "blocked_domains", "page"})
    rate_per_minute = 20
    burst = 4
    redirect_hosts = ("www.bing.com", "cn.bing.com")
    periods = ("day", "week", "month")
    titles = ("a.title[href]", "[class*='news-card'] a[href]:has(h2), [class*='news-card'] h2")
    boxes = "aside, [class*='carousel' i]"
    captcha = "#b_captcha, .captcha, iframe[src*='challenge']"
    own_paths = ("/news", "/search", "/")

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of cards."""
        params = {"q": text, "form": "PTFTNR"}
        params |= bing_market(query)
        if period := self.period(query):
            params["qft"] = f'interval="{_INTERVALS[period]}"'
        if query.page > 1:
            params |= {"first": str(10 * (query.page - 1) + 1), "InfiniteScroll": "1"}
            return Request.get(f"{self.base_url}/news/infinitescrollajax", params)
        return Request.get(f"{self.base_url}/news/search", params)

    def results(self, tree: LexborHTMLParser, selector: str, response: Response) -> Iterator[SearchResult]:
        """The articles, with what their cards say about them."""
        cards: dict[str, LexborNode] = {}
        for card in tree.css(_CARD):
            cards |= dict.fromkeys((attribute(link, "href") for link in card.css("a[href]")), card)
        for result in super().results(tree, selector, response):
            if result.url in cards:
                yield _with_card(result, cards[result.url], response)
            else:
                yield result

    def target(self, link: LexborNode) -> str:
        """The address of an article, which may be a parameter of Bing's own."""
        href = attribute(link, "href")
        if "/news/apiclick.aspx" in href:
            return (parse_qs(urlsplit(href).query).get("url") or [""])[0]
        return super().target(link)

    def snippet(self, one: TitledLink, counts: Counter[int]) -> str:
        """The text of the card."""
        card = next((node for node in one.path if "news" in attribute(node, "class")), None)
        return text_of(card.css_first(".snippet")) if card is not None else super().snippet(one, counts)


def _with_card(result: SearchResult, card: LexborNode, response: Response) -> SearchResult:
    ages = [attribute(span, "aria-label") or text_of(span) for span in card.css(".source span")]
    day = next((day for age in ages if (day := read_date(age, response.at))), None)
    source = attribute(card, "data-author") or attribute(card.css_first("[data-author]"), "data-author")
    picture = card.css_first("img[src^='http'], img[data-src^='http']")
    image = attribute(picture, "src") or attribute(picture, "data-src")
    return replace(result, published_at=day, details=Details(venue=source, image=image))
