"""Result pages whose links are redirects of the engine, with the targets named beside them."""

from __future__ import annotations

from dataclasses import replace

from .kit import EngineResults, PageEngine, Response, attribute, parse_html
from .page_kit import ancestors

_TARGETS = ("data-mdurl", "data-url")


class CloakedLinksEngine(PageEngine):
    """An engine whose pages hide the addresses of results in redirects, and may name them in attributes."""

    def resolved(self, found: EngineResults, response: Response) -> EngineResults:
        """The results with the addresses that the page names for their links."""
        targets = self._targets(response)
        results = [replace(result, url=targets.get(result.url, result.url)) for result in found.results]
        return replace(found, results=tuple(results))

    def _targets(self, response: Response) -> dict[str, str]:
        targets: dict[str, str] = {}
        for node in parse_html(response, self.name).css(", ".join(f"[{name}^='http']" for name in _TARGETS)):
            shown = next(attribute(node, name) for name in _TARGETS if attribute(node, name))
            # Beside the link itself, or on an element of the same result.
            link = node if node.tag == "a" else None
            for place in () if link else ancestors(node):
                if (link := place.css_first("h3 a")) is not None:
                    break
            if link is not None and (url := self.target(link)):
                targets.setdefault(url, shown)
        return targets
