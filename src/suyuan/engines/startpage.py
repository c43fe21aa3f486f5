"""Startpage: the result page, with the results of Google and Bing."""

from __future__ import annotations

from .kit import Exchange, PageEngine, Request, Response, SearchQuery, attribute, parse_html

# The names of languages in Startpage's form.
_LANGUAGES = {
    "en": "english", "de": "deutsch", "fr": "francais", "es": "espanol", "it": "italiano", "nl": "nederlands",
    "pt": "portugues", "pl": "polski", "ru": "russian", "ja": "nihongo", "zh": "jiantizhongwen", "ko": "hangul",
    "sv": "svenska", "da": "dansk", "fi": "suomi", "no": "norsk", "tr": "turkce",
}  # fmt: skip


class Startpage(PageEngine):
    """Requests the start page for the code of its form, and then ``/sp/search`` as the form does."""

    name = "startpage"
    title = "Startpage"
    default_url = "https://www.startpage.com"
    supported_params = frozenset({"lang", "freshness", "allowed_domains", "blocked_domains", "page"})
    rate_per_minute = 10
    burst = 2
    redirect_hosts = ("www.startpage.com",)
    periods = ("day", "week", "month", "year")
    titles = ("a h2", "a h3", "h2 a", "h3 a")
    boxes = "[id*='ads' i], [class*='advert' i], [data-testid*='ad-' i], aside"

    def exchange(self, query: SearchQuery) -> Exchange:
        """Request the form and then the result page: without the code a CAPTCHA comes."""
        text, notes = self.search_text(query)
        start = yield Request.get(f"{self.base_url}/")
        form = {"query": text, "cat": "web", "sc": self._code(start)}
        if name := _LANGUAGES.get(query.lang.partition("-")[0]):
            form |= {"language": name, "lui": name}
        if period := self.period(query):
            form["with_date"] = period[0]
        if query.page > 1:
            form |= {"page": str(query.page), "segment": "startpage.udog"}
        headers = {"Referer": f"{self.base_url}/"}
        response = yield Request.post_form(f"{self.base_url}/sp/search", form, headers)
        return self.parse(response, query).with_notes(*notes)

    def _code(self, start: Response) -> str:
        self.check(start)
        return attribute(parse_html(start, self.name).css_first("form input[name='sc']"), "value")
