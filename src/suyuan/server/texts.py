"""The texts of the page."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..messages.catalog import Texts, catalogue, subtree

_NAME = re.compile(r"[\w-]+")


class PageTexts(Texts):
    """The texts of the page in one language."""

    def __init__(self, lang: str) -> None:
        super().__init__("page", lang)

    def count(self, number: int) -> str:
        """How many results there are."""
        return self("count", n=number) if number else self("round.none")

    def outcome(self, code: str, detail_code: str) -> str:
        """What an engine did that gave no results, by the codes of its failure."""
        known = (name for name in (detail_code, code) if f"page.outcome.{name}" in catalogue(self.lang))
        return self(f"outcome.{next(known, 'other')}")

    def plan(self, plan: str, titles: Mapping[str, str]) -> str:
        """An engine, or a plan of several, with the titles of those that are known."""
        known = {**titles, "auto": self("engine.auto")}
        named = _NAME.sub(lambda found: known.get(found[0], found[0]), plan or "auto")
        return named.replace(",", ", ").replace("+", " + ")

    def script(self) -> dict[str, str]:
        """The texts that the script needs, with their placeholders."""
        return subtree(self.lang, "page.script")
