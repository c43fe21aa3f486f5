"""``Focus``: what kind of source is wanted, as engines, domains, language and age of a search that names none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from ..core.causes.asked import UNKNOWN_FOCUS
from ..core.causes.engine import NO_FOCUS_ENGINE
from ..core.freshness import Freshness
from ..core.query import SearchQuery
from .plan import AUTO, names_in


@dataclass(frozen=True, slots=True)
class Focus:
    """A named kind of source. What a query itself asks for is stronger."""

    engines: str = ""
    """A plan; its engines that are not configured here are left out. Empty for the default plan."""
    domains: tuple[str, ...] = ()
    lang: str = ""
    freshness: Freshness | None = None

    def applied(self, query: SearchQuery) -> SearchQuery:
        """The query with what it leaves open."""
        return replace(
            query,
            lang=query.lang or self.lang,
            freshness=query.freshness or self.freshness,
            allowed_domains=query.allowed_domains or self.domains,
        )

    def plan(self, known: Collection[str], ready: Callable[[str], bool]) -> str:
        """The plan with the engines that can be asked here."""
        if not self.engines or self.engines == AUTO:
            return self.engines
        mark = "+" if "+" in self.engines else ","
        names = names_in(self.engines)
        usable = {name for name in names if name in known and ready(name)} | {AUTO}
        engines = [name for name in names if name in usable]
        if not engines:
            raise NO_FOCUS_ENGINE(engines=self.engines)
        return mark.join(engines)


FOCUSES: Mapping[str, Focus] = {
    "web": Focus(),
    "news": Focus("ddg_news+bing_news+gdelt", freshness=Freshness.parse("month")),
    "academic": Focus("openalex+semantic_scholar+arxiv+crossref"),
    "code": Focus("github+stackexchange"),
    "discussions": Focus("hackernews+stackexchange"),
    "encyclopedia": Focus("wikipedia+wikidata"),
    "images": Focus("ddg_images,bing_images"),
    "mine": Focus("library"),
    "china": Focus("bocha,baidu_html,so360,sogou,bing_html", lang="zh"),
}
"""The kinds of sources that are known without configuration."""


def focus_of(name: str, focuses: Mapping[str, Focus]) -> Focus:
    """The focus ``name``; raises ``InvalidInput`` with the known ones."""
    focus = focuses.get(name.strip().lower())
    if focus is None:
        raise UNKNOWN_FOCUS(name=name, known=", ".join(focuses))
    return focus
