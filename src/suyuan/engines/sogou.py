"""Sogou 搜狗: the result page."""

from __future__ import annotations

from .cloaked_links import CloakedLinksEngine
from .kit import Request, SearchQuery


class Sogou(CloakedLinksEngine):
    """Requests ``/web``; links are redirects of Sogou (``/link?url=``)."""

    name = "sogou"
    title = "搜狗"
    default_url = "https://www.sogou.com"
    supported_params = frozenset({"freshness", "allowed_domains", "blocked_domains", "page"})
    rate_per_minute = 15
    burst = 2
    redirect_hosts = ("www.sogou.com",)
    longest_query = 80
    periods = ("day", "week", "month", "year")
    titles = (".results h3", "h3")
    boxes = ".sponsored, [class*='biz_'], [id*='promotion'], #right, aside"
    captcha = "#seccodeForm, #seccodeImage, form[name='authform']"
    nothing = "[id*='noresult'], [class*='noresult'], .results:empty"
    own_paths = ("/sogou", "/web", "/sie")

    def request(self, query: SearchQuery, text: str) -> Request:
        """Request the result page."""
        params = {"query": text, "ie": "utf8", "page": str(query.page)}
        if period := self.period(query):
            params |= {"s_from": f"inttime_{period}", "tsn": "1"}
        return Request.get(f"{self.base_url}/web", params)
