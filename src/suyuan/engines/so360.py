"""360 Search 360 搜索 (so.com): the result page."""

from __future__ import annotations

from selectolax.lexbor import LexborNode

from ..core.errors import WebParseError
from .cloaked_links import CloakedLinksEngine
from .kit import Exchange, Request, SearchQuery, attribute


class So360(CloakedLinksEngine):
    """Requests ``/s``; links are redirects (``/link?m=``), and the page names their targets beside them."""

    name = "so360"
    title = "360搜索"
    default_url = "https://www.so.com"
    aliases = ("360", "360search")
    supported_params = frozenset({"freshness", "allowed_domains", "blocked_domains", "page"})
    rate_per_minute = 15
    burst = 2
    redirect_hosts = ("www.so.com",)
    longest_query = 80
    periods = ("day", "week", "month", "year")
    titles = (".result h3", "h3")
    boxes = "#side, [id*='e_idea'], [class*='e_haosou'], [id*='m-spread'], [class*='spread'], aside"
    nothing = "[id*='no-result'], [class*='no-result'], ul.result:empty"
    own_paths = ("/s", "/zt")

    def exchange(self, query: SearchQuery) -> Exchange:
        """Request the result page, and once more with the cookie if it comes without results and with one."""
        text, notes = self.search_text(query)
        response = yield self.request(query, text)
        cookie = response.headers.get("set-cookie", "").partition(";")[0]
        try:
            # An answer to a program without cookies has none of the results.
            return self.resolved(self.parse(response, query), response).with_notes(*notes)
        except WebParseError:
            if not cookie:
                raise
        request = self.request(query, text)
        response = yield Request(request.url, headers={"Cookie": cookie})
        return self.resolved(self.parse(response, query), response).with_notes(*notes)

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request the result page."""
        params = {"q": text, "ie": "utf-8", "pn": str(query.page)}
        if period := self.period(query):
            params["adv_t"] = period[0]
        return Request.get(f"{self.base_url}/s", params)

    def target(self, link: LexborNode) -> str:
        """The link, unless it leads to a card of pictures, maps, videos or news, which are marked in another way."""
        return "" if attribute(link, "data-md") else super().target(link)
