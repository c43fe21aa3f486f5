"""The texts of the page."""

from __future__ import annotations

from ..messages.catalog import Texts, catalogue, subtree


class PageTexts(Texts):
    """The texts of the page in one language."""

    def __init__(self, lang: str) -> None:
        super().__init__("page", lang)

    def count(self, number: int) -> str:
        """How many results there are."""
        return self(f"count.{number}") if number < 2 else self("count.n", n=number)

    def outcome(self, code: str, detail_code: str) -> str:
        """What an engine did that gave no results, by the codes of its failure."""
        known = (name for name in (detail_code, code) if f"page.outcome.{name}" in catalogue(self.lang))
        return self(f"outcome.{next(known, 'other')}")

    def script(self) -> dict[str, str]:
        """The texts that the script needs, with their placeholders."""
        return subtree(self.lang, "page.script")
