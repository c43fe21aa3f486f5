"""Wikipedia in any language, by the search API of MediaWiki."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from .json_kit import TAGS
from .kit import JsonEngine, Request, Response, SearchQuery, SearchResult, locale, plain_text, skipped

# The languages with the most articles; others are searched in English.
_NAMES = """
    af als an ar arz as ast az azb ba bar be bg bn br bs ca ce ceb ckb cs cv cy da de el en eo es et eu fa fi
    fo fr fy ga gl gu he hi hr hsb hu hy ia id io is it ja jv ka kk km kn ko ku ky la lb lt lv mg min mk ml
    mn mr ms my mzn ne new nl nn no oc pa pl pnb ps pt ro ru sa scn sco sd sh si simple sk sl so sq sr su sv
    sw ta te tg th tl tr tt uk ur uz vec vi vo war wuu xmf yi yo zh zu
"""
_LANGUAGES = frozenset(_NAMES.split())


class Wikipedia(JsonEngine):
    """Requests ``list=search`` of the Wikipedia in the language of the query."""

    name = "wikipedia"
    title = "Wikipedia"
    default_url = "https://en.wikipedia.org"
    redirect_hosts = tuple(f"{code}.wikipedia.org" for code in sorted(_LANGUAGES))
    supported_params = frozenset({"lang", "page"})
    rate_per_minute = 100
    burst = 10
    live_web = False
    longest_query = 300
    rows = "query.search"
    error_at = "error.info"

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request one page of results."""
        params = {"action": "query", "list": "search", "format": "json", "formatversion": "2", "srprop": "snippet"}
        params |= {"srsearch": text, "srlimit": str(query.count), "sroffset": str(skipped(query))}
        return Request.get(f"{self._site(query)}/w/api.php", params)

    def _site(self, query: SearchQuery) -> str:
        lang, _ = locale(query)
        return f"https://{lang}.wikipedia.org" if lang in _LANGUAGES and not self.settings.base_url else self.base_url

    def parse_row(self, row: dict[str, Any], response: Response) -> SearchResult:
        """An article, on the site that answered."""
        title = plain_text(row["title"])
        site = response.url.partition("/w/api.php")[0] or self.base_url
        url = f"{site}/wiki/{quote(title.replace(' ', '_'), safe='/:(),!*')}"
        return SearchResult(title, url, plain_text(row.get("snippet"), TAGS), self.name)
